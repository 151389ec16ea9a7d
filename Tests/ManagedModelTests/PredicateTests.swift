import Testing

@testable import ManagedModel
@testable import ModelWriting

@Suite("predicate format")
struct PredicateTests {
  @Test(
    "an expression prints as it was written",
    arguments: [
      "pages.@count", "count:(pages)", "now()", "canonical:(name)", "price * 2", "(a + b) * c",
      "$source.owner.name", "FUNCTION($manager, \"x:y:\", \"Mapping\", $source.rel)", "nil", "1.5",
      "\"say \\\"so\\\"\"", "{1, 2, \"x\"}", "SUBQUERY(pages, $p, $p.number > 3)",
      "FETCH($request, $manager.sourceContext, NO)", "TERNARY(a == b, 1, 0)", "SELF", "tags[0]",
      "CAST(a, \"NSDate\")",
    ])
  func expressions(text: String) throws {
    let parsed = try Expression(format: text)
    let printed = parsed.description
    #expect(printed == text)
    var writer = KeyedArchiveWriter()
    let root = writer.add(expression: parsed)
    let archive = try KeyedArchive(writer.bytes(root: root))
    var reader = ArchivedExpressionReader()
    #expect(try reader.expression(archive.root.value).description == text)
  }

  @Test(
    "a predicate prints as it was written",
    arguments: [
      "a == 1", "name ==[cd] \"x\"", "ANY tags.name BEGINSWITH \"a\"", "a > 1 AND b < 2",
      "(a == 1 OR b == 2) AND NOT c == 3", "x IN {1, 2}", "TRUEPREDICATE", "a != nil",
      "SELF MATCHES \"[a-z]+\"", "age BETWEEN {1, 9}", "length <= 20", "note CONTAINS[c] \"y\"",
    ])
  func predicates(text: String) throws {
    let parsed = try Predicate(format: text)
    var writer = KeyedArchiveWriter()
    let root = writer.add(predicate: parsed)
    let archive = try KeyedArchive(writer.bytes(root: root))
    var reader = ArchivedExpressionReader()
    #expect(try reader.predicate(archive.root.value) == parsed)
    // NOT within AND is printed in parentheses.
    let expected = text.replacing("NOT c == 3", with: "(NOT c == 3)")
    #expect(parsed.description == expected)
  }

  @Test(
    "text that is no predicate is an error",
    arguments: [
      "", "a", "a ==", "(a == 1", "a == 1)", "== 1", "a BETWEEN", "\u{0}",
      String(repeating: "(", count: 10_000), String(repeating: "NOT ", count: 10_000),
      String(repeating: "{", count: 10_000),
    ])
  func malformed(text: String) {
    #expect(throws: CoreDataError.self) { try Predicate(format: text) }
  }
}
