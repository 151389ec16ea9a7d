import CNcurses
import Terminal

/// Reads keys without waiting, and remembers a paste that has not ended yet.
struct KeyReader {
  /// Milliseconds after which an Escape that nothing follows is the key.
  static let escapeDelay: Int32 = 25

  /// Has curses decode function keys, wait for none, and report what is decoded here by codes of ours.
  static func prepare() {
    keypad(strata_window(), true)
    nodelay(strata_window(), true)
    // Instead of curses' own: curses shows neither a drag nor where a click ended.
    define_key("\u{1B}[<", KeyDecoding.mouseReport)
    define_key("\u{1B}[M", KeyDecoding.oldMouseReport)
    define_key("\u{1B}[200~", KeyDecoding.pasteStart)
    define_key("\u{1B}[201~", KeyDecoding.pasteEnd)
  }

  /// An answer longer than this is none.
  private static let replyLimit = 64

  private var paste = PasteDecoding()
  /// What is still to come of the mark of a paste's beginning, whose first piece ended the input.
  private var pasteMark: Substring = ""
  private var mouse = MouseDecoding()
  /// A report of the mouse whose end may come with a later read.
  private var report: String?
  /// Input to read before that of curses.
  private var pending: [Input] = []
  /// A terminal's answer whose end may come with a later read, and how long it may still be.
  private var reply: (kind: Reply, left: Int)?

  /// What of an answer about the background has come so far.
  private var replyText = ""
  /// Whether the terminal reported, late, that its background is light; until somebody takes it.
  private var lateBackground: Bool?

  private enum Reply { case color, attributes }

  /// Whether the background is light, once after the terminal reported so.
  mutating func takeBackground() -> Bool? {
    defer { lateBackground = nil }
    return lateBackground
  }

  /// Takes what was typed before there was a screen, as UTF-8.
  mutating func prepend(_ bytes: [UInt8]) {
    pending = String(decoding: bytes, as: UTF8.self).unicodeScalars.map { .scalar($0) } + pending
  }

  /// The next key, or `nil` if none can be read right now.
  mutating func next() -> Key? {
    while let input = read() {
      if paste.isOpen {
        if let key = continuePaste(input) { return key }
        continue
      }
      if !pasteMark.isEmpty, continuePasteMark(input) { continue }
      if reply != nil, continueReply(input) { continue }
      if report != nil {
        if let key = continueReport(input) { return key }
        continue
      }
      switch input {
      case .code(KeyDecoding.pasteStart): paste.begin(at: .now)
      case .code(KeyDecoding.mouseReport): report = ""
      case .code(KeyDecoding.oldMouseReport):
        var scalars: [Unicode.Scalar] = []
        while scalars.count < 3, case .scalar(let scalar)? = read() { scalars.append(scalar) }
        if let key = mouse.key(old: scalars, at: .now) { return key }
      case .code(let code):
        if let key = KeyDecoding.key(code: code) { return key }
      case .scalar("\u{1B}"): if let key = afterEscape() { return key }
      case .scalar(let scalar):
        if let key = KeyDecoding.key(scalar: scalar) { return key }
      }
    }
    return nil
  }

  private enum Input: Equatable {
    case code(Int32)
    case scalar(Unicode.Scalar)
  }

  private mutating func read() -> Input? {
    if !pending.isEmpty { return pending.removeFirst() }
    var value: wint_t = 0
    switch wget_wch(strata_window(), &value) {
    case KEY_CODE_YES: return .code(Int32(truncatingIfNeeded: value))
    case OK:
      return .scalar(Unicode.Scalar(UInt32(truncatingIfNeeded: value)) ?? "\u{FFFD}")
    default: return nil
    }
  }

  /// Takes a character of a report: `0;12;5M`.
  private mutating func continueReport(_ input: Input) -> Key? {
    guard case .scalar(let scalar) = input, let text = report, text.utf8.count < 32 else {
      report = nil
      return nil
    }
    report?.unicodeScalars.append(scalar)
    guard (0x40...0x7E).contains(scalar.value) else { return nil }
    defer { report = nil }
    return mouse.key(report: text + String(Character(scalar)), at: .now)
  }

  private mutating func continuePaste(_ input: Input) -> Key? {
    switch input {
    case .code(KeyDecoding.pasteEnd): return paste.finish()
    case .code(KEY_ENTER): return paste.take("\n", at: .now)
    case .scalar(let scalar): return paste.take(scalar, at: .now)
    case .code: return nil
    }
  }

