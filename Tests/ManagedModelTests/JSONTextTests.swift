import JSON
import ManagedModel
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Strings of JSON")
struct JSONTextTests {
  @Test(
    "what JSON asks for, what terminals obey and what turns text around is escaped",
    arguments: [
      ("plain é 😀 日本 \u{200D}", "plain é 😀 日本 \u{200D}"), ("\"\\/", "\\\"\\\\/"),
      ("\n\r\t", "\\n\\r\\t"), ("\u{0}\u{1F}\u{7F}", "\\u0000\\u001f\\u007f"),
      ("\u{80}\u{9B}\u{9F}\u{A0}", "\\u0080\\u009b\\u009f\u{A0}"),
      ("\u{2027}\u{2028}\u{2029}\u{202F}", "\u{2027}\\u2028\\u2029\u{202F}"),
      ("\u{202A}\u{202E}\u{2066}\u{2069}", "\\u202a\\u202e\\u2066\\u2069"),
      ("\u{61B}\u{61C}\u{200D}\u{200E}\u{200F}", "\u{61B}\\u061c\u{200D}\\u200e\\u200f"),
    ])
  func escapes(text: String, expected: String) {
    #expect(JSONText.quoted(text) == "\"\(expected)\"")
    var json = JSONWriter()
    json.string(text)
    #expect(json.bytes == Array("\"\(expected)\"".utf8))
  }

  @Test("every character comes back, and none of those that are escaped is there as it is")
  func everyCharacter() throws {
    var text = ""
    for value in UInt32(0)...0x30FF {
      if let scalar = Unicode.Scalar(value) { text.unicodeScalars.append(scalar) }
    }
    let json = JSONText.quoted(text)
    #expect(!json.unicodeScalars.contains { $0.isObeyed })
    let read = try JSONDecoder().decode([String].self, from: Data("[\(json)]".utf8))
    #expect(Array(read[0].unicodeScalars) == Array(text.unicodeScalars))
  }

  @Test("messages make the same characters visible")
  func messages() {
    for value in UInt32(0)...0x30FF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let text = String(Character(scalar))
      #expect((text.printable != text) == scalar.isObeyed, "\(value)")
      #expect(!text.printable.unicodeScalars.contains { $0.isObeyed }, "\(value)")
    }
    #expect("a\u{1B}[2J\u{200F}\u{2028}b".printable == #"a\u{1B}[2J\u{200F}\u{2028}b"#)
  }

  @Test(
    "our own reader gives the same text back, a range of characters at a time",
    arguments: [
      0x00...0x1F, 0x20...0x7E, 0x7F...0x9F, 0xA0...0xFF, 0x600...0x61F, 0x2000...0x206F,
      0xD000...0xD7FF, 0xE000...0xE0FF, 0xFE00...0xFFFF, 0x1_F600...0x1_F64F,
      0x10_FF00...0x10_FFFF,
    ] as [ClosedRange<UInt32>])
  func ownReader(values: ClosedRange<UInt32>) throws {
    var text = "\"\\/"
    text.unicodeScalars.append(contentsOf: values.compactMap(Unicode.Scalar.init))
    guard case .string(let read, _) = try JSON5.read(Array(JSONText.quoted(text).utf8)).kind else {
      Issue.record("no text")
      return
    }
    #expect(Array(read.unicodeScalars) == Array(text.unicodeScalars))
  }

  @Test("a pair of surrogates is one character, and half of one is none")
  func surrogates() throws {
    guard case .string(let read, _) = try JSON5.read(Array(#""\ud83d\ude00""#.utf8)).kind else {
      Issue.record("no text")
      return
    }
    #expect(read == "😀")
    #expect(throws: JSON5Mistake.self) { try JSON5.read(Array(#""\ud83d""#.utf8)) }
    #expect(throws: JSON5Mistake.self) { try JSON5.read(Array(#""\ude00""#.utf8)) }
  }
}
