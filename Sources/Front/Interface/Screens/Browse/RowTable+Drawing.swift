import Comparison
import ManagedModel
import ManagedStore
import Terminal

extension RowTable {
  private static var gap: Int { 2 }

  /// A column in sight: its index and where it lies.
  private struct Place {
    var index: Int
    var x: Int
    var width: Int
  }

  /// Cells that a text keeps where a date beside it needs room, and those that the day of a date takes with what is cut.
  private static var leastText: Int { 16 }
  private static var day: Int { 11 }

  /// The columns in sight: the frozen ones stay, the others scroll until the chosen one is whole. A date at the edge is
  /// shown as a whole where texts before it can spare the room: half a date says nothing.
  private func places(in width: Int) -> (places: [Place], edge: Int?, isScrolled: Bool) {
    var widths = columns.map { self.width($0) }
    let result = places(in: width, widths)
    guard let last = result.places.last, isNatural(last.index, .date) else { return result }
    let text = result.places.filter { isNatural($0.index, .string) && $0.index != last.index }
      .max { $0.width < $1.width }
    guard let text,
      let missing = [widths[last.index], Self.day].map({ $0 - last.width }).first(where: {
        $0 > 0 && text.width - $0 >= Self.leastText
      })
    else { return result }
    widths[text.index] = text.width - missing
    return places(in: width, widths)
  }

  /// Whether a column is an attribute of that type, as wide as its contents.
  private func isNatural(_ index: Int, _ type: AttributeType) -> Bool {
    guard let column = columns.element(index), chosen[column] == nil,
      case .attribute(type)? = property(column)?.kind
    else { return false }
    return true
  }

  private func places(
    in width: Int, _ widths: [Int]
  ) -> (places: [Place], edge: Int?, isScrolled: Bool) {
    guard width > 2, !widths.isEmpty else { return ([], nil, false) }
    var places: [Place] = []
    var x = 2
    // What is frozen leaves room for something beside it.
    var frozen = 0
    while frozen < min(self.frozen, widths.count), x < width,
      frozen == 0 || x + widths[frozen] + Self.gap <= width * 3 / 4 || frozen == widths.count - 1
    {
      places.append(Place(index: frozen, x: x, width: min(widths[frozen], width - x)))
      x += widths[frozen] + Self.gap
      frozen += 1
    }
    let start = x
    guard start < width, frozen < widths.count else { return (places, nil, false) }
    var first = frozen
    if selectedColumn > frozen {
      var needed = widths[frozen...selectedColumn].reduce(0) { $0 + $1 + Self.gap } - Self.gap
      while needed > width - start, first < selectedColumn {
        needed -= widths[first] + Self.gap
        first += 1
      }
    }
    for index in first..<widths.count where x < width {
      places.append(Place(index: index, x: x, width: min(widths[index], width - x)))
      x += widths[index] + Self.gap
    }
    return (places, self.frozen > 1 ? start - Self.gap : nil, first > frozen)
  }

  /// The column at a place of the title row or of a cell, for the mouse.
  func column(at x: Int, in rect: Rect) -> Int? {
    places(in: rect.width).places.last { rect.x + $0.x <= x }?.index
  }

  /// - Parameters:
  ///   - marks: what became of objects since the store was read.
  ///   - prepared: what is to become of them.
  func draw(
    in grid: inout Grid, _ rect: Rect, total: Int?, marks: [ObjectID: ObjectChange],
    prepared: PreparedEdits, theme: Theme, isFocused: Bool
  ) {
    guard !rect.isEmpty else { return }
    let (places, edge, isScrolled) = places(in: rect.width)
    for place in places { drawTitle(place, in: &grid, rect, theme: theme, isFocused: isFocused) }
    if let edge {
      grid.write("│", at: Point(x: rect.x + edge, y: rect.y), style: theme[.border])
    } else if isScrolled, let key = places.first {
      // Something lies to the left.
      grid.write("‹", at: Point(x: rect.x + key.x + key.width, y: rect.y), style: theme[.dim])
    }
    let body = rect.droppingRows(1)
    guard !body.isEmpty else { return }
    var window = window
    window.setHeight(body.height)
    let (changed, fates) = (prepared.changed, prepared.fates)
    for (position, index) in window.visible.enumerated() {
      let line = body.row(position)
      let isSelected = index == window.selected
      if isSelected {
        grid.fill(line, style: theme[isFocused ? .selection : .selectionUnfocused])
        grid.write(
          List.mark(isFocused), at: line.origin, style: theme[isFocused ? .borderFocused : .border])
      }
      let id = window.rows[index].id
      let (mark, fate, values) = (marks[id], fates[id], changed[id])
      if let fate {
        drawMark(fate.sign, .removed, isStruck: true, in: &grid, line, theme: theme)
      } else if values != nil {
        drawMark("*", .changed, isStruck: false, in: &grid, line, theme: theme)
      } else if let mark {
        drawMark(
          mark.sign, mark.role, isStruck: mark.kind == .delete, in: &grid, line, theme: theme)
      }
      for place in places {
        let column = columns[place.index]
        let new = property(column).flatMap { values?[$0.name] }
        let value = new.map(prepared.text) ?? text(column, of: window.rows[index])
        var style = isSelected && isFocused ? .plain : theme[value.role]
        if new != nil || fate != nil {
          style = theme[fate == nil ? .changed : .removed].adding(.bold)
          if new != nil {
            // Before the cell, so that no colour is needed.
            grid.write(
              "*", at: Point(x: line.x + place.x - 1, y: line.y), style: style, within: 1)
          }
        } else if let mark, mark.kind != .insert {
          let isChanged = property(column).map(mark.changes) == true
          if mark.kind == .delete || isChanged { style = theme[mark.role].adding(.bold) }
        }
        let field = Rect(x: line.x + place.x, y: line.y, width: place.width, height: 1)
        // The cell that Enter follows and y copies.
        if isSelected, isFocused, place.index == selectedColumn {
          style = style.adding([.bold, .underline])
        }
        grid.write(
          value.text, in: field, style: style, align: isNumeric(column) ? .trailing : .leading)
      }
    }
    let isWhole = window.hasStart && window.hasEnd
    if let ordinal = window.ordinal, let total = isWhole ? window.rows.count : total {
      grid.scrollMark(body, first: ordinal + window.offset, of: total, style: theme[.border])
    }
  }

  /// The sign before the row; a deleted one is struck through.
  private func drawMark(
    _ sign: String, _ role: Theme.Role, isStruck: Bool, in grid: inout Grid, _ line: Rect,
    theme: Theme
  ) {
    if isStruck {
      grid.write(
        String(repeating: "─", count: max(0, line.width - 2)),
        at: Point(x: line.x + 2, y: line.y), style: theme[role], within: line.width - 2)
    }
    grid.write(
      sign, at: Point(x: line.x + 1, y: line.y), style: theme[role].adding(.bold), within: 1)
  }

  private func drawTitle(
    _ place: Place, in grid: inout Grid, _ rect: Rect, theme: Theme, isFocused: Bool
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
    let needed = TextWidth.of(title, upTo: Self.maxWidth)
    let width = min(
      chosen[column] == nil ? max(place.width, needed) : place.width, rect.width - place.x)
    let isTrailing = isNumeric(column) && width == place.width
    let field = Rect(x: rect.x + place.x, y: rect.y, width: width, height: 1)
    grid.mark(field, as: .column(place.index))
    grid.write(title, in: field, style: style, align: isTrailing ? .trailing : .leading)
  }
}
