import Files
import Testing

/// The examples in the article on formats.
enum FormatsArticle {
  /// The lines of each block between fences.
  static func blocks() throws -> [[Substring]] {
    let package = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
      .joined(separator: "/")
    let article = String(
      decoding: try FileSystem.read(package + "/Sources/Front/strata/strata.docc/Formats.md"),
      as: UTF8.self)
    let parts = article.split(separator: "```", omittingEmptySubsequences: false)
    return stride(from: 1, to: parts.count, by: 2).map { parts[$0].split(separator: "\n") }
  }

  /// The JSON that a block shows which begins with this text, behind the commands that print it.
  static func example(_ start: String) throws -> Shelves.JSON {
    let shown = try blocks().map { $0.drop { $0.hasPrefix("$ ") } }
    let block = try #require(
      shown.first { $0.first?.hasPrefix(start) == true }, "no example of \(start)")
    return try Captured.decoded(
      Shelves.JSON.self, from: Array(block.joined(separator: "\n").utf8))
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
