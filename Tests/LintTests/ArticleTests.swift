import Files
import Lint
import ManagedModel
import Testing

@Suite("The article on the rules")
struct ArticleTests {
  private static let path =
    #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    .joined(separator: "/") + "/Sources/Lint/Lint.docc/LintRules.md"

  /// A page a rule, out of the rules' own texts.
  private static var article: String {
    var text = """
      # The rules of lint

      A page for each rule: when it fires, what happens on a device, and what to do.

      ## Overview

      Made of the texts in `LintRule` by a test (`STRATA_RECORD=1 swift test --filter ArticleTests` writes it), as
      `strata lint --explain RULE` prints them.

      | rule | by default | fires when |
      | --- | --- | --- |

      """
    for rule in LintRule.all {
      text += "| `\(rule.id)` | \(rule.severity.rawValue) | \(rule.title) |\n"
    }
    for rule in LintRule.all {
      text += "\n## \(rule.id)\n\n" + rule.page.joined(separator: "\n\n") + "\n"
    }
    return text
  }

  @Test("has a page for every rule, in the rules' own words")
  func article() throws {
    if getenv("STRATA_RECORD") != nil {
      try FileSystem.write(Array(Self.article.utf8), to: Self.path)
    }
    let text = String(decoding: try FileSystem.read(Self.path), as: UTF8.self)
    #expect(text == Self.article)
  }
}
