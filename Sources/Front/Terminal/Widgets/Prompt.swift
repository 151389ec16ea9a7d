/// A line of text being edited.
package struct Prompt: Sendable, Equatable {
  private var characters: [Character]
  /// The cursor's place, in characters from the start.
  package private(set) var cursor: Int
  /// Whether all of the text is selected: the next text that is typed takes its place.
  package private(set) var isSelected: Bool

  /// A line with the cursor at its end.
  ///
  /// - Parameter isSelected: whether the text is only proposed.
  package init(_ text: String = "", isSelected: Bool = false) {
    characters = Array(text)
    cursor = characters.count
    self.isSelected = isSelected && !characters.isEmpty
  }

  /// What was typed.
  package var text: String { String(characters) }

  /// Places the cursor, as on the word that a mistake is in.
  package mutating func moveCursor(to place: Int) {
    cursor = max(0, min(place, characters.count))
  }

  /// Puts a text in at the cursor.
  package mutating func insert(_ text: some StringProtocol) {
    let before = String(characters[..<cursor]) + text
    // Joined again: a pasted mark may belong to the character before it.
    let after = String(characters[cursor...])
    characters = Array(before + after)
    cursor = min(before.count, characters.count)
  }

  /// Edits as a shell does (^A ^E ^B ^F ^D ^H ^K ^U ^W, arrows, Home, End); `false` for keys that
  /// are none of its business, such as Enter and Escape.
  @discardableResult
  package mutating func handle(_ key: Key) -> Bool {
    if isSelected {
      switch key {
      case .character, .paste: self = Prompt()
      case .backspace, .control("h"), .delete, .control("d"):
        self = Prompt()
        return true
      default: break
      }
    }
    let isHandled = edit(key)
    if isHandled { isSelected = false }
    return isHandled
  }

  private mutating func edit(_ key: Key) -> Bool {
    switch key {
    case .character(let character): insert(String(character))
    case .paste(let text):
      insert(text.split(whereSeparator: \.isNewline).joined(separator: " "))
    case .left, .control("b"): moveCursor(to: cursor - 1)
    case .right, .control("f"): moveCursor(to: cursor + 1)
    case .home, .control("a"): moveCursor(to: 0)
    case .end, .control("e"): moveCursor(to: characters.count)
    case .alt("b"): moveCursor(to: wordStart)
    case .backspace, .control("h"): delete(from: cursor - 1)
    case .delete, .control("d"):
      if cursor < characters.count { characters.remove(at: cursor) }
    case .control("u"): delete(from: 0)
    case .control("k"): characters.removeSubrange(cursor...)
    case .control("w"), .alt("\u{7F}"): delete(from: wordStart)
    default: return false
    }
    return true
  }

  private var wordStart: Int {
    var place = cursor
    while place > 0, characters[place - 1].isWhitespace { place -= 1 }
    while place > 0, !characters[place - 1].isWhitespace { place -= 1 }
    return place
  }

  private mutating func delete(from start: Int) {
    let start = max(0, start)
    characters.removeSubrange(start..<cursor)
    cursor = start
  }

  /// Draws a label and the text, scrolled so that the cursor is in sight, and shows the terminal's
  /// cursor there.
  package func draw(in grid: inout Grid, _ rect: Rect, label: [Span] = [], theme: Theme) {
    let line = rect.row(0)
    guard !line.isEmpty else { return }
    grid.fill(line, style: theme[.prompt])
    let labelWidth = grid.write(label, at: line.origin, within: max(0, line.width - 2))
    let field = Rect(
      x: line.x + labelWidth, y: line.y, width: line.width - labelWidth, height: 1)
    guard !field.isEmpty else { return }
    // As many characters before the cursor as fit, one cell kept for the cursor itself.
    var first = cursor
    var before = 0
    while first > 0 {
      let width = TextWidth.of(String(characters[first - 1]), upTo: field.width)
      if before + width > field.width - 1 { break }
      before += width
      first -= 1
    }
    let shown = String(characters[first...].prefix(field.width + 1))
    grid.write(
      shown, at: field.origin, style: theme[isSelected ? .selection : .prompt], within: field.width)
    grid.cursor = Point(x: field.x + before, y: field.y)
  }
}
