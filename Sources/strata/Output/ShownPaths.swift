import Files
import JSON
import Synchronization
import Terminal

/// What private copies of stores are called in all that is printed: a person named a place in a
/// container, and has no use for where its copy is.
enum ShownPaths {
  private struct Path {
    let id: Int
    /// The folder that holds the copy, with a slash behind it.
    let real: [UInt8]
    /// The same as text.
    let text: [UInt8]
    /// The same within JSON's quotes.
    let json: [UInt8]
  }

  private static let paths = Mutex<(last: Int, all: [Path])>((0, []))
  private static let count = Atomic<Int>(0)

  /// Shows what is in a folder as being in a container, as long as `body` runs.
  static func showing<T>(
    _ shown: [(root: String, container: String)], _ body: () throws -> T
  ) rethrows -> T {
    var ids: Set<Int> = []
    paths.withLock { paths in
      for (root, container) in shown {
        let name = container + "//"
        for real in Set([root, FileSystem.canonical(root)]) {
          paths.last += 1
          ids.insert(paths.last)
          paths.all.append(
            Path(
              id: paths.last, real: Array((real + "/").utf8), text: Array(Sanitize.text(name).utf8),
              json: Array(JSONText.quoted(name).utf8.dropFirst().dropLast())))
        }
      }
      count.store(paths.all.count, ordering: .relaxed)
    }
    defer {
      paths.withLock { paths in
        paths.all.removeAll { ids.contains($0.id) }
        count.store(paths.all.count, ordering: .relaxed)
      }
    }
    return try body()
  }

  /// What is printed, with the containers' names.
  static func applied(to bytes: [UInt8]) -> [UInt8] {
    guard count.load(ordering: .relaxed) > 0 else { return bytes }
    let isJSON = bytes.first == UInt8(ascii: "{") || bytes.first == UInt8(ascii: "[")
    return paths.withLock(\.all).reduce(bytes) { bytes, path in
      replacing(path.real, with: isJSON ? path.json : path.text, in: bytes)
    }
  }

  private static func replacing(
    _ pattern: [UInt8], with text: [UInt8], in bytes: [UInt8]
  ) -> [UInt8] {
    var result: [UInt8] = []
    var start = 0
    while let found = ByteSearch.place(of: pattern, in: bytes, from: start) {
      result += bytes[start..<found]
      result += text
      start = found + pattern.count
    }
    return start == 0 ? bytes : result + bytes[start...]
  }
}
