import Files
import Testing

/// The examples in the article on formats.
enum FormatsArticle {
  /// The JSON of the block that begins with this text.
  static func example(_ start: String) throws -> Shelves.JSON {
    let package = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
      .joined(separator: "/")
    let article = String(
      decoding: try FileSystem.read(package + "/Sources/Front/strata/strata.docc/Formats.md"),
      as: UTF8.self)
    let range = try #require(article.firstRange(of: "```\n" + start), "no example of \(start)")
    let block = article[range.lowerBound...].dropFirst(4)
    let end = try #require(block.firstRange(of: "\n```")).lowerBound
    return try Captured.decoded(Shelves.JSON.self, from: Array(block[..<end].utf8))
  }

  /// Expects a printed line to have the members of the example that begins with a text.
  ///
  /// - Parameter inner: members that have members of their own.
  static func expectMembers(
    of line: some StringProtocol, like start: String, in inner: [String] = [],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let printed = try Captured.decoded(Shelves.JSON.self, from: Array(line.utf8))
    let shown = try example(start)
    #expect(shown.keys == printed.keys && !shown.keys.isEmpty, sourceLocation: sourceLocation)
    for name in inner {
      #expect(
        shown[name]?.keys == printed[name]?.keys && shown[name]?.keys.isEmpty == false, "\(name)",
        sourceLocation: sourceLocation)
    }
  }
}
