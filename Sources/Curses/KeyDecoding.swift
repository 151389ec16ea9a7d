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
    guard let final = sequence.last else { return nil }
    let number = sequence.prefix { $0.isNumber }
    switch final {
    case "A": return .up
    case "B": return .down
    case "C": return .right
    case "D": return .left
    case "H": return .home
    case "F": return .end
    case "M": return .enter
    case "Z": return .backTab
    case "P": return .function(1)
    case "Q": return .function(2)
    case "R": return .function(3)
    case "S": return .function(4)
    case "~":
      switch Int(number) {
      case 1, 7: return .home
      case 2: return .insert
      case 3: return .delete
      case 4, 8: return .end
      case 5: return .pageUp
      case 6: return .pageDown
      case let code? where (11...15).contains(code): return .function(code - 10)
      case let code? where (17...21).contains(code): return .function(code - 11)
      case let code? where (23...24).contains(code): return .function(code - 12)
      default: return nil
      }
    default: return nil
    }
  }

  /// Keys with modifiers have names such as kRIT5 and no fixed numbers; they do what the plain key
  /// does.
  private static func extended(code: Int32) -> Key? {
    guard let name = keyname(code) else { return nil }
    switch String(cString: name).prefix(4) {
    case "kUP", "kUP2", "kUP3", "kUP4", "kUP5", "kUP6", "kUP7": return .up
    case "kDN", "kDN2", "kDN3", "kDN4", "kDN5", "kDN6", "kDN7": return .down
    case "kLFT": return .left
    case "kRIT": return .right
    case "kHOM": return .home
    case "kEND": return .end
    case "kPRV": return .pageUp
    case "kNXT": return .pageDown
    case "kDC3", "kDC4", "kDC5", "kDC6", "kDC7": return .delete
    default: return nil
    }
  }
}
