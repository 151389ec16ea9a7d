import Files
import ManagedStore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A file system of a few megabytes, for filling up: only root on Linux can make one.
public final class SmallDisk {
  public let path: String
  private let folder: TemporaryFolder

  public static let isAvailable: Bool = (try? SmallDisk(kilobytes: 64)) != nil

  public init(kilobytes: Int) throws {
    folder = try TemporaryFolder()
    path = folder.path("disk")
    try FileSystem.makeDirectory(path)
    #if os(Linux)
      guard mount("tmpfs", path, "tmpfs", 0, "size=\(kilobytes)k") == 0 else {
        throw FixtureError.missing("a mounted tmpfs")
      }
    #else
      throw FixtureError.missing("a mounted tmpfs")
    #endif
  }

  private var filler: String { path + "/filler" }

  /// Takes all space but that many bytes.
  public func fill(leaving bytes: Int) {
    let descriptor = open(filler, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let page = [UInt8](repeating: 1, count: 4096)
    var free = FileSystem.freeSpace(at: path) ?? 0
    while free > bytes {
      guard write(descriptor, page, page.count) > 0 else { return }
      free -= page.count
    }
  }

  public func empty() { unlink(filler) }

  /// Whether nothing can be written any more, not by root either.
  public func makeReadOnly() -> Bool {
    #if os(Linux)
      mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), "") == 0
    #else
      false
    #endif
  }

  deinit {
    #if os(Linux)
      umount2(path, Int32(MNT_DETACH))
    #endif
  }
}
