import Files
import Terminal
import Testing

@testable import Commands
@testable import strata

@Suite("Topics of help")
struct HelpTopicTests {
  private static let package =
    #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    .joined(separator: "/")

  private static func text(_ path: String) throws -> String {
    String(decoding: try FileSystem.read(package + "/" + path), as: UTF8.self)
  }

  @Test("help of a topic prints its article without markup", arguments: Topic.all.map(\.name))
  func article(_ name: String) throws {
    let topic = try #require(Topic.topic(named: name))
    let title = topic.article.split(separator: "\n").first?.dropFirst(2) ?? ""
    let help = Captured(["help", name], width: 100)
    #expect(help.status == .done && help.err.isEmpty)
    #expect(help.lines.first == title && !title.isEmpty)
    #expect(help.lines.count > 20)
    for markup in ["``", "<doc:", "\n#", "\n|", "](", "## Topics"] {
      #expect(!help.out.contains(markup), "\(markup)")
    }
    // Code stands four cells in and is not broken.
    for line in help.lines where !line.hasPrefix("    ") {
      #expect(TextWidth.of(String(line)) <= 100, "\(line)")
    }
  }

  /// A person who has the program need not have its documentation: neither other articles nor the libraries' symbols.
  @Test(
    "each article that a topic names is a topic itself, and it names no symbol",
    arguments: Topic.all)
  func references(_ topic: Topic) throws {
    let printed = ["\n## In Swift\n", "\n## Topics\n"].reduce(topic.article[...]) { text, heading in
      text.prefix(upTo: text.firstRange(of: heading)?.lowerBound ?? text.endIndex)
    }
    #expect(!printed.replacing("```", with: "").contains("``"))
    for reference in printed.matches(of: /<doc:(\w+)>/) {
      #expect(Topic.topic(named: reference.1.lowercased()) != nil, "\(reference.0)")
    }
    // By hand, as “the article …”, neither.
    #expect(!printed.contains("article"), "\(topic.name)")
    for reference in printed.matches(of: /strata help (\w+)/) {
      #expect(HelpCommand.names.contains(String(reference.1)), "\(reference.0)")
    }
  }

  @Test("help lists commands and topics, and prints the help of a command")
  func list() {
    let help = Captured("help")
    #expect(help.status == .done)
    for name in HelpCommand.names { #expect(help.out.contains(name), "\(name)") }
    #expect(Captured("help", "rows").out == Captured("rows", "--help").out)
    #expect(Captured("--help", "recipes").out == Captured("help", "recipes").out)
  }

  @Test("an unknown topic is wrong usage, with what was probably meant")
  func unknown() {
    let near = Captured("help", "recipe")
    #expect(near.status == .usage && near.out.isEmpty)
    #expect(near.err.contains("Did you mean “strata help recipes”?"))
    let far = Captured("help", "nothinglikethis")
    #expect(far.status == .usage)
    for topic in Topic.all { #expect(far.err.contains(topic.name)) }
  }

  @Test("no topic has the name of a command, which would hide it")
  func names() {
    #expect(Set(HelpCommand.names).count == HelpCommand.names.count)
  }

  @Test("markup becomes plain text: headings, links, lists, tables and code")
  func markup() {
    let lines = ArticleText.lines(
      of: """
        # A title

        ## Overview

        A *line* and ``a `b` c``,
        `a * b` and <doc:Recipes>, [a link](x.md).

        - one item that is
          too long
        - two

        | a | b |
        | --- | --- |
        | `x \\| y` | some words in a cell |

        ```
        code that is longer than the width of the text
        ```

        ## In Swift

        ``Recipe`` is a type.
        """, width: 36)
    #expect(
      lines.map { ($0.isHeading ? "#" : "") + $0.text } == [
        "#A title", "",
        "A line and `a `b` c`, `a * b` and", "`strata help recipes`, a link.", "",
        "- one item that is too long", "- two", "",
        "#a        b", "`x | y`  some words in a cell", "",
        "    code that is longer than the width of the text",
      ])
  }

  @Test("the article on statuses has every status that a command's help names")
  func statuses() throws {
    let rows = try Self.text("Sources/Front/strata/strata.docc/Statuses.md").split(separator: "\n")
    for command in CommandTable.commands where !command.statuses.isEmpty {
      let row = try #require(
        rows.first { $0.hasPrefix("| `\(command.name)` |") }, "\(command.name)")
      for status in command.statuses.split(whereSeparator: { !$0.isNumber }) {
        let words = row.split { !$0.isNumber }
        #expect(words.contains(status), "\(command.name): \(status)")
      }
    }
    for status in CommandStatus.allCases {
      #expect(rows.contains { $0.hasPrefix("| \(status.rawValue) |") }, "\(status)")
    }
    // Of rows that are all there, too.
    #expect(rows.contains { $0.contains("other values in an index") })
  }

  @Test("the README's table is that of the commands, and the article on commands names every one")
  func commands() throws {
    let readme = try Self.text("README.md")
    let article = try Self.text("Sources/Front/strata/strata.docc/Commands.md")
    let rows = CommandTable.commands.map { "| `\($0.name)` | \($0.summary) |\n" }.joined()
    #expect(readme.contains("| command | does |\n| --- | --- |\n\(rows)\n"))
    for command in CommandTable.commands {
      #expect(article.contains("| `strata \(command.name)"), "\(command.name)")
    }
  }
}
