import Files
import TestSupport

/// What stands between fences in an article of the program.
enum ArticleBlock {
  /// A block of an article between fences, by a line that is in it.
  static func lines(of article: String, with part: String) throws -> [String] {
    let package = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    let text = try FileSystem.read(
      package.joined(separator: "/") + "/Sources/Front/strata/strata.docc/\(article).md")
    let lines = String(decoding: text, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false
    ).map(String.init)
    var block: [String]?
    for line in lines {
      if line.hasPrefix("```") {
        if let whole = block, whole.contains(where: { $0.contains(part) }) { return whole }
        block = block == nil ? [] : nil
      } else {
        block?.append(line)
      }
    }
    throw CancellationError()
  }
}
