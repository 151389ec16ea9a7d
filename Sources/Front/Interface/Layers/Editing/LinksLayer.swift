import ManagedModel
import ManagedStore
import Terminal

/// The objects of a to-many relationship: some are taken out, others come in.
struct LinksLayer: WaitingLayer {
  let owner: ObjectID
  let column: RowColumn
  private let destination: String
  private let labels: ObjectLabels
  /// What the relationship holds in the store; `nil` before it is read.
  private var old: PropertyValue?
  private var objects: [ObjectID] = []
  private var added: [ObjectID] = []
  private var removed: Set<ObjectID> = []
  private var names: [ObjectID: String] = [:]
  private var list = List()
  var task: TaskID?
  private(set) var isDone = false

  init(
    _ owner: ObjectID, _ column: RowColumn, to destination: String, labels: ObjectLabels
  ) {
    (self.owner, self.column, self.destination) = (owner, column, destination)
    self.labels = labels
  }

  /// Reads which objects there are.
  mutating func begin(in context: inout Context) -> [Effect] {
    let (owner, name) = (owner, column.name)
    return context.ask(&task) { .ask($0, .value(owner, property: name)) }
  }

  private var all: [ObjectID] { objects + added }

  /// An object comes in, or stays after all.
  mutating func add(_ id: ObjectID, _ label: String) {
    names[id] = label
    if objects.contains(id) {
      removed.remove(id)
    } else if !added.contains(id) {
      added.append(id)
    }
    list = List(
      count: all.count, selected: all.firstIndex(of: id) ?? 0, height: max(1, list.height))
  }

  // MARK: Keys

  func bindings(_ context: Context) -> [Binding] {
    let reading = old == nil ? "they are being read" : nil
    let selected = all.element(list.selected)
    let isGoing = selected.map(removed.contains) == true
    return [
      Binding(
        [.enter], "prepare", does("confirm") { $0.confirm(in: &$1) }, unless: reading),
      Binding(
        ["a", "+"], label: "a", "add…",
        asks("addObject") { $0.choose(in: &$1) }, unless: reading),
      Binding(
        ["x", "-", .delete], label: "x", isGoing ? "keep it" : "take it out",
        changes("removeObject") { $0.turn() },
        unless: reading ?? (selected == nil ? "there is no object" : nil)),
      scrolling { $0.list.handle($1, count: $0.all.count, height: $0.room($2)) },
      closing([.escape, "q"], "cancel"),
    ]
  }

  private func room(_ context: Context) -> Int { max(1, context.body.height - 5) }

  private mutating func turn() {
    guard let id = all.element(list.selected) else { return }
    if let index = added.firstIndex(of: id) {
      added.remove(at: index)
      list.setCount(all.count)
    } else if removed.remove(id) == nil {
      removed.insert(id)
    }
  }

  private func choose(in context: inout Context) -> [Effect] {
    context.show(
      ObjectChoiceLayer(owner, column, to: destination, adding: true, labels: labels, context)
    ) { $0.begin(in: &$1) }
  }

  private mutating func confirm(in context: inout Context) -> LayerOutcome {
    guard let old else { return .stay() }
    let value = PreparedEdits.Value(
      object: owner, column: column, old: old,
      change: .toMany(added: added, removed: objects.filter(removed.contains)))
    let names = names
    context.prepare {
      $0.name(names)
      $0.set(value)
    }
    return .close()
  }

  // MARK: Answers

  mutating func take(_ answer: Answer, in context: inout Context) -> [Effect] {
    switch answer {
    case .value(.toMany(let many)?):
      guard many.count <= StoreRequest.mostRelated else {
        context.notice = Notice(
          "\(NumberText.grouped(many.count)) objects are too many for a list: strata edit changes them",
          .warning)
        isDone = true
        return []
      }
      (old, objects) = (.toMany(many), many.first)
      if case .toMany(let added, let removed)? =
        context.prepared.value(of: owner, column.name)?.change
      {
        // Another program may have saved some of it since.
        let there = Set(objects)
        self.added = added.filter { !there.contains($0) }
        self.removed = there.intersection(removed)
      }
      list = List(count: all.count, height: room(context))
      let request = LabelRequest(objects: all, labels: labels)
      return all.isEmpty ? [] : context.ask(&task) { .names($0, request) }
    case .value:
      context.notice = Notice("\(owner) is not in the store any more", .warning)
      isDone = true
    case .names(let found): names.merge(found.names) { $1 }
    default: break
    }
    return []
  }

  mutating func fail(_ error: CoreDataError, in context: inout Context) -> [Effect] {
    // Keys are there all the same.
    guard old == nil else { return [] }
    context.show(MessageLayer(error))
    isDone = true
    return []
  }

  // MARK: Drawing

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ body: Rect) {
    let title = "\(owner) \(column.name): ⇉ \(destination)"
    let inside = Popup(title, size: body.size).draw(in: &grid, body, theme: theme)
    guard inside.height > 2 else { return }
    let words = [
      NumberText.counted(objects.count, "object"), added.isEmpty ? "" : "+\(added.count)",
      removed.isEmpty ? "" : "−\(removed.count)",
    ].filter { !$0.isEmpty }
    grid.write(
      old == nil ? "…" : words.joined(separator: "  "), at: inside.row(0).origin,
      style: theme[.dim], within: inside.width)
    let (added, removed, names) = (Set(added), removed, names)
    list.draw(all, in: &grid, inside.droppingRows(1), theme: theme) { id, isSelected in
      let (sign, role): (String, Theme.Role) =
        added.contains(id) ? ("+", .added) : removed.contains(id) ? ("−", .removed) : (" ", .dim)
      return [
        theme.span(isSelected, sign + " ", role), theme.span(isSelected, "\(id)  ", .dim),
        Span(Sanitize.text(names[id] ?? "", limit: 80)),
      ]
    }
  }
}
