/// Who may do what with a file, and what is attached to it: owner, mode, ACL, extended attributes.
///
/// They are given through a descriptor of a file that this process made: another user of the folder could
/// put a link in place of its name, and root would give that user any file.
package enum FileAttributes {
  /// Whose attributes are given.
  package enum Original {
    /// A file that is asked about by name, its last link not followed. No descriptor of it is opened:
    /// closing one would end the locks that this process has on the file, as POSIX has it.
    case named(String)
    case file(OpenFile)
    case folder(Folder)

    var path: String {
      switch self {
      case .named(let path): path
      case .file(let file): file.path
      case .folder(let folder): folder.path
      }
    }
  }

  /// Gives a file that was made the attributes of another.
  ///
  /// Root migrates for a user, whose app must be able to open the result. Where the group cannot be
  /// given, its rights are not either: another group would get them.
  ///
  /// - Returns: what could not be given, as sentences.
  @discardableResult
  package static func copy(from original: Original, to file: NewFile) -> [String] {
    copy(from: original, to: file.descriptor)
  }

  /// The same of a folder that was made.
  @discardableResult
  package static func copy(from original: Original, to folder: Folder) throws -> [String] {
    try folder.withDescriptor { copy(from: original, to: $0) }
  }

  private static func copy(from original: Original, to destination: Int32) -> [String] {
    switch original {
    case .named(let path):
      var info = stat()
      guard lstat(path, &info) == 0, info.st_mode & S_IFMT != S_IFLNK else { return [] }
      return give(info, .named(path), FileSystem.name(of: path), to: destination)
    case .file(let file): return copy(fromOpen: file.descriptor, file.path, to: destination)
    case .folder(let folder):
      return
        (try? folder.withDescriptor { copy(fromOpen: $0, folder.path, to: destination) }) ?? []
    }
  }

  private static func copy(
    fromOpen source: Int32, _ path: String, to destination: Int32
  ) -> [String] {
    var info = stat()
    guard fstat(source, &info) == 0 else { return [] }
    return give(info, .open(source), FileSystem.name(of: path), to: destination)
  }

  private static func give(
    _ info: stat, _ source: Extended.Place, _ name: String, to destination: Int32
  ) -> [String] {
    var made = stat()
    guard fstat(destination, &made) == 0 else { return [] }
    var problems: [String] = []
    if info.st_gid != made.st_gid { _ = fchown(destination, uid_t.max, info.st_gid) }
    if info.st_uid != made.st_uid { _ = fchown(destination, info.st_uid, gid_t.max) }
    _ = fstat(destination, &made)
    var mode = info.st_mode & 0o7777
    if made.st_gid != info.st_gid { mode &= ~0o070 | (mode & 0o007) << 3 }
    if made.st_uid != info.st_uid {
      problems.append(
        "\(name) belonged to user \(info.st_uid) and now belongs to user \(made.st_uid): only root can change that."
      )
    }
    problems += copyLists(from: source, to: destination, name)
    if fchmod(destination, mode) != 0 {
      problems.append("The permissions of \(name) could not be set: \(reason()).")
    }
    return problems
  }

  /// Gives a copy the permissions of what it was copied from, and those of its owner to write to it.
  static func copyPermissions(of source: OpenFile, to file: NewFile) {
    var info = stat()
    guard fstat(source.descriptor, &info) == 0 else { return }
    fchmod(file.descriptor, (info.st_mode & 0o777 | 0o200) & ~mask)
  }

  /// Gives a private file the permissions of any new one.
  package static func makeOrdinary(_ file: NewFile) {
    fchmod(file.descriptor, 0o644 & ~mask)
  }

  /// What new files of this process may not be, asked for once: setting it, the only other way to ask, would
  /// for a moment hold for what every other thread makes, and for every program that is started.
  private static let mask: mode_t = {
    let status = (try? OpenFile("/proc/self/status").read(at: 0, count: 4096)) ?? []
    for line in String(decoding: status, as: UTF8.self).split(separator: "\n")
    where line.hasPrefix("Umask:") {
      if let mask = mode_t(line.dropFirst(6).drop { $0.isWhitespace }, radix: 8) { return mask }
    }
    let mask = umask(0o077)
    umask(mask)
    return mask
  }()

  private static func reason() -> String { String(cString: strerror(errno)) }

  private static func copyLists(
    from source: Extended.Place, to destination: Int32, _ name: String
  ) -> [String] {
    var problems: [String] = []
    let names = Set(Extended.names(of: source))
    // What a new file inherits from its folder is not the original's.
    for extra in Set(Extended.names(of: .open(destination))).subtracting(names)
    where Extended.isOwn(extra) {
      Extended.remove(extra, of: destination)
    }
    for attribute in names.sorted() {
      guard let value = Extended.value(of: attribute, source),
        Extended.value(of: attribute, .open(destination)) != value
      else { continue }
      guard !Extended.set(attribute, to: value, of: destination) else { continue }
      // Labels and capabilities are the system's to give.
      if Extended.isReported(attribute) {
        problems.append(
          "The extended attribute \(attribute) of \(name) could not be set: \(reason()).")
      }
    }
    #if canImport(Darwin)
      if !AccessList.copy(from: source, to: destination) {
        problems.append("The ACL of \(name) could not be set: \(reason()).")
      }
    #endif
    return problems
  }
}

