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
}

extension String {
  /// The first occurrence of a text; the standard library alone has no search.
  fileprivate func range(of text: String) -> Range<Index>? {
    indices.first { self[$0...].hasPrefix(text) }
      .map { $0..<index($0, offsetBy: text.count) }
  }
}
