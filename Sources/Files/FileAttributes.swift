import Values

/// Who may do what with a file, and what is attached to it: owner, mode, ACL, extended attributes.
///
/// Asked by name and never through a descriptor of its own: closing one would drop the locks that
/// this process holds on the file, as POSIX has it.
package enum FileAttributes {
  /// Gives a file or folder the attributes of another.
  ///
  /// Root migrates for a user, whose app must be able to open the result. Where the group cannot be
  /// given, its rights are not either: another group would get them.
  ///
  /// - Returns: what could not be given, as sentences.
  @discardableResult
  package static func copy(from source: String, to destination: String) -> [String] {
    var (info, made) = (stat(), stat())
    guard stat(source, &info) == 0, stat(destination, &made) == 0 else { return [] }
    var problems: [String] = []
    if info.st_gid != made.st_gid { _ = chown(destination, uid_t.max, info.st_gid) }
    if info.st_uid != made.st_uid { _ = chown(destination, info.st_uid, gid_t.max) }
    _ = stat(destination, &made)
    var mode = info.st_mode & 0o7777
    if made.st_gid != info.st_gid { mode &= ~0o070 | (mode & 0o007) << 3 }
    let name = FileSystem.name(of: source)
    if made.st_uid != info.st_uid {
      problems.append(
        "\(name) belonged to user \(info.st_uid) and belongs to user \(made.st_uid) now: only root can give it back."
      )
    }
    problems += copyLists(from: source, to: destination, name)
    if chmod(destination, mode) != 0 {
      problems.append("The permissions of \(name) could not be set: \(reason()).")
    }
    return problems
  }

  /// Gives a private file the permissions of any new one.
  package static func makeOrdinary(_ path: String) {
    let mask = umask(0o077)
    umask(mask)
    chmod(path, 0o644 & ~mask)
  }

  private static func reason() -> String { String(cString: strerror(errno)) }

  #if canImport(Darwin)
    private static func copyLists(
      from source: String, to destination: String, _ name: String
    )
      -> [String]
    {
      let flags = copyfile_flags_t(COPYFILE_ACL | COPYFILE_XATTR)
      guard copyfile(source, destination, nil, flags) != 0 else { return [] }
      return ["The ACL and extended attributes of \(name) could not be set: \(reason())."]
    }
  #else
    private static func copyLists(
      from source: String, to destination: String, _ name: String
    )
      -> [String]
    {
      var problems: [String] = []
      let names = Set(Extended.names(of: source))
      // What a new file inherits from its folder is not the original's.
      for extra in Set(Extended.names(of: destination)).subtracting(names)
      where extra.hasPrefix("user.") || extra.hasPrefix("system.posix_acl_") {
        Extended.remove(extra, of: destination)
      }
      for attribute in names.sorted() {
        guard let value = Extended.value(of: attribute, source),
          Extended.value(of: attribute, destination) != value
        else { continue }
        guard !Extended.set(attribute, to: value, of: destination) else { continue }
        // Labels and capabilities are the system's to give.
        let isOurs = attribute.hasPrefix("user.") || attribute.hasPrefix("system.")
        if isOurs {
          problems.append(
            "The extended attribute \(attribute) of \(name) could not be set: \(reason()).")
        }
      }
      return problems
    }
  #endif
}

#if !canImport(Darwin)
  /// Extended attributes; Swift's module map of Glibc leaves their header out.
  private enum Extended {
    private typealias List =
      @convention(c) (UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int) ->
      Int
    private typealias Get =
      @convention(c) (
        UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int
      ) -> Int
    private typealias Set =
      @convention(c) (
        UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer?, Int, Int32
      ) -> Int32
    private typealias Remove = @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32

    /// A list of ACLs and attributes is at most this long on Linux.
    private static let limit = 1 << 16

    private static func bytes(_ fill: (UnsafeMutableRawPointer?) -> Int) -> [UInt8]? {
      var failed = false
      let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
        let got = fill(buffer.baseAddress)
        failed = got < 0
        count = max(0, min(got, limit))
      }
      return failed ? nil : bytes
    }

    static func names(of path: String) -> [String] {
      guard let symbol = dlsym(nil, "listxattr") else { return [] }
      let list = unsafeBitCast(symbol, to: List.self)
      return (bytes { list(path, $0, limit) } ?? []).split(separator: 0).map {
        String(decoding: $0, as: UTF8.self)
      }
    }

    static func value(of name: String, _ path: String) -> [UInt8]? {
      guard let symbol = dlsym(nil, "getxattr") else { return nil }
      let get = unsafeBitCast(symbol, to: Get.self)
      return bytes { get(path, name, $0, limit) }
    }

    static func set(_ name: String, to value: [UInt8], of path: String) -> Bool {
      guard let symbol = dlsym(nil, "setxattr") else { return false }
      return unsafeBitCast(symbol, to: Set.self)(path, name, value, value.count, 0) == 0
    }

    static func remove(_ name: String, of path: String) {
      guard let symbol = dlsym(nil, "removexattr") else { return }
      _ = unsafeBitCast(symbol, to: Remove.self)(path, name)
    }
  }
#endif
