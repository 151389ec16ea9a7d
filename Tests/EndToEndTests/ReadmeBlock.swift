import Files
import TestSupport

/// What stands between fences in the README.
enum ReadmeBlock {
  /// A block of the README between fences, by a line that is in it.
  static func lines(with part: String) throws -> [String] {
    let package = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    let text = try FileSystem.read(package.joined(separator: "/") + "/README.md")
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
