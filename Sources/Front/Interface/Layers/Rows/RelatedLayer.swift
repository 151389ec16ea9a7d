import ManagedModel
import ManagedStore
import Terminal

/// The relationships of the selected row, to go where one leads.
struct RelatedLayer: ChoosingLayer {
  private struct Line: Sendable, Equatable {
    var relation: RelationOf
    var type: String
    var value: String
    var role: Theme.Role
  }

  private let object: ObjectID?
  private let lines: [Line]
  var list: List

  init(_ browse: BrowseScreen, _ context: Context) {
    let table = browse.table
    let row = table?.window.selectedRow
    object = row?.id
    lines =
      row.map { row in
        context.known.relations(of: row.id).map { column in
          let index = table?.properties.firstIndex { $0.name == column.name }
          return Self.line(column, of: row.id, row.values.element(index))
        }
      } ?? []
    // The relationship of the chosen column comes first to hand.
    let selected = lines.firstIndex { $0.relation.name == table?.property?.name } ?? 0
    list = List(count: lines.count, selected: selected, height: lines.count)
  }

  private static func line(
    _ column: RowColumn, of object: ObjectID, _ value: PropertyValue?
  ) -> Line {
    var line = Line(
      relation: RelationOf(source: object, name: column.name, destination: .nothing),
      type: (column.isToMany ? "⇉ " : "→ ") + (column.destination ?? ""), value: "…", role: .dim)
    switch (column.kind, value) {
    case (.toMany(let entity), .toMany(let many)?):
      if many.count > 0 { line.relation.destination = .objects(entity) }
      line.value = NumberText.grouped(many.count)
      line.role = many.count > 0 ? .relationship : .null
    // A relationship of the row's own entity that the page of another has not read.
    case (.toMany(let entity), _): line.relation.destination = .objects(entity)
    case (_, .toOne(let id?)?):
      line.relation.destination = .object(id)
      (line.value, line.role) = (id.description, .relationship)
    case (_, .toOne(nil)?): (line.value, line.role) = ("∅", .null)
    default: line.value = "open the object and follow it there"
    }
    return line
  }

  func bindings(_ context: Context) -> [Binding] {
    let isNowhere = lines.element(list.selected)?.relation.destination ?? .nothing == .nothing
    return [
      Binding([.enter], "go there", chooses, unless: isNowhere ? "nothing to follow" : nil),
      movement,
      closing([.escape, "q", "r"]),
    ]
  }

  mutating func choose(in context: inout Context) -> LayerOutcome {
    guard let line = lines.element(list.selected) else { return .stay() }
    return .close(context.on(BrowseScreen.self) { $0.follow(line.relation, in: &$1) })
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let names = lines.reduce(4) { max($0, TextWidth.of($1.relation.name, upTo: 30)) }
    let types = lines.reduce(4) { max($0, TextWidth.of($1.type, upTo: 30)) }
    let inside = Popup(
      "related to \(object?.description ?? "")", min(76, names + types + 30), max(1, lines.count)
    ).draw(in: &grid, rect, theme: theme)
    list.draw(lines, in: &grid, inside, theme: theme) { line, isSelected in
      [
        Span(line.relation.name.padded(to: names + 2)),
        theme.span(isSelected, line.type.padded(to: types + 2), .dim),
        theme.span(isSelected, line.value, line.role),
      ]
    }
  }
}
