import TestSupport
import Testing

@testable import ManagedModel

@Suite("Telling what bytes are")
struct DataKindTests {
  @Test(
    "kinds are told by content",
    arguments: [
      ([], "empty"), ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "PNG"),
      (
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 73, 72, 68, 82]
          + [0, 0, 2, 0x80, 0, 0, 1, 0xE0], "PNG 640×480"
      ),
      ([0xFF, 0xD8, 0xFF, 0xE0], "JPEG"),
      ([0xFF, 0xD8, 0xFF, 0xC0, 0, 17, 8, 0, 32], "JPEG"),
      ([0xFF, 0xD8, 0xFF, 0xE0, 0, 2, 0xFF, 0xC0, 0, 17, 8, 0, 32, 0, 64, 3], "JPEG 64×32"),
      (Array("GIF89a".utf8) + [10, 0, 20, 0], "GIF 10×20"),
      ([0, 0, 0, 24] + Array("ftypheic".utf8), "HEIC"), (Array("%PDF-1.4".utf8), "PDF"),
      ([0x1F, 0x8B, 8, 0], "gzip"), (Array(" {\"a\": 1}\n".utf8), "JSON"),
      (Array("[1, 2]".utf8), "JSON"), (Array("{curly}".utf8), "text"),
      (Array("Grüße".utf8), "text"), ([0xC3], "bytes"), ([0xFF, 0xFE, 0x41], "bytes"),
      ([0x41, 0], "bytes"), (Array("bplist00".utf8), "property list"),
      (Array("<?xml version=\"1.0\"?><plist><dict/></plist>".utf8), "property list"),
    ] as [([UInt8], String)])
  func kinds(bytes: [UInt8], kind: String) {
    #expect(DataKind(bytes).description == kind)
  }

  @Test("a text that was cut within a character is still text")
  func cut() {
    #expect(DataKind(Array("Grüße aus Köln ü".utf8).dropLast(), isWhole: false) == .text)
    #expect(DataKind(Array("{\"a\": [1, 2".utf8), isWhole: false) == .json)
  }

  @Test("an archive unfolds without its classes, a property list too")
  func unfolded() throws {
    let list = PropertyListValue.dictionary([
      "a": .array([.integer(1), .date(0)]), "b": .string("x"),
    ])
    let plain = UnfoldedData(PropertyList.binary(list))
    #expect(plain.kind == .propertyList)
    #expect(
      plain.lines == [
        "dictionary of 2", "  a: array of 2", "    0: 1", "    1: 2001-01-01T00:00:00Z",
        "  b: \"x\"",
      ])
    let archive = PropertyListValue.dictionary([
      "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
      "$top": .dictionary(["root": .uid(1)]),
      "$objects": .array([
        .string("$null"), .dictionary(["$class": .uid(2), "name": .string("n"), "me": .uid(1)]),
        .dictionary(["$classname": .string("App.Secret"), "$classes": .array([])]),
      ]),
    ])
    let unfolded = UnfoldedData(PropertyList.binary(archive))
    #expect(unfolded.kind == .keyedArchive)
    #expect(unfolded.lines == ["App.Secret", "  me: ↻ App.Secret", "  name: \"n\""])
  }

  @Test("bombs and damaged bytes end at once, in bounded lines")
  func bounded() {
    // Each object twice refers to the next: 2^60 paths.
    var objects: [PropertyListValue] = [.string("$null")]
    for index in 1...60 { objects.append(.array([.uid(index + 1), .uid(index + 1)])) }
    let bomb = PropertyListValue.dictionary([
      "$top": .dictionary(["root": .uid(1)]), "$objects": .array(objects),
    ])
    let wide = PropertyListValue.array(Array(repeating: .integer(1), count: 300_000))
    for value in [bomb, wide] {
      let bytes = PropertyList.binary(value)
      let took = ProcessorTime.seconds { #expect(UnfoldedData(bytes).lines.count <= 201) }
      #expect(took < 20)
    }
    var random = SeededGenerator(seed: 41)
    let seed = PropertyList.binary(bomb)
    for _ in 0..<1_000 {
      let bytes = random.mutated(seed)
      #expect(UnfoldedData(bytes).lines.count <= 201)
      _ = UnfoldedData(bytes, isWhole: false)
    }
  }
}
