import Files
import TestSupport

/// What stands between fences in an article of the program.
enum ArticleBlock {
  /// A block of an article between fences, by a line that is in it.
  static func lines(of article: String, with part: String) throws -> [String] {
    let block = try all(of: article).first { $0.contains { $0.contains(part) } }
    guard let block else { throw CancellationError() }
    return block
  }

  /// Every block of an article between fences.
  static func all(of article: String) throws -> [[String]] {
    let package = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    let text = try FileSystem.read(
      package.joined(separator: "/") + "/Sources/Front/strata/strata.docc/\(article).md")
    let lines = String(decoding: text, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false
    ).map(String.init)
    var blocks: [[String]] = []
    var block: [String]?
    for line in lines {
      if line.hasPrefix("```") {
        if let whole = block { blocks.append(whole) }
        block = block == nil ? [] : nil
      } else {
        block?.append(line)
      }
    }
    return blocks
  }
}