/// Extended attributes, read by name without following a link or through a descriptor, and set through one.
private enum Extended {
  enum Place {
    case named(String)
    case open(Int32)
  }

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

  static func names(of place: Place) -> [String] {
    (bytes { list(place, $0) } ?? []).split(separator: 0).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  static func value(of name: String, _ place: Place) -> [UInt8]? {
    bytes { get(place, name, $0) }
  }

  #if canImport(Darwin)
    static func isOwn(_ name: String) -> Bool { true }
    static func isReported(_ name: String) -> Bool { !name.hasPrefix("com.apple.") }

    private static func list(_ place: Place, _ buffer: UnsafeMutableRawPointer?) -> Int {
      let names = buffer?.assumingMemoryBound(to: CChar.self)
      return switch place {
      case .named(let path): listxattr(path, names, limit, XATTR_NOFOLLOW)
      case .open(let descriptor): flistxattr(descriptor, names, limit, 0)
      }
    }

    private static func get(
      _ place: Place, _ name: String, _ buffer: UnsafeMutableRawPointer?
    ) -> Int {
      switch place {
      case .named(let path): getxattr(path, name, buffer, limit, 0, XATTR_NOFOLLOW)
      case .open(let descriptor): fgetxattr(descriptor, name, buffer, limit, 0, 0)
      }
    }

    static func set(_ name: String, to value: [UInt8], of descriptor: Int32) -> Bool {
      fsetxattr(descriptor, name, value, value.count, 0, 0) == 0
    }

    static func remove(_ name: String, of descriptor: Int32) {
      _ = fremovexattr(descriptor, name, 0)
    }
  #else
    // Swift's module map of Glibc leaves their header out.
    private typealias ListNamed =
      @convention(c) (UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int) -> Int
    private typealias ListOpen = @convention(c) (Int32, UnsafeMutableRawPointer?, Int) -> Int
    private typealias GetNamed =
      @convention(c) (
        UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int
      ) -> Int
    private typealias GetOpen =
      @convention(c) (Int32, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int) -> Int
    private typealias SetOpen =
      @convention(c) (Int32, UnsafePointer<CChar>, UnsafeRawPointer?, Int, Int32) -> Int32
    private typealias RemoveOpen = @convention(c) (Int32, UnsafePointer<CChar>) -> Int32

    static func isOwn(_ name: String) -> Bool {
      name.hasPrefix("user.") || name.hasPrefix("system.posix_acl_")
    }

    static func isReported(_ name: String) -> Bool {
      name.hasPrefix("user.") || name.hasPrefix("system.")
    }

    private static func list(_ place: Place, _ buffer: UnsafeMutableRawPointer?) -> Int {
      switch place {
      case .named(let path):
        guard let symbol = dlsym(nil, "llistxattr") else { return -1 }
        return unsafeBitCast(symbol, to: ListNamed.self)(path, buffer, limit)
      case .open(let descriptor):
        guard let symbol = dlsym(nil, "flistxattr") else { return -1 }
        return unsafeBitCast(symbol, to: ListOpen.self)(descriptor, buffer, limit)
      }
    }

    private static func get(
      _ place: Place, _ name: String, _ buffer: UnsafeMutableRawPointer?
    ) -> Int {
      switch place {
      case .named(let path):
        guard let symbol = dlsym(nil, "lgetxattr") else { return -1 }
        return unsafeBitCast(symbol, to: GetNamed.self)(path, name, buffer, limit)
      case .open(let descriptor):
        guard let symbol = dlsym(nil, "fgetxattr") else { return -1 }
        return unsafeBitCast(symbol, to: GetOpen.self)(descriptor, name, buffer, limit)
      }
    }

    static func set(_ name: String, to value: [UInt8], of descriptor: Int32) -> Bool {
      guard let symbol = dlsym(nil, "fsetxattr") else { return false }
      return unsafeBitCast(symbol, to: SetOpen.self)(descriptor, name, value, value.count, 0) == 0
    }

    static func remove(_ name: String, of descriptor: Int32) {
      guard let symbol = dlsym(nil, "fremovexattr") else { return }
      _ = unsafeBitCast(symbol, to: RemoveOpen.self)(descriptor, name)
    }
  #endif
}

#if canImport(Darwin)
  /// The access control list of a file.
  private enum AccessList {
    /// - Returns: false where there is one that could not be given.
    static func copy(from source: Extended.Place, to descriptor: Int32) -> Bool {
      let list =
        switch source {
        case .named(let path): acl_get_link_np(path, ACL_TYPE_EXTENDED)
        case .open(let source): acl_get_fd_np(source, ACL_TYPE_EXTENDED)
        }
      guard let list else { return true }
      defer { acl_free(UnsafeMutableRawPointer(list)) }
      return acl_set_fd_np(descriptor, list, ACL_TYPE_EXTENDED) == 0
    }
  }
#endif
