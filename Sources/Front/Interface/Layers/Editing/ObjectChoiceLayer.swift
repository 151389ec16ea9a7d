import ManagedModel
import ManagedStore
import Terminal

/// The choice of an object that a relationship is to reference: a line of words, and the objects that have them.
struct ObjectChoiceLayer: WaitingLayer, ChoosingLayer {
  /// Objects that are listed; more words find the others.
  private static let most = 200
  /// Values of an object that are shown beside the one that labels it.
  private static let mostShown = 3

  private enum Line: Sendable, Equatable {
    /// No object.
    case none
    case object(ObjectID, label: String, about: String)

    var id: ObjectID? { if case .object(let id, _, _) = self { id } else { nil } }
  }

  let owner: ObjectID
  let column: RowColumn
  private let destination: String
  /// Whether it comes to those of a to-many.
  private let isAdding: Bool
  private let properties: [String]
  private var prompt = Prompt()
  private var check = FilterCheck.empty
  private var rows: [Line] = []
  var list = List()
  var task: TaskID?
  private var error: CoreDataError?
  /// What the to-one references, and what it referenced when it was read.
  private var current: ObjectID?
  private var old: PropertyValue?
  private(set) var isDone = false

  /// - Parameter labels: what labels objects.
  init(
    _ owner: ObjectID, _ column: RowColumn, to destination: String, adding isAdding: Bool,
    labels: ObjectLabels, _ context: Context
  ) {
    (self.owner, self.column, self.destination) = (owner, column, destination)
    self.isAdding = isAdding
    guard let store = context.store, let table = store.layout.table(of: destination) else {
      properties = []
      return
    }
    let label = labels.attribute(of: table, in: store.model)
    let others = table.attributes.filter {
      $0.attribute.name != label && $0.attribute.type != .binary
        && $0.attribute.type != .transformable
    }.prefix(Self.mostShown)
    properties = (label.map { [$0] } ?? []) + others.map(\.attribute.name)
    hasLabel = label != nil
  }

  private var hasLabel = false

  /// Reads what is referenced now, then objects to choose from.
  mutating func begin(in context: inout Context) -> [Effect] {
    guard !isAdding else { return search(in: &context) }
    let (owner, name) = (owner, column.name)
    return context.ask(&task) { .ask($0, .value(owner, property: name)) }
  }

  private mutating func search(in context: inout Context) -> [Effect] {
    guard let store = context.store else { return [] }
    let text = prompt.text.trimmed
    error = nil
    if let id = named(text, store.layout) {
      rows = []
      return context.ask(&task) { .ask($0, .object(id)) }
    }
    check = FilterCheck(text, entity: destination, store: store)
    if case .wrong(let wrong) = check {
      error = wrong
      return task.stop() ?? []
    }
    var filter: RowFilter?
    if let predicate = check.text, !predicate.isEmpty {
      filter = try? RowFilter(predicate, entity: destination, layout: store.layout)
    }
    let query = RowQuery(
      entity: destination, limit: Self.most, properties: properties, filter: filter)
    return context.ask(&task) { .ask($0, .rows(query)) }
  }

  /// An object by its name or its key: `Person/p3`, `p3`.
  private func named(_ text: String, _ layout: StoreLayout) -> ObjectID? {
    var text = text
    if text.first == "p", Int64(text.dropFirst()) != nil { text = "\(destination)/\(text)" }
    guard text.contains("/"), let id = try? layout.objectID(text),
      layout.model.isKind(id.entity, of: destination)
    else { return nil }
    return id
  }

  // MARK: Keys

  private var lines: [Line] { (isAdding || !prompt.text.isEmpty ? [] : [.none]) + rows }

  func bindings(_ context: Context) -> [Binding] {
    let line = lines.element(list.selected)
    let isGoing = line?.id.map { context.prepared.fates[$0] != nil } == true
    return [
      Binding(
        [.enter], isAdding ? "add" : "prepare", chooses,
        unless: line == nil
          ? (task == nil ? "no \(destination) was found" : "the objects are being read")
          : !isAdding && old == nil
            ? "the relationship is being read" : isGoing ? "it is marked for deletion" : nil),
      moving([.up, .down, .pageUp, .pageDown, .control("n"), .control("p")], label: "↑↓") {
        $0.list.handle($1, count: $0.lines.count, height: $0.room($2))
        return []
      },
      closing([.escape], "cancel"),
    ]
  }

