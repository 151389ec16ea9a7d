import ManagedModel
import ManagedStore
import Terminal

/// The elements of a composite attribute of an object, each of which is changed as a value of its own.
struct ElementsLayer: WaitingLayer, ChoosingLayer {
  let object: ObjectID
  private let path: [String]
  private let elements: [RowColumn]
  private let label: String
  private let isOptional: Bool
  /// What the elements hold in the store, in their order; `nil` before it is read.
  private var values: [PropertyValue]?
  var list: List
  var task: TaskID?
  private(set) var isDone = false

  /// - Parameters:
  ///   - path: the name of the composite attribute, behind the names of those that it is in.
  ///   - label: how the object is called.
  init(
    _ object: ObjectID, _ path: [String], _ elements: [RowColumn], label: String,
    _ context: Context
  ) {
    (self.object, self.path, self.elements, self.label) = (object, path, elements, label)
    isOptional =
      context.store?.layout.model.attribute(at: path.joined(separator: "."), of: object.entity)?
      .isOptional == true
    list = List(count: elements.count, height: elements.count)
  }

  /// Reads what the elements hold.
  mutating func begin(in context: inout Context) -> [Effect] {
    let (object, names) = (object, elements.map(\.name))
    return context.ask(&task) { .ask($0, .values(object, properties: names)) }
  }

  // MARK: Keys

  func bindings(_ context: Context) -> [Binding] {
    [
      Binding([.enter], "change", chooses),
      Binding(
        ["x", .delete], label: "x", "no value", does("clear") { $0.clear(in: &$1) },
        unless: values == nil
          ? "the values are being read" : isOptional ? nil : "the attribute is mandatory"),
      movement,
      closing([.escape, "q"], "done"),
    ]
  }

  func room(_ context: Context) -> Int? { max(1, context.body.height - 6) }

  mutating func choose(in context: inout Context) -> LayerOutcome {
    guard let element = elements.element(list.selected) else { return .stay() }
    return .stay(
      context.show(ValueLayer(object, element, label: label, context)) { $0.read(in: &$1) })
  }

  /// All elements are to have no value.
  private func clear(in context: inout Context) -> LayerOutcome {
    guard let values else { return .stay() }
    let (object, label, elements) = (object, label, elements)
    context.prepare {
      $0.name([object: label])
      for (element, old) in zip(elements, values) {
        $0.set(.init(object: object, column: element, old: old, change: .attribute(.null)))
      }
    }
    return .close()
  }

  // MARK: Answers

  mutating func take(_ answer: Answer, in context: inout Context) -> [Effect] {
    guard case .values(let found) = answer else { return [] }
    guard let found else {
      context.notice = Notice("\(object) is not in the store any more", .warning)
      isDone = true
      return []
    }
    values = found.map { $0 ?? .value(.null) }
    return []
  }

  mutating func fail(_ error: CoreDataError, in context: inout Context) -> [Effect] {
    context.show(MessageLayer(error))
    isDone = true
    return []
  }

  // MARK: Drawing

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let width = max(1, min(72, rect.width - 4))
    let title =
      "\(object) \(label.isEmpty ? "" : "“\(Sanitize.text(label, limit: 24))” ")"
      + path.joined(separator: ".")
    let height = min(elements.count, room(context) ?? elements.count)
    let inside = Popup(title, width, height + 2).draw(in: &grid, rect, theme: theme)
    grid.write(
      "each element has a value of its own", at: inside.row(0).origin, style: theme[.dim],
      within: inside.width)
    let names = elements.map { $0.path.dropFirst(path.count).joined(separator: ".") }
    let nameWidth = names.reduce(4) { max($0, TextWidth.of($1, upTo: width / 3)) }
    let typeWidth = elements.reduce(4) { max($0, TextWidth.of($1.typeName, upTo: 16)) }
    let rows = inside.droppingRows(2)
    let prepared = context.prepared
    list.draw(Array(elements.indices), in: &grid, rows, theme: theme) { index, isSelected in
      let element = elements[index]
      let old = values?.element(index).map { ValueText($0, of: element) } ?? ValueText("…", .dim)
      var spans = [
        theme.span(isSelected, names[index].fitted(to: nameWidth) + "  ", .attribute),
        theme.span(isSelected, element.typeName.fitted(to: typeWidth) + "  ", .dim),
      ]
      if let value = prepared.value(of: object, element.name) {
        let text = Sanitize.text(old.text, limit: max(8, width / 3))
        spans += [
          theme.span(isSelected, "* \(text) → ", .dim),
          Span(prepared.text(of: value).text, theme[.changed].adding(.bold)),
        ]
      } else {
        spans.append(theme.span(isSelected, old.text, old.role))
      }
      return spans
    }
  }
}
