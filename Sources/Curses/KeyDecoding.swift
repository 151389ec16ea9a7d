import CNcurses
import Terminal

/// What curses reads, as keys.
enum KeyDecoding {
  /// Codes of our own, given to the marks around a bracketed paste.
  static let pasteStart: Int32 = 5000
  static let pasteEnd: Int32 = 5001
  /// What comes behind Escape where a paste begins.
  static let pasteMark = "[200~"
  /// And to what begins a report of the mouse: with numbers, or with three bytes.
  static let mouseReport: Int32 = 5002
  static let oldMouseReport: Int32 = 5003

  /// A function key by curses' number; `nil` for one that has no meaning here.
  static func key(code: Int32) -> Key? {
    switch code {
    case KEY_UP, KEY_SR: return .up
    case KEY_DOWN, KEY_SF: return .down
    case KEY_LEFT, KEY_SLEFT: return .left
    case KEY_RIGHT, KEY_SRIGHT: return .right
    case KEY_HOME, KEY_A1, KEY_SHOME: return .home
    case KEY_END, KEY_C1, KEY_LL, KEY_SEND: return .end
    case KEY_PPAGE, KEY_A3: return .pageUp
    case KEY_NPAGE, KEY_C3: return .pageDown
    case KEY_IC: return .insert
    case KEY_DC, KEY_SDC: return .delete
    case KEY_BACKSPACE: return .backspace
    case KEY_ENTER: return .enter
    case KEY_BTAB: return .backTab
    case (KEY_F0 + 1)...(KEY_F0 + 63): return .function(Int(code - KEY_F0))
    default: return extended(code: code)
    }
  }

  /// A character that is no function key.
  static func key(scalar: Unicode.Scalar) -> Key? {
    switch scalar.value {
    case 0: return .control(" ")
    case 9: return .tab
    case 10, 13: return .enter
    case 27: return .escape
    case 8, 127: return .backspace
    case 1...26:
      return Unicode.Scalar(scalar.value + 0x60).map { .control(Character($0)) }
    case 28...31:
      return Unicode.Scalar(scalar.value + 0x40).map { .control(Character($0)) }
    case 0x80..<0xA0: return nil
    default: return .character(Character(scalar))
    }
  }

  /// What follows `ESC [` or `ESC O` when terminfo does not know the key, as when the terminal is
  /// not quite what TERM says. `nil` when it means nothing; it must not be typed as text then.
  static func key(sequence: String) -> Key? {
    guard sequence.last == "~" else { return sequence.last.flatMap { finals[$0] } }
    guard let number = Int(sequence.prefix { $0.isNumber }) else { return nil }
    switch number {
    case 11...15: return .function(number - 10)
    case 17...21: return .function(number - 11)
    case 23...24: return .function(number - 12)
    default: return numbered[number]
    }
  }

  private static let finals: [Character: Key] = [
    "A": .up, "B": .down, "C": .right, "D": .left, "H": .home, "F": .end, "M": .enter,
    "Z": .backTab, "P": .function(1), "Q": .function(2), "R": .function(3), "S": .function(4),
  ]
  private static let numbered: [Int: Key] = [
    1: .home, 2: .insert, 3: .delete, 4: .end, 5: .pageUp, 6: .pageDown, 7: .home, 8: .end,
  ]

  /// Keys with modifiers have names such as kRIT5 and no fixed numbers; they do what the plain key
  /// does.
  private static func extended(code: Int32) -> Key? {
    guard let name = keyname(code).map({ String(cString: $0) }) else { return nil }
    return modified.first { name.hasPrefix($0.start) }?.key
  }

  private static let modified: [(start: String, key: Key)] = [
    ("kUP", .up), ("kDN", .down), ("kLFT", .left), ("kRIT", .right), ("kHOM", .home),
    ("kEND", .end), ("kPRV", .pageUp), ("kNXT", .pageDown), ("kDC", .delete),
  ]
}
