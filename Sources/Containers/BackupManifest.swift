import Files
import ManagedModel
import SQLite

/// The list of an iOS backup that says which of its files is which: files are named by the SHA-1 of
/// `domain-path`, in folders of the first two digits.
struct BackupManifest {
  /// Where a file was on the device, by its name in the backup.
  private let names: [String: String]

  /// Reads `Manifest.db`.
  ///
  /// - Parameters:
  ///   - path: where it is, without a trace left beside it.
  ///   - properties: the bytes of the `Manifest.plist` beside it.
  ///   - container: what errors are about.
  init(
    database path: String, properties: [UInt8]?, of container: String, limits: ContainerLimits
  ) throws {
    let list = properties.flatMap { try? PropertyList.read($0) }
    guard properties != nil || FileSystem.isDatabase(path) else {
      throw CoreDataError(
        .unreadable,
        "this iOS backup is encrypted, and its Manifest.plist is missing: the keys are in that file, so that no password opens the backup",
        path: container, hint: "Ask for the whole folder of the backup.")
    }
    guard list?["IsEncrypted"]?.boolean != true, FileSystem.isDatabase(path) else {
      throw CoreDataError(
        .unreadable, "this iOS backup is encrypted: only its password opens it",
        path: container,
        hint:
          "Ask for a backup without encryption (Finder or iTunes: without “Encrypt local backup”), or decrypt it and give the decrypted folder."
      )
    }
    var names: [String: String] = [:]
    do {
      let connection = try Connection(path: path, mode: .immutable)
      // A view would have SQLite run whatever is in it.
      guard
        try connection.value("SELECT type FROM sqlite_schema WHERE name = 'Files'")
          == .text("table")
      else {
        throw CoreDataError(
          .unreadable, "the backup's list of files (Manifest.db) has no table Files",
          path: container, hint: "The backup is damaged or of an unknown kind: make another.")
      }
      let statement = try connection.prepare(
        "SELECT fileID, domain, relativePath FROM Files WHERE flags = 1")
      while try statement.step() {
        let name = statement.text(at: 0)
        guard Self.isFile(name) else { continue }
        guard names.count < limits.entries else {
          throw CoreDataError(
            .unreadable, "the backup has more than \(limits.entries) files", path: container)
        }
        names[name] = statement.text(at: 1) + "/" + statement.text(at: 2)
      }
    } catch let error as SQLiteError {
      throw CoreDataError(
        .unreadable, "the backup's list of files (Manifest.db) cannot be read: \(error.message)",
        path: container, hint: "The backup is damaged or of an unknown kind: make another.")
    }
    self.names = names
  }

  /// Digits of a SHA-1, which files are named by.
  private static let digits = 40

  /// Whether a folder is a backup: older ones list their files in another form, and are named too.
  static func isBackup(_ folder: String) -> Bool {
    func has(_ name: String) -> Bool { FileSystem.isFile(folder + "/" + name) }
    guard has("Manifest.db") else { return has("Manifest.mbdb") && has("Manifest.plist") }
    if ["Manifest.plist", "Info.plist", "Status.plist"].contains(where: has) { return true }
    // Other programs may have a file of that name too.
    return (try? FileSystem.list(folder))?.contains { name in
      isFile(name) || isPrefix(name) && FileSystem.isDirectory(folder + "/" + name)
    } == true
  }

  /// The same of a folder in an archive that has a `Manifest.db`, and no `Manifest.plist`.
  ///
  /// - Parameter folder: with a slash behind it; empty for all of it.
  static func isBackup(_ entries: [ContainerEntry], in folder: String) -> Bool {
    entries.contains { entry in
      guard entry.kind == .file, let rest = FileSystem.rest(of: entry.name, after: folder) else {
        return false
      }
      let parts = rest.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
      switch parts.count {
      case 1: return ["Info.plist", "Status.plist"].contains(parts[0]) || isFile(parts[0])
      case 2: return isFile(parts[1]) && parts[1].hasPrefix(parts[0]) && isPrefix(parts[0])
      default: return false
      }
    }
  }

  /// Whether a folder of a backup may have that name: the first two digits of those of its files.
  private static func isPrefix(_ name: String) -> Bool { isHexadecimal(name, 2) }

  /// Whether a file of a backup may have that name.
  private static func isFile(_ name: String) -> Bool { isHexadecimal(name, digits) }

  private static func isHexadecimal(_ name: String, _ count: Int) -> Bool {
    name.utf8.count == count
      && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  /// The names that the files of a backup had on the device, behind the folder that the backup is in; `nil` for
  /// what is in its folder and is no file of it.
  ///
  /// - Parameter folder: the backup's own folder in the container, with a slash; empty for all of it.
  /// - Returns: a name for each entry; and how many files that the list names are not there, with the name of
  ///   one: of a store if there is one among them.
  func renamed(
    _ entries: [ContainerEntry], in folder: String
  ) -> (names: [String?], missing: (count: Int, example: String?)) {
    var missing = names
    let found = entries.map { entry -> String? in
      guard folder.isEmpty || entry.name.hasPrefix(folder) else { return entry.name }
      let file = String(decoding: entry.name.utf8.suffix(Self.digits), as: UTF8.self)
      // `ab/abcdef…`, or `abcdef…` in a flat one: whatever the list says, a file of the backup.
      guard let name = names[file],
        entry.name == folder + file.prefix(2) + "/" + file || entry.name == folder + file
      else { return nil }
      missing[file] = nil
      return folder + name
    }
    let stores = missing.values.lazy.filter { StoreFileName.isStore($0) }
    return (found, (missing.count, stores.min() ?? missing.values.min()))
  }
}
