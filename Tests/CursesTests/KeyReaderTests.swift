import CNcurses
import Terminal
import Testing

@testable import Curses

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Bytes of a terminal in, keys out, through curses itself: it knows one terminal at a time.
@Suite("Keys from a terminal", .serialized)
struct KeyReaderTests {
  @Test(
    "bytes become keys",
    arguments: [
      ("a", [Key.character("a")]), ("ä日", [.character("ä"), .character("日")]),
      ("\r", [.enter]), ("\n", [.enter]), ("\t", [.tab]), ("\u{7F}", [.backspace]),
      ("\u{3}", [.control("c")]), ("\u{0}", [.control(" ")]),
      ("\u{1B}OA\u{1B}OB", [.up, .down]), ("\u{1B}[A", [.up]), ("\u{1B}[5~", [.pageUp]),
      ("\u{1B}[Z", [.backTab]), ("\u{1B}[15~", [.function(5)]), ("\u{1B}[1;5C", [.right]),
      ("\u{1B}x", [.alt("x")]), ("\u{1B}[<0;3;2M", [.mouse(.press, x: 2, y: 1)]),
      ("\u{1B}[<64;3;2M", [.mouse(.scrollUp, x: 2, y: 1)]),
      ("\u{1B}[200~a\rb\u{1B}[201~c", [.paste("a\nb"), .character("c")]),
      ("\u{1B}[?62;1c", []), ("\u{1B}[99~", []),
    ])
  func keys(bytes: String, keys: [Key]) throws {
    let terminal = try TestTerminal()
    try terminal.send(Array(bytes.utf8))
    #expect(terminal.keys() == keys)
  }

  @Test("what is no UTF-8 is no key, and the next one is read", arguments: [[0xFF], [0xC3, 0x28]])
  func invalid(bytes: [UInt8]) throws {
    let terminal = try TestTerminal()
    // Curses waits for more of the character, and drops it when nothing comes.
    try terminal.send(bytes)
    #expect(terminal.keys() == [])
    try terminal.send(Array("z".utf8))
    #expect(terminal.keys() == [.character("z")])
  }

  @Test("Escape alone is a key once its delay has passed")
  func escape() throws {
    let terminal = try TestTerminal()
    let start = ContinuousClock.now
    try terminal.send([0x1B])
    #expect(terminal.keys() == [.escape])
    #expect(ContinuousClock.now - start >= .milliseconds(Int(KeyReader.escapeDelay) - 5))
    try terminal.send([0x1B, 0x1B])
    #expect(terminal.keys() == [.escape, .escape])
  }

  @Test("a report of the mouse in two pieces is one")
  func reportInPieces() throws {
    let terminal = try TestTerminal()
    try terminal.send(Array("\u{1B}[<0;12".utf8))
    #expect(terminal.keys() == [])
    try terminal.send(Array(";7Mq".utf8))
    #expect(terminal.keys() == [.mouse(.press, x: 11, y: 6), .character("q")])
  }

  @Test("a paste that comes in pieces is one, wherever it is cut", arguments: 1..<16)
  func pasteInPieces(cut: Int) throws {
    let bytes = Array("\u{1B}[200~soup\u{1B}[201~".utf8)
    let terminal = try TestTerminal()
    try terminal.send(Array(bytes[..<cut]))
    var keys = terminal.keys()
    try terminal.send(Array(bytes[cut...]))
    keys += terminal.keys()
    // Where it is cut behind Escape, or behind its bracket, that was a key when it came alone.
    #expect(keys.filter { $0 != .escape && $0 != .alt("[") } == [.paste("soup")])
  }

  @Test("what was typed before there was a screen comes first")
  func typedBefore() throws {
    let terminal = try TestTerminal()
    try terminal.send(Array("b".utf8))
    #expect(terminal.keys(after: Array("ä".utf8)) == [.character("ä"), .character("b")])
  }

  @Test("an answer about the background that comes late is no key, and told once")
  func lateAnswer() throws {
    let terminal = try TestTerminal()
    try terminal.send(Array("\u{1B}]11;rgb:ffff/ffff/ffff\u{7}x".utf8))
    #expect(terminal.keys() == [.character("x")])
    #expect(terminal.takeBackground() == true)
    #expect(terminal.takeBackground() == nil)
  }
}

@Suite("Key decoding")
struct KeyDecodingTests {
  @Test(
    "sequences that terminfo does not know",
    arguments: [
      ("A", Key.up), ("1;2D", .left), ("7~", .home), ("8~", .end), ("24~", .function(12)),
      ("M", .enter), ("Z", .backTab),
    ])
  func sequences(text: String, key: Key) {
    #expect(KeyDecoding.key(sequence: text) == key)
  }

  @Test("what means nothing is no text", arguments: ["", "99~", "u", "x"])
  func nothing(text: String) {
    #expect(KeyDecoding.key(sequence: text) == nil)
  }

  @Test("bytes as Base64", arguments: [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v")])
  func base64(text: String, encoded: String) {
    #expect(Base64.text(Array(text.utf8)) == encoded)
  }
}
