import Terminal
import Testing

@testable import Commands
@testable import strata

@Suite("Messages in a terminal")
struct MessageWidthTests {
  private func lines(_ text: String, width: Int, isTerminal: Bool = true) -> [String] {
    var bytes: [UInt8] = []
    let console = Console(
      isErrorTerminal: isTerminal, errorWidth: { width },
      isCommand: { CommandTable.command(named: $0) != nil }, out: { _ in }, err: { bytes += $0 })
    console.note(text)
    return String(decoding: bytes, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false
    ).dropLast().map(String.init)
  }

  @Test("are broken between words, and not at all in a pipe")
  func words() {
    let text = "strata: the store has no such entity: Recipes.sqlite, Recip"
    #expect(
      lines(text, width: 30) == [
        "strata: the store has no such", "entity: Recipes.sqlite, Recip",
      ])
    #expect(lines(text, width: 30, isTerminal: false) == [text])
    #expect(lines(text, width: TextWidth.of(text)) == [text])
  }

  @Test("keep how far they are in, and the spaces of what has room")
  func indented() {
    #expect(lines("  first:   a", width: 30) == ["  first:   a"])
    #expect(lines("  one two three", width: 9) == ["  one two", "  three"])
  }

  @Test("a command in one stays in one line, so that it can be copied")
  func commands() {
    let command = "strata migrate Recipes.sqlite --to 'Recipes 2' --allow-loss Draft"
    #expect(
      lines("To accept the loss of its objects: " + command, width: 40) == [
        "To accept the loss of its objects:", command,
      ])
    // The program's name alone begins none.
    #expect(lines("what strata wrote is there", width: 16) == ["what strata", "wrote is there"])
  }

  @Test("a word that has no room is left to the terminal, and no line is empty")
  func long() {
    let path = String(repeating: "folder/", count: 9)
    #expect(lines("strata: \(path) is no store", width: 20) == ["strata:", path, "is no store"])
  }

  @Test("have the colour of their first line in every line")
  func colored() {
    var bytes: [UInt8] = []
    let console = Console(
      isErrorTerminal: true, errorWidth: { 20 }, environment: { $0 == "TERM" ? "xterm" : nil },
      out: { _ in }, err: { bytes += $0 })
    console.color(.always)
    console.note("strata: nothing of it can be read")
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.split(separator: "\n").allSatisfy { $0.hasPrefix("\u{1B}[1;31m") })
    #expect(text.split(separator: "\n").count == 2)
  }
}
