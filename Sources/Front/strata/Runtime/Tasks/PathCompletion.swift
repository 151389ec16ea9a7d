import Files

/// Paths that a person may mean, from what is typed so far.
enum PathCompletion {
  private static let limit = 200

  /// Folders and models whose paths begin so, in the order of their names.
  static func paths(beginning text: String) -> [String] {
    let slash = text.lastIndex(of: "/")
    let folder = slash.map { String(text[...$0]) } ?? ""
    let start = slash.map { String(text[text.index(after: $0)...]) } ?? text
    let names = (try? FileSystem.list(folder.isEmpty ? "." : folder)) ?? []
    var paths: [String] = []
    for name in names.sorted() where name.hasPrefix(start) {
      guard !name.hasPrefix(".") || start.hasPrefix(".") else { continue }
      let path = folder + name
      let isModel =
        [".xcdatamodeld", ".momd", ".xcdatamodel", ".mom", ".swift", ".sqlite", ".store", ".db"]
        .contains { name.hasSuffix($0) }
      if isModel {
        paths.append(path)
      } else if FileSystem.isDirectory(path) {
        paths.append(path + "/")
      }
      if paths.count == limit { break }
    }
    return paths
  }
}
