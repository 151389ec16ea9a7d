import Terminal
import Testing

@Suite("Keys")
struct KeyTests {
  @Test(
    "a key is found again by its name",
    arguments: [
      Key.enter, .escape, .tab, .backTab, .backspace, .up, .pageDown, .insert, .delete,
      .function(12), .control("c"), .alt("X"), .character("?"), .character("^"), .space,
      .character("é"), .control("["),
    ])
  func roundTrip(key: Key) {
    #expect(Key(name: key.name) == key)
  }

  @Test(
    "keys can be written in words",
    arguments: [
      ("ctrl-c", Key.control("c")), ("^C", .control("c")), ("enter", .enter),
      ("Shift-Tab", .backTab),
      ("alt-b", .alt("b")), ("f5", .function(5)), ("space", .space), ("f", .character("f")),
    ])
  func words(name: String, key: Key) {
    #expect(Key(name: name) == key)
  }

  @Test("what is no key is none", arguments: ["", "nothing", "ctrl-", "f99", "^"])
  func none(name: String) {
    #expect(Key(name: name) == (name == "^" ? .character("^") : nil))
  }
}
