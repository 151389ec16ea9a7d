import ManagedModel
import ManagedStore
import Terminal

/// An entity's rows as a table: columns, sorting, and the window of rows.
package struct RowTable: Sendable, Equatable {
  /// A column as the table shows it.
  enum Column: Sendable, Equatable {
    case key
    /// Of a row that may be a subentity's.
    case entity
    /// Index in the page's columns.
    case property(Int)
  }

  package let entity: String
  package let properties: [RowColumn]
  let columns: [Column]
  package private(set) var widths: [Int]
  package var selectedColumn = 0
  package var sort = RowQuery.Sort()
  package var window = RowWindow()

  static let maxWidth = 40
  private static let labels = ["title", "name", "label", "subject", "displayName", "filename"]

  init(entity: String, properties: [RowColumn], hasSubentities: Bool) {
    self.entity = entity
    self.properties = properties
    // What a person would call the object by comes first.
    let label = Self.labels.lazy.compactMap { label in
      properties.firstIndex { $0.name == label && $0.kind == .attribute(.string) }
    }.first
    columns =
      [.key] + (hasSubentities ? [.entity] : []) + (label.map { [.property($0)] } ?? [])
      + properties.indices.filter { $0 != label }.map { .property($0) }
    widths = []
    // A title needs room for the arrow of sorting.
    widths = columns.map { min(Self.maxWidth, TextWidth.of(title($0), upTo: Self.maxWidth)) }
  }

  func title(_ column: Column) -> String {
    switch column {
    case .key: "key"
    case .entity: "entity"
    case .property(let index): properties[index].name
    }
  }

  /// The property that a column sorts by: `nil` in it is the key; `nil` when it cannot.
  func sortProperty(_ column: Column) -> String?? {
    switch column {
    case .key: return .some(nil)
    case .entity: return nil
    case .property(let index):
      return properties[index].isToMany ? nil : .some(properties[index].name)
    }
  }

  func isNumeric(_ column: Column) -> Bool {
    switch column {
    case .key: return true
    case .entity: return false
    case .property(let index):
      switch properties[index].kind {
      case .attribute(let type):
        switch type {
        case .integer16, .integer32, .integer64, .decimal, .double, .float: return true
        default: return false
        }
      case .toMany: return true
      case .toOne: return false
      }
    }
  }

  func text(_ column: Column, of row: RowPage.Row) -> ValueText {
    switch column {
    case .key: return ValueText(String(row.id.key), .dim)
    case .entity: return ValueText(row.id.entity, .entity)
    case .property(let index):
      guard row.values.indices.contains(index) else { return ValueText("", .null) }
      return ValueText(row.values[index], of: properties[index])
    }
  }

  /// Takes a page; columns widen to what is new but never narrow, so that they do not dance.
  mutating func take(_ page: RowPage, at anchor: RowQuery.Anchor, total: Int?) {
    for row in page.rows {
      for (index, column) in columns.enumerated() where widths[index] < Self.maxWidth {
        let width = TextWidth.of(text(column, of: row).text, upTo: Self.maxWidth)
        widths[index] = max(widths[index], min(Self.maxWidth, width))
      }
    }
    window.take(page.rows, at: anchor, total: total)
  }

  /// How it is arranged.
  var view: TableView {
    var view = TableView()
    view.sort = sort.property
    view.isDescending = sort.isDescending
    return view
  }

  /// Arranges it; a property that the entity has not is passed over.
  mutating func arrange(_ view: TableView) {
    let isKnown = columns.contains { sortProperty($0) == .some(view.sort) }
    sort = isKnown ? .init(property: view.sort, descending: view.isDescending) : .init()
  }

  func query(_ anchor: RowQuery.Anchor) -> RowQuery {
    RowQuery(
      entity: entity, sort: sort, anchor: anchor, limit: RowWindow.page,
      properties: properties.map(\.name))
  }
}

extension RowTable {
  private static var gap: Int { 2 }

