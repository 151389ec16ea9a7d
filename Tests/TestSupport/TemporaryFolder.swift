import Files
import ManagedStore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A folder for one test, removed when it is let go.
public final class TemporaryFolder: Sendable {
  public let path: String

  public init() throws { path = try FileSystem.makeTemporaryDirectory(prefix: "strata-test") }

  deinit { FileSystem.removeTree(path) }

  /// The path of a name in the folder.
  public func path(_ name: String) -> String { path + "/" + name }

  /// Copies a fixture here with its -wal, and its external data where there is any.
  public func copy(fixture relative: String, as name: String? = nil) throws -> String {
    let source = Fixtures.path(relative)
    let target = path(name ?? FileSystem.name(of: relative))
    try FileSystem.copyOver(source, to: target)
    if FileSystem.isFile(source + "-wal") {
      try FileSystem.copyOver(source + "-wal", to: target + "-wal")
    }
    return target
  }

  /// Every file in the folder with its bytes, to tell that nothing changed.
  public func contents() throws -> [String: [UInt8]] {
    var result: [String: [UInt8]] = [:]
    for name in try FileSystem.list(path) where FileSystem.isFile(path(name)) {
      result[name] = try FileSystem.read(path(name))
    }
    return result
  }
}

/// Makes a symbolic link; false where that failed.
public func symbolicLink(_ path: String, to target: String) -> Bool { symlink(target, path) == 0 }