  func room(_ context: Context) -> Int? { max(1, context.body.height - 6) }

  mutating func type(_ key: Key, in context: inout Context) -> [Effect] {
    let text = prompt.text
    prompt.handle(key)
    return prompt.text == text ? [] : search(in: &context)
  }

  mutating func choose(in context: inout Context) -> LayerOutcome {
    guard let line = lines.element(list.selected) else { return .stay() }
    if isAdding {
      guard case .object(let id, let label, _) = line else { return .stay() }
      context.tell(LinksLayer.self) { $0.add(id, label) }
      return .close()
    }
    guard let old else { return .stay() }
    let value = PreparedEdits.Value(
      object: owner, column: column, old: old, change: .toOne(line.id))
    context.prepare {
      if case .object(let id, let label, _) = line, !label.isEmpty { $0.name([id: label]) }
      $0.set(value)
    }
    return .close()
  }

  // MARK: Answers

  mutating func take(_ answer: Answer, in context: inout Context) -> [Effect] {
    switch answer {
    case .value(let value):
      guard let value else {
        context.notice = Notice("\(owner) is not in the store any more", .warning)
        isDone = true
        return []
      }
      old = value
      if case .toOne(let id) = value { current = id }
      if case .toOne(let id)? = context.prepared.value(of: owner, column.name)?.change {
        current = id
      }
      return search(in: &context)
    case .object(let object):
      guard let id = context.store.flatMap({ named(prompt.text.trimmed, $0.layout) }) else {
        return []
      }
      rows = object == nil ? [] : [.object(id, label: "", about: "found by its key")]
      if object == nil {
        error = CoreDataError(.usage, "there is no \(id); words find an object by its values")
      }
      list = List(count: rows.count)
    case .rows(let page):
      rows = page.rows.map { row in
        let texts = zip(page.columns, row.values).map { ValueText($0.1, of: $0.0).text }
        let label = hasLabel ? texts.first ?? "" : ""
        return .object(
          row.id, label: label, about: texts.dropFirst(hasLabel ? 1 : 0).joined(separator: "  "))
      }
      let all = lines
      let place = all.firstIndex { $0.id == current }
      list = List(
        count: all.count, selected: prompt.text.isEmpty && !isAdding ? place ?? 0 : 0,
        height: room(context) ?? 1)
    default: break
    }
    return []
  }

  mutating func fail(_ error: CoreDataError, in context: inout Context) -> [Effect] {
    self.error = error
    return []
  }

  // MARK: Drawing

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ body: Rect) {
    let title = "\(owner) \(column.name): \(isAdding ? "add a" : "→") \(destination)"
    let inside = Popup(title, size: body.size).draw(in: &grid, body, theme: theme)
    guard inside.height > 3 else { return }
    prompt.draw(in: &grid, inside.row(0), label: [Span("find › ", theme[.footerKey])], theme: theme)
    let note: Span
    if let error {
      note = Span("… \(error.told)", theme[.dim])
    } else if prompt.text.isEmpty {
      note = Span("words, a predicate, or a key such as p3", theme[.dim])
    } else if task != nil {
      note = Span("…", theme[.dim])
    } else {
      let more = rows.count == Self.most ? "the first " : ""
      note = Span(more + NumberText.counted(rows.count, "object"), theme[.dim])
    }
    grid.write([note], at: inside.row(1).origin, within: inside.width)
    let lines = lines
    let names = lines.reduce(6) { max($0, TextWidth.of($1.id.map { "\($0)" } ?? "", upTo: 24)) }
    let (current, fates) = (current, context.prepared.fates)
    list.draw(lines, in: &grid, inside.droppingRows(2), theme: theme) { line, isSelected in
      guard case .object(let id, let label, let about) = line else {
        return [Span("∅ no object"), theme.span(isSelected, current == nil ? "  now" : "", .dim)]
      }
      return [
        theme.span(isSelected, "\(id)".fitted(to: names) + "  ", .dim),
        theme.span(isSelected, fates[id].map { $0.words + "  " } ?? "", .warning),
        Span(Sanitize.text(label, limit: 60) + "  "),
        theme.span(
          isSelected, (id == current && !isAdding ? "now  " : "") + about, .dim),
      ]
    }
  }
}
