import ManagedModel
import ManagedStore
import Terminal

/// The line in which somebody types a key path that is to be a column.
struct KeyPathLayer: CheckedLineLayer {
  private static let help =
    "A path over relationships: author.name, tags.name (a list), steps.@count"

  private let entity: String
  var line = CheckedLine(Prompt())
  /// What the path names, once it names something.
  private var column: RowColumn?

  init(_ entity: String, _ context: Context) {
    self.entity = entity
    look(in: context)
  }

  mutating func look(in context: Context) {
    let text = line.prompt.text.trimmed
    (line.mistake, line.completion, column) = (nil, Completion(), nil)
    guard let store = context.store else { return }
    if !text.isEmpty {
      do {
        column = try store.layout.column(ofKeyPath: text, of: entity)
      } catch {
        line.mistake = error
      }
    }
    line.completion = Completion(
      keyPath: line.prompt.text, cursor: line.prompt.cursor, entity: entity, store: store)
  }

  func bindings(_ context: Context) -> [Binding] {
    lineBindings("add the column", unless: column == nil ? "type a key path first" : nil)
  }

  mutating func confirm(in context: inout Context) -> LayerOutcome {
    guard let column else { return .stay() }
    let entity = entity
    context.tell(ColumnsLayer.self) { $0.add(column) }
    return .close(
      context.on(BrowseScreen.self) { browse, context in
        guard browse.table?.entity == entity else { return [] }
        browse.table?.add(column)
        return browse.readWithPaths(in: &context)
      })
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    line.draw(
      "a column of \(entity)", Self.help, label: "› ",
      note: column.map { [Span("  ✓ " + $0.typeName, theme[.dim])] } ?? [], with: theme, in: &grid,
      rect)
  }
}
