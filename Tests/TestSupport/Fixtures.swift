#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Real files that Apple's tools wrote, kept outside the repository.
///
/// Tests that need them are skipped where they are absent:
/// `@Test(.enabled(if: Fixtures.isAvailable, "fixtures are absent"))`.
public enum Fixtures {
  /// The folder `shared/fixtures` beside the package.
  public static let root: String = {
    let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    // …/<package>/Tests/TestSupport/Fixtures.swift
    return parts.dropLast(4).joined(separator: "/") + "/shared/fixtures"
  }()

  public static let isAvailable = access(root + "/README.md", R_OK) == 0

  /// The absolute path of a fixture such as `wire/store2-6.wiredatabase`.
  public static func path(_ relative: String) -> String { root + "/" + relative }

  /// The bytes of a fixture.
  public static func bytes(_ relative: String) throws -> [UInt8] {
    try readFile(path(relative))
  }

  /// Relative paths of all fixtures whose path ends so, sorted.
  public static func paths(endingWith suffix: String) -> [String] {
    guard isAvailable else { return [] }
    return files(in: "").filter { $0.hasSuffix(suffix) }.sorted()
  }

  /// Relative path to bytes of every file below a folder of the fixtures, such as a `.momd`.
  public static func contents(of folder: String) throws -> [String: [UInt8]] {
    var result: [String: [UInt8]] = [:]
    for path in files(in: folder + "/") {
      result[String(path.dropFirst(folder.utf8.count + 1))] = try bytes(path)
    }
    return result
  }

  /// The bytes of any file.
  public static func readFile(_ path: String) throws -> [UInt8] {
    guard let file = fopen(path, "rb") else { throw FixtureError.missing(path) }
    defer { fclose(file) }
    var result: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      if count == 0 { return result }
      result.append(contentsOf: buffer[..<count])
    }
  }

  private static func files(in folder: String) -> [String] {
    guard let handle = opendir(root + "/" + folder) else { return [] }
    defer { closedir(handle) }
    var result: [String] = []
    while let entry = readdir(handle) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard name != ".", name != ".." else { continue }
      var status = stat()
      guard stat(root + "/" + folder + name, &status) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFDIR {
        result += files(in: folder + name + "/")
      } else {
        result.append(folder + name)
      }
    }
    return result
  }
}

public enum FixtureError: Error {
  case missing(String)
}
