import JSON
import ManagedModel
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("JSON5")
struct JSON5Tests {
  private func read(_ text: String) throws -> JSON5 { try JSON5.read(Array(text.utf8)) }

  @Test("JSON5's conveniences are read")
  func values() throws {
    let json = try read(
      """
      \u{FEFF}// first
      { unquoted: 1, 'single': 'it''s'.length, }
      """.replacing("'it''s'.length", with: "'it\\'s \\x41\\u00e9\\uD83D\\uDE00 \\\n on'"))
    #expect(
      json.propertyList
        == .dictionary(["unquoted": .integer(1), "single": .string("it's Aé😀  on")]))
    let numbers = try read(
      "[0, -1, +2, .5, 5., 1e3, 0x1F, -0X10, Infinity, -Infinity, 20000000000000000000,]")
    #expect(
      numbers.propertyList
        == .array([
          .integer(0), .integer(-1), .integer(2), .real(0.5), .real(5), .real(1000), .integer(31),
          .integer(-16), .real(.infinity), .real(-.infinity), .real(2e19),
        ]))
    #expect(
      try read("/* a */ [true, false, null] /**/").propertyList
        == .array([.boolean(true), .boolean(false), .null]))
  }

  @Test("values and keys know where they stand")
  func places() throws {
    let json = try read(#"{ "a": ['é', x: 1] }"#.replacing(", x: 1", with: ""))
    guard case .object(let members) = json.kind, case .array(let elements) = members[0].value.kind
    else {
      Issue.record("no object")
      return
    }
    #expect(members[0].keyRange == 2..<5)
    #expect(members[0].value.range == 7..<13)
    #expect(elements[0].range == 8..<12)
  }

  @Test(
    "what is no JSON5 is refused where it stands",
    arguments: [
      ("", 0, "a value is missing at the end"), ("{a}", 2, "“:” is expected after the key “a”"),
      ("[1 2]", 3, "“,” or “]” is expected here"), ("{a:1 b:2}", 5, "“,” or “}” is expected here"),
      ("[1", 0, "“[” is not closed"), ("'a", 0, "the text is not closed"),
      ("/* a", 0, "the comment is not closed"), ("1 2", 2, "unexpected text after the end"),
      ("[,]", 1, "a value is expected here"), ("1x", 0, "invalid number"),
      ("--1", 0, "invalid number"), ("0x", 0, "invalid number"),
      ("1e999x", 0, "invalid number"),
      ("\"\\u12\"", 1, "the escape needs 4 hexadecimal digits"),
      ("\"\\uD800\"", 1, "unpaired surrogate"), ("\"\\8\"", 1, "invalid escape"),
      ("{a:1,a:2}", 5, "the key “a” appears twice"), ("{\u{0}:1}", 1, "a key is expected here"),
    ])
  func mistakes(_ text: String, _ place: Int, _ message: String) throws {
    let error = #expect(throws: JSON5Mistake.self) { try read(text) }
    #expect(error?.message == message)
    #expect(error?.range.lowerBound == place)
  }

  @Test("deep nesting is refused, and length costs no more than itself")
  func bounds() throws {
    #expect(throws: JSON5Mistake.self) { try read(String(repeating: "[", count: 1_000_000)) }
    #expect(throws: JSON5Mistake.self) { try read(String(repeating: "{a:", count: 1_000_000)) }
    let growth = try ProcessorTime.growth(
      from: 12_500, of: { "[" + String(repeating: "1,", count: $0) + "]" }
    ) { _ = try read($0) }
    #expect(growth < 8)
  }
}
