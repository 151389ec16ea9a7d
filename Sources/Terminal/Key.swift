/// Something the user did: a key, the mouse, a paste.
package enum Key: Sendable, Hashable {
  case character(Character)
  case enter, escape, tab, backTab, backspace
  case up, down, left, right
  case home, end, pageUp, pageDown
  case insert, delete
  case function(Int)
  /// A letter held with Control, in lower case.
  case control(Character)
  case alt(Character)
  case mouse(MouseAction, x: Int, y: Int)
  /// Text pasted in one go, which must not be taken for keys.
  case paste(String)

  /// What was done with the mouse.
  package enum MouseAction: Sendable, Hashable {
    /// `drag` is motion while the button is held, where the terminal shows it.
    case press, release, doubleClick, drag, scrollUp, scrollDown
  }

  /// The space bar.
  package static let space: Key = " "
}

extension Key: ExpressibleByExtendedGraphemeClusterLiteral {
  /// A character as a key.
  package init(extendedGraphemeClusterLiteral character: Character) {
    self = .character(character)
  }
}

extension Key {
  /// The key as a help bar shows it: `⏎`, `Tab`, `^C`, `?`.
  package var name: String {
    switch self {
    case .character(" "): return "Space"
    case .character(let character): return String(character)
    case .control(let character): return "^" + String(character).uppercased()
    case .alt(let character): return "M-" + String(character)
    case .function(let number): return "F\(number)"
    case .mouse(let action, _, _): return "mouse \(action)"
    case .paste: return "paste"
    default: return Self.names.first { $0.key == self }?.name ?? ""
    }
  }

  /// A key from its name, or from a word in its place: `⏎` or `enter`, `^C` or `ctrl-c`,
  /// `M-x` or `alt-x`, `F1`, `space`.
  package init?(name text: String) {
    if text.count == 1, let character = text.first, text != "⏎", text != "⌫",
      !Self.names.contains(where: { $0.name == text })
    {
      self = .character(character)
      return
    }
    let word = text.lowercased()
    if let known = Self.names.first(where: { $0.name == text || $0.words.contains(word) }) {
      self = known.key
      return
    }
    if word == "space" {
      self = .space
      return
    }
    if word.hasPrefix("f"), let number = Int(word.dropFirst()), (1...63).contains(number) {
      self = .function(number)
      return
    }
    for (prefix, isControl) in [("^", true), ("ctrl-", true), ("m-", false), ("alt-", false)]
    where word.hasPrefix(prefix) && text.count == prefix.count + 1 {
      guard let character = isControl ? word.last : text.last else { continue }
      self = isControl ? .control(character) : .alt(character)
      return
    }
    return nil
  }

  private static let names: [(key: Key, name: String, words: [String])] = [
    (.enter, "⏎", ["enter", "return"]),
    (.escape, "Esc", ["esc", "escape"]),
    (.tab, "Tab", ["tab"]),
    (.backTab, "⇧Tab", ["backtab", "shift-tab"]),
    (.backspace, "⌫", ["backspace"]),
    (.up, "↑", ["up"]),
    (.down, "↓", ["down"]),
    (.left, "←", ["left"]),
    (.right, "→", ["right"]),
    (.home, "Home", ["home"]),
    (.end, "End", ["end"]),
    (.pageUp, "PgUp", ["pgup", "pageup"]),
    (.pageDown, "PgDn", ["pgdn", "pagedown"]),
    (.insert, "Ins", ["ins", "insert"]),
    (.delete, "Del", ["del", "delete"]),
  ]
}
