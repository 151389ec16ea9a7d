import Terminal
import Testing

@testable import Commands
@testable import strata

@Suite("Help on a terminal")
struct HelpTextTests {
  private static var all: [String] { [CommandLineTool.usage] + CommandTable.commands.map(\.help) }

  private static func words(_ text: String) -> [Substring] {
    text.split { $0 == " " || $0 == "\n" }
  }

  @Test(
    "no line is wider than the terminal, and no word is lost; from 80 cells on none is broken",
    arguments: [50, 80, 100])
  func fits(width: Int) {
    for help in Self.all {
      let fitted = HelpText.fitted(help, width: width)
      let wide = fitted.split(separator: "\n").filter { TextWidth.of(String($0)) > width }
      #expect(wide.isEmpty, "\(wide)")
      let (shown, words) = (Self.words(fitted), Self.words(help))
      #expect(width < 80 ? shown.joined() == words.joined() : shown == words)
    }
  }

  @Test("what fits stays as it is")
  func stays() {
    for help in Self.all { #expect(HelpText.fitted(help, width: 2000) == help) }
  }

  @Test("columns go on under their beginning, paragraphs from the left; brackets are not broken")
  func columns() {
    let help = """
      usage: strata rows STORE ENTITY [--where PREDICATE] [--sort KEY]

        --where PREDICATE  only objects for which an NSPredicate is true
        --sort KEY         their order, by the values of one property

      A paragraph whose first line is long enough to be broken, and
      whose second follows it.
      """
    #expect(
      HelpText.fitted(help, width: 54) == """
        usage: strata rows STORE ENTITY [--where PREDICATE]
               [--sort KEY]

          --where PREDICATE  only objects for which an
                             NSPredicate is true
          --sort KEY         their order, by the values of one
                             property

        A paragraph whose first line is long enough to be
        broken, and whose second follows it.
        """)
  }

  @Test("a terminal gets it fitted, a pipe as it is")
  func console() throws {
    for isTerminal in [true, false] {
      var text = ""
      let console = Console(
        isTerminal: isTerminal, width: 60, out: { text += String(decoding: $0, as: UTF8.self) },
        err: { _ in })
      #expect(CommandLineTool.run(["rows", "--help"], console: console) == .done)
      let longest = text.split(separator: "\n").map { TextWidth.of(String($0)) }.max()
      #expect(try (#require(longest) <= 60) == isTerminal)
    }
  }
}
