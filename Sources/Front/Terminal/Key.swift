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

/// Reports of the mouse as xterm sends them, and the double clicks among them.
package struct MouseDecoding: Sendable {
  private static let doubleClick = Duration.milliseconds(400)

  /// Where and when the button was last pressed.
  private var last: (x: Int, y: Int, time: ContinuousClock.Instant)?
  private var isHeld = false

  /// A mouse of which nothing has come yet.
  package init() {}

  /// What follows `ESC [ <`: button, column and row, and M for a press or m for a release.
  package mutating func key(report: String, at time: ContinuousClock.Instant) -> Key? {
    guard let final = report.last, final == "M" || final == "m" else { return nil }
    let numbers = report.dropLast().split(separator: ";").compactMap { Int($0) }
    guard numbers.count == 3 else { return nil }
    return key(
      button: numbers[0], isRelease: final == "m", x: numbers[1] - 1, y: numbers[2] - 1, at: time)
  }

  /// What follows `ESC [ M` in terminals of old: three characters from a space on.
  package mutating func key(old report: [Unicode.Scalar], at time: ContinuousClock.Instant) -> Key?
  {
    guard report.count == 3, report.allSatisfy({ $0.value >= 32 }) else { return nil }
    let numbers = report.map { Int($0.value) - 32 }
    // A release does not say of which button.
    return key(
      button: numbers[0] & ~3 | (numbers[0] & 3 == 3 ? 0 : numbers[0] & 3),
      isRelease: numbers[0] & 3 == 3, x: numbers[1] - 1, y: numbers[2] - 1, at: time)
  }

  private mutating func key(
    button: Int, isRelease: Bool, x: Int, y: Int, at time: ContinuousClock.Instant
  ) -> Key? {
    guard x >= 0, y >= 0 else { return nil }
    // Bits 2 to 4 are Shift, Alt and Control.
    switch (button & 0b11, isWheel: button & 64 != 0, isMotion: button & 32 != 0) {
    case (0, true, _): return .mouse(.scrollUp, x: x, y: y)
    case (1, true, _): return .mouse(.scrollDown, x: x, y: y)
    case (0, false, true): return isHeld ? .mouse(.drag, x: x, y: y) : nil
    case (0, false, false) where isRelease:
      isHeld = false
      return .mouse(.release, x: x, y: y)
    case (0, false, false):
      isHeld = true
      if let former = last, former.x == x, former.y == y, time - former.time < Self.doubleClick {
        // A third one begins again.
        last = nil
        return .mouse(.doubleClick, x: x, y: y)
      }
      last = (x, y, time)
      return .mouse(.press, x: x, y: y)
    default: return nil
    }
  }
}

/// The text between the marks of a bracketed paste.
///
/// A slow line may bring the mark of the end in pieces, which then come as characters.
package struct PasteDecoding: Sendable {
  /// A paste longer than this is cut; nobody means to type a book.
  package static let limit = 1 << 20
  /// After so long without a character, ^C is a key: the end got lost.
  package static let patience = Duration.seconds(2)
  private static let end: [Unicode.Scalar] = ["\u{1B}", "[", "2", "0", "1", "~"]

  /// Whether a paste began and has not ended.
  package private(set) var isOpen = false
  private var text = String.UnicodeScalarView()
  private var count = 0
  /// How many characters of the end's mark came last; they may be text after all.
  private var matched = 0
  private var last = ContinuousClock.now

  /// No paste has begun.
  package init() {}

  /// The mark of the beginning came.
  package mutating func begin(at time: ContinuousClock.Instant) {
    self = PasteDecoding()
    isOpen = true
    last = time
  }

  /// Takes a character of an open paste.
  ///
  /// - Returns: the paste, where that was its end; ^C, where it gave up waiting for that.
  package mutating func take(_ scalar: Unicode.Scalar, at time: ContinuousClock.Instant) -> Key? {
    defer { last = time }
    if scalar == "\u{03}", time - last >= Self.patience {
      self = PasteDecoding()
      return .control("c")
    }
    if scalar == Self.end[matched] {
      matched += 1
      return matched == Self.end.count ? finish() : nil
    }
    for earlier in Self.end[..<matched] { append(earlier) }
    matched = scalar == Self.end[0] ? 1 : 0
    if matched == 0 { append(scalar == "\r" ? "\n" : scalar) }
    return nil
  }

  /// The mark of the end came as a whole.
  package mutating func finish() -> Key {
    defer { self = PasteDecoding() }
    return .paste(String(text))
  }

  private mutating func append(_ scalar: Unicode.Scalar) {
    guard count < Self.limit else { return }
    text.append(scalar)
    count += 1
  }
}

