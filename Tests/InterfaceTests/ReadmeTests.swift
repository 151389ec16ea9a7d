import Testing

@testable import Interface

@Suite("The README")
struct ReadmeTests {
  @Test("its table of keys is the one that input goes by")
  func keys() throws {
    let path = Snapshot.package + "/README.md"
    let text = try #require(Snapshot.read(path))
    let (start, end) = ("<!-- keys -->\n", "<!-- /keys -->")
    let head = try #require(text.range(of: start))
    let tail = try #require(text.range(of: end))
    let table = Keymap.markdown() + "\n"
    if Snapshot.isRecording {
      try Snapshot.write(text[..<head.upperBound] + table + text[tail.lowerBound...], to: path)
    } else {
      #expect(text[head.upperBound..<tail.lowerBound] == table)
    }
  }

  @Test("it names every module that the package has")
  func modules() throws {
    let text = try #require(Snapshot.read(Snapshot.package + "/README.md"))
    let start = try #require(text.range(of: "## How it is made"))
    let manifest = try #require(Snapshot.read(Snapshot.package + "/Package.swift"))
    let names = manifest.split(separator: "\n").joined().split(separator: "arget(").dropFirst()
      .compactMap { part -> Substring? in
        let words = part.split(separator: "\"", maxSplits: 2)
        guard words.count == 3, words[0].allSatisfy({ $0 == " " || "name:".contains($0) }) else {
          return nil
        }
        // A dependency that only some systems have is no module of its own.
        guard !words[2].hasPrefix(", condition:") else { return nil }
        return part.contains("path: \"Tests") || words[1].hasSuffix("Tests") ? nil : words[1]
      }
    #expect(names.count > 10)
    for name in names { #expect(text[start.upperBound...].contains("`\(name)`"), "\(name)") }
  }
}

extension String {
  /// The first occurrence of a text; the standard library alone has no search.
  fileprivate func range(of text: String) -> Range<Index>? {
    indices.first { self[$0...].hasPrefix(text) }
      .map { $0..<index($0, offsetBy: text.count) }
  }
}