  /// Goes on with a mark that came in pieces.
  ///
  /// - Returns: false where it is none, and the input is a key as any other.
  private mutating func continuePasteMark(_ input: Input) -> Bool {
    var rest = pasteMark
    // No hand types Escape, bracket and digit: what follows them may take its time.
    let mayWait = rest.count < KeyDecoding.pasteMark.count - 1
    pasteMark = ""
    var taken: [Input] = []
    var next: Input? = input
    while let scalar = rest.unicodeScalars.first {
      guard let found = next, case .scalar(scalar) = found else { break }
      taken.append(found)
      rest = rest.dropFirst()
      next = rest.isEmpty ? nil : read()
    }
    if rest.isEmpty {
      paste.begin(at: .now)
      return true
    }
    if next == nil, mayWait {
      pasteMark = rest
      return true
    }
    // The first is being looked at already.
    pending = Array(taken.dropFirst()) + (taken.isEmpty ? [] : [next].compactMap { $0 }) + pending
    return false
  }

  /// Escape alone, a letter held with Alt, or a sequence that terminfo does not know.
  private mutating func afterEscape() -> Key? {
    guard let input = read() else {
      pasteMark = KeyDecoding.pasteMark[...]
      return .escape
    }
    switch input {
    case .code(let code): return KeyDecoding.key(code: code)
    case .scalar("\u{1B}"):
      pending.insert(input, at: 0)
      return .escape
    case .scalar("]"):
      // An answer of the terminal that came late: it is no key. Alt with a bracket comes alone.
      guard let next = read() else { return .alt("]") }
      reply = (.color, Self.replyLimit)
      replyText = ""
      if continueReply(next) { return nil }
      pending.insert(next, at: 0)
      return .alt("]")
    case .scalar("["), .scalar("O"):
      var sequence = ""
      while sequence.utf8.count < 64, case .scalar(let scalar)? = read() {
        sequence.unicodeScalars.append(scalar)
        if (0x40...0x7E).contains(scalar.value) { return finish(sequence) }
      }
      if case .scalar("[") = input, KeyDecoding.pasteMark.hasPrefix("[" + sequence) {
        pasteMark = KeyDecoding.pasteMark.dropFirst(sequence.count + 1)
      }
      if sequence.hasPrefix("?") { reply = (.attributes, Self.replyLimit) }
      if sequence.isEmpty, case .scalar(let scalar) = input { return .alt(Character(scalar)) }
      return nil
    case .scalar(let scalar):
      return .alt(Character(scalar))
    }
  }

  /// Passes over a character of an answer: `11;rgb:…` up to BEL or `ESC \`, or `?64;1` up to `c`.
  ///
  /// - Returns: false where it is a key.
  private mutating func continueReply(_ input: Input) -> Bool {
    guard let (kind, left) = reply, left > 0, case .scalar(let scalar) = input else {
      reply = nil
      return false
    }
    reply = (kind, left - 1)
    if kind == .color { replyText.unicodeScalars.append(scalar) }
    switch (kind, scalar) {
    case (.color, "\u{07}"), (.attributes, "c"):
      reply = nil
      if kind == .color { takeReply() }
      return true
    case (.color, "\u{1B}"):
      reply = nil
      guard let next = read() else { return false }
      if case .scalar("\\") = next {
        takeReply()
        return true
      }
      pending.insert(next, at: 0)
      return false
    case (_, "0"..."9"), (_, ";"): return true
    case (.color, "a"..."f"), (.color, "A"..."F"), (.color, "r"), (.color, "g"), (.color, ":"),
      (.color, "/"), (.color, "#"):
      return true
    default:
      reply = nil
      return false
    }
  }

  private mutating func takeReply() {
    let text = "\u{1B}]" + replyText.prefix { $0 != "\u{07}" && $0 != "\u{1B}" } + "\u{07}"
    lateBackground = BackgroundReply(Array(text.utf8)).isLight
  }

  private mutating func finish(_ sequence: String) -> Key? {
    if "[" + sequence == KeyDecoding.pasteMark {
      paste.begin(at: .now)
      return nil
    }
    return KeyDecoding.key(sequence: sequence)
  }
}

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