/// What a terminal answered when it was asked for its background, among what was typed meanwhile.
package struct BackgroundReply: Sendable, Equatable {
  /// Asks for the background (OSC 11), and then for the kind of terminal (DA1): every terminal knows
  /// the second question, so its answer says that none will come to the first.
  package static let query = "\u{1B}]11;?\u{07}\u{1B}[c"

  /// `nil` where the terminal did not say.
  package private(set) var background: Color?
  /// Whether the last answer is there.
  package private(set) var isComplete = false
  /// Bytes that are no answer, and an answer that is not whole yet.
  package private(set) var typed: [UInt8] = []

  /// Finds the answers among what came.
  package init(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while let byte = rest.first {
      if byte == 0x1B, let end = Self.endOfColor(rest) {
        background = Self.color(rest[..<end]) ?? background
        rest = rest[end...]
      } else if byte == 0x1B, let end = Self.endOfAttributes(rest) {
        isComplete = true
        rest = rest[end...]
      } else {
        typed.append(byte)
        rest = rest.dropFirst()
      }
    }
  }

  /// Whether dark text is read better on it than light text.
  package var isLight: Bool? {
    guard let black = background?.contrast(on: .rgb(0, 0, 0)),
      let white = background?.contrast(on: .rgb(255, 255, 255))
    else { return nil }
    return black > white
  }

  /// Behind `ESC ] 11 ; … BEL`, or `… ESC \`.
  private static func endOfColor(_ bytes: ArraySlice<UInt8>) -> Int? {
    guard bytes.starts(with: "\u{1B}]11;".utf8) else { return nil }
    for index in bytes.indices.dropFirst(5) {
      if bytes[index] == 0x07 { return index + 1 }
      if bytes[index] == 0x1B {
        return index + 1 < bytes.endIndex && bytes[index + 1] == UInt8(ascii: "\\")
          ? index + 2 : nil
      }
    }
    return nil
  }

  /// Behind `ESC [ ? 6 4 ; 1 c`.
  private static func endOfAttributes(_ bytes: ArraySlice<UInt8>) -> Int? {
    guard bytes.starts(with: "\u{1B}[?".utf8) else { return nil }
    let rest = bytes.dropFirst(3).drop {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ";")
    }
    return rest.first == UInt8(ascii: "c") ? rest.startIndex + 1 : nil
  }

  /// `rgb:rr/gg/bb` with one to four digits each, `rgba:` the same, or `#rrggbb`.
  private static func color(_ reply: ArraySlice<UInt8>) -> Color? {
    let text = String(
      decoding: reply.dropFirst(5).prefix { $0 != 0x07 && $0 != 0x1B }, as: UTF8.self)
    if text.hasPrefix("#") { return Color(name: text) }
    guard let colon = text.firstIndex(of: ":"), ["rgb", "rgba"].contains(text[..<colon]) else {
      return nil
    }
    let parts = text[text.index(after: colon)...].split(separator: "/").compactMap { part in
      (1...4).contains(part.utf8.count)
        ? UInt32(part, radix: 16).map {
          UInt8($0 * 255 / ((1 << (4 * UInt32(part.utf8.count))) - 1))
        }
        : nil
    }
    guard parts.count >= 3 else { return nil }
    return .rgb(parts[0], parts[1], parts[2])
  }
}
