import ManagedModel
import Migration
import Terminal

/// The line in which somebody types the SQL expression that a value is computed by.
struct ExpressionLayer: CheckedLineLayer {
  private static let help =
    "An SQL expression over the properties of the object as it was: a name, a 'text', "
    + "coalesce(a, b), a || ' ' || b, CAST(a AS INTEGER), parse_date(a, 'yyyy-MM-dd') …"
  /// What may be missing at the end of an expression that has only begun.
  private static let endings = ["'", ")", "')", "))", "'))", ")))"]

  /// The attribute that gets the value.
  let place: String
  var line: CheckedLine

  /// - Parameter expression: what is proposed.
  init(_ place: String, _ expression: String, _ context: Context) {
    self.place = place
    line = CheckedLine(Prompt(expression, isSelected: true))
    look(in: context)
    line.completion = Completion()
  }

  mutating func look(in context: Context) {
    let text = line.prompt.text
    (line.mistake, line.completion) = (nil, Completion())
    guard !text.trimmed.isEmpty,
      let (source, destination) = context.known.models(
        from: context.versions.storesIndex, to: context.planned.to)
    else { return }
    let edits = context.planned.currentEdits
    func mistake(in text: String) -> CoreDataError? {
      edits.mistake(in: text, for: place, from: source, to: destination)
    }
    line.mistake = mistake(in: text)
    if line.mistake != nil, Self.endings.contains(where: { mistake(in: text + $0) == nil }) {
      // What is only not closed yet is marked where it goes on.
      line.mistake?.mark = TextMark(text, text.utf8.count..<text.utf8.count)
    }
    let sources = edits.sources(
      of: place, computedBy: text, from: source, to: destination)
    if let entity = sources.first, let store = context.ownStore {
      line.completion = Completion(
        expression: text, cursor: line.prompt.cursor, entity: entity, store: store)
    }
  }

  func bindings(_ context: Context) -> [Binding] {
    lineBindings(
      "use this expression, and plan again",
      unless: line.prompt.text.trimmed.isEmpty ? "type an expression first" : nil)
  }

  mutating func confirm(in context: inout Context) -> LayerOutcome {
    let edit = MappingEdits.Edit.value(place, line.prompt.text.trimmed)
    return .close(context.on(MappingScreen.self) { $0.apply([edit], in: &$1) })
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    var note: [Span] = []
    if line.prompt.isSelected {
      note = [Span("  typing replaces it; ← → edit it", theme[.dim])]
    } else if !line.prompt.text.trimmed.isEmpty {
      note = [Span("  ✓", theme[.success])]
    }
    line.draw("\(place) =", Self.help, label: "= ", note: note, with: theme, in: &grid, rect)
  }
}
