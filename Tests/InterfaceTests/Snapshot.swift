import Terminal
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A screen as text, compared with the file of that name in Snapshots.
///
/// With STRATA_RECORD set, the files are written instead; review them with git diff.
enum Snapshot {
  static let isRecording = getenv("STRATA_RECORD") != nil

  /// The folder of the package.
  static let package = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    .dropLast(3).joined(separator: "/")

  /// The file of an article of the program.
  static func article(_ name: String) -> String {
    "\(package)/Sources/Front/strata/strata.docc/\(name).md"
  }

  static func expect(_ grid: Grid, named name: String) throws {
    try expect(grid.description + "\n", named: name)
  }

  static func expect(_ text: String, named name: String) throws {
    let path = "\(package)/Tests/InterfaceTests/Snapshots/\(name).txt"
    if isRecording {
      try write(text, to: path)
      return
    }
    let expected = read(path)
    #expect(text == expected, "\(name) looks different:\n\(text)")
  }

  static func read(_ path: String) -> String? {
    guard let file = fopen(path, "rb") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 18)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  static func write(_ text: String, to path: String) throws {
    let file = try #require(fopen(path, "wb"))
    defer { fclose(file) }
    let bytes = Array(text.utf8)
    #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
  }
}