  /// The columns in sight with their places: the key stays, the others scroll until the selected
  /// one is whole.
  private func places(in width: Int) -> [(index: Int, x: Int, width: Int)] {
    guard width > 2, let keyWidth = widths.first else { return [] }
    var places = [(index: 0, x: 2, width: min(keyWidth, width - 2))]
    let start = 2 + keyWidth + Self.gap
    guard start < width, widths.count > 1 else { return places }
    var first = 1
    if selectedColumn > 0 {
      var needed = widths[1...selectedColumn].reduce(0) { $0 + $1 + Self.gap } - Self.gap
      while needed > width - start, first < selectedColumn {
        needed -= widths[first] + Self.gap
        first += 1
      }
    }
    var x = start
    for index in first..<widths.count where x < width {
      places.append((index, x, min(widths[index], width - x)))
      x += widths[index] + Self.gap
    }
    return places
  }

  func draw(
    in grid: inout Grid, _ rect: Rect, total: Int?, theme: Theme, isFocused: Bool
  ) {
    guard !rect.isEmpty else { return }
    let places = places(in: rect.width)
    for place in places { drawTitle(place, in: &grid, rect, theme: theme, isFocused: isFocused) }
    let body = rect.droppingRows(1)
    guard !body.isEmpty else { return }
    var window = window
    window.setHeight(body.height)
    for (position, index) in window.visible.enumerated() {
      let line = body.row(position)
      if index == window.selected {
        grid.fill(line, style: theme[isFocused ? .selection : .selectionUnfocused])
        grid.write("▌", at: line.origin, style: theme[isFocused ? .borderFocused : .border])
      }
      for place in places {
        let column = columns[place.index]
        let value = text(column, of: window.rows[index])
        let style = index == window.selected && isFocused ? .plain : theme[value.role]
        let field = Rect(x: line.x + place.x, y: line.y, width: place.width, height: 1)
        grid.write(
          value.text, in: field, style: style, align: isNumeric(column) ? .trailing : .leading)
      }
    }
    drawScrollMark(window, in: &grid, body, total: total, theme: theme)
  }

  private func drawTitle(
    _ place: (index: Int, x: Int, width: Int), in grid: inout Grid, _ rect: Rect, theme: Theme,
    isFocused: Bool
  ) {
    let column = columns[place.index]
    var title = title(column)
    if let property = sortProperty(column), property == sort.property,
      property != nil || sort.isDescending
    {
      title += sort.isDescending ? "▾" : "▴"
    }
    let isSelected = place.index == selectedColumn && isFocused
    let style = theme[.columnTitle].adding(isSelected ? [.underline, .reverse] : [])
    // A sorted column may be one cell narrower than its title and arrow; the gap has room.
    let width = min(
      max(place.width, TextWidth.of(title, upTo: Self.maxWidth)), rect.width - place.x)
    let isTrailing = isNumeric(column) && width == place.width
    let field = Rect(x: rect.x + place.x, y: rect.y, width: width, height: 1)
    grid.mark(field, as: .column(place.index))
    grid.write(title, in: field, style: style, align: isTrailing ? .trailing : .leading)
  }

  private func drawScrollMark(
    _ window: RowWindow, in grid: inout Grid, _ rect: Rect, total: Int?, theme: Theme
  ) {
    let isWhole = window.hasStart && window.hasEnd
    guard let total = isWhole ? window.rows.count : total, let ordinal = window.ordinal,
      total > rect.height, rect.height > 1, grid[rect.right, rect.y]?.text == "│"
    else { return }
    let length = max(1, rect.height * rect.height / total)
    let range = Double(max(1, total - rect.height))
    let place = Double(rect.height - length) * Double(ordinal + window.offset) / range
    let start = max(0, min(rect.height - length, Int(place.rounded())))
    for row in start..<(start + length) where grid[rect.right, rect.y + row]?.text == "│" {
      grid.write("┃", at: Point(x: rect.right, y: rect.y + row), style: theme[.border])
    }
  }
}
