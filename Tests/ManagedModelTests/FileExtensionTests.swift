import Testing

@testable import Values

@Suite("Names of exported files")
struct FileExtensionTests {
  private static let contents: [(String, [UInt8])] = [
    ("png", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]), ("jpg", [0xFF, 0xD8, 0xFF, 0xE1]),
    ("gif", Array("GIF89a".utf8)), ("pdf", Array("%PDF-1.7".utf8)), ("gz", [0x1F, 0x8B, 8, 0]),
    ("zip", Array("PK\u{03}\u{04}".utf8)), ("caf", Array("caff".utf8)),
    ("wav", Array("RIFF0000WAVE".utf8)), ("webp", Array("RIFF0000WEBP".utf8)),
    ("mp3", Array("ID3".utf8)), ("mp3", [0xFF, 0xFB, 0x90, 0]),
    ("heic", [0, 0, 0, 24] + Array("ftypheic0000".utf8)),
    ("m4a", [0, 0, 0, 24] + Array("ftypM4A 0000".utf8)),
    ("mov", [0, 0, 0, 24] + Array("ftypqt  0000".utf8)),
    ("mp4", [0, 0, 0, 24] + Array("ftypisom0000".utf8)), ("tiff", [0x49, 0x49, 0x2A, 0]),
    ("json", Array("{\"a\": 1}".utf8)), ("txt", Array("soup".utf8)), ("bin", []),
    ("bin", [0, 1, 2, 3]), ("bin", [0xFF]),
    ("plist", PropertyList.binary(.dictionary(["k": .integer(1)]))),
  ]

  @Test("the extension follows from the content", arguments: 0..<contents.count)
  func content(_ index: Int) {
    let (name, bytes) = Self.contents[index]
    #expect(FileExtension(bytes, isWhole: true).rawValue == name)
  }

  @Test("no name leads elsewhere, is too long or is another's but for case")
  func names() {
    var made: Set<String> = []
    let names = [
      "..", "../../etc/passwd", "a/b", "\u{1B}[2J", "\u{202E}x", "", "Nul", "Recipe", "RECIPE",
      "recipe", "a-p1", "Straße", "STRASSE", String(repeating: "é", count: 200),
      String(repeating: "é", count: 201),
    ].map { SafeName.make(of: $0, besides: &made) }
    for name in names {
      #expect(!name.isEmpty && name.utf8.count <= 100)
      #expect(
        name.unicodeScalars.allSatisfy {
          $0 == "_" || $0.properties.isAlphabetic || $0.properties.numericType != nil
        }, "\(name)")
    }
    #expect(Set(names.map { $0.lowercased() }).count == names.count)
    #expect(names.contains("Recipe") && names.contains("RECIPE_2") && names.contains("recipe_3"))
    #expect(names.contains("Straße") && names.contains("STRASSE_2"))
  }
}
