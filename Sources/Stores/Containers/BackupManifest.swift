import Files
import ManagedModel
import SQLite

/// The list of an iOS backup that says which of its files is which: files are named by the SHA-1 of
/// `domain-path`, in folders of the first two digits.
struct BackupManifest {
  /// Where a file was on the device, by its name in the backup.
  private let names: [String: String]
  /// What opens the files of an encrypted backup.
  private let encryption: EncryptedFiles?

  /// Reads `Manifest.db`.
  ///
  /// - Parameters:
  ///   - path: where it is, without a trace left beside it.
  ///   - keys: what opens the files of an encrypted backup. The database is a copy in plain text, which loses
  ///     its name as soon as it is open.
  ///   - container: what errors are about.
  init(
    database path: String, keys: ClassKeys? = nil, of container: String, limits: ContainerLimits
  ) throws {
    var names: [String: String] = [:]
    var encryption = keys.map { EncryptedFiles(keys: $0) }
    do {
      let connection = try Connection(path: path, mode: .immutable)
      if keys != nil { FileSystem.remove(path) }
      // A view would have SQLite run whatever is in it.
      guard
        try connection.value("SELECT type FROM sqlite_schema WHERE name = 'Files'")
          == .text("table")
      else {
        throw CoreDataError(
          .unreadable, "the backup's list of files (Manifest.db) has no table Files",
          path: container, hint: "The backup is damaged or of an unknown kind: make another.")
      }
      let record =
        keys == nil
        ? "NULL" : "CASE WHEN length(file) <= \(BackupFileRecord.mostBytes) THEN file END"
      let statement = try connection.prepare(
        "SELECT fileID, domain, relativePath, \(record) FROM Files WHERE flags = 1")
      while try statement.step() {
        let name = statement.text(at: 0)
        guard Self.isDigest(name) else { continue }
        guard names.count < limits.entries else {
          throw CoreDataError(
            .unreadable, "the backup has more than \(limits.entries) files", path: container)
        }
        names[name] = statement.text(at: 1) + "/" + statement.text(at: 2)
        encryption?.add(statement.bytes(at: 3), of: name)
      }
    } catch let error as SQLiteError {
      throw CoreDataError(
        .unreadable, "the backup's list of files (Manifest.db) cannot be read: \(error.message)",
        path: container, hint: "The backup is damaged or of an unknown kind: make another.")
    }
    self.names = names
    self.encryption = encryption
  }

  /// How many files cannot be read since what the list says of their keys is damaged.
  var damagedRecords: Int { encryption?.damaged ?? 0 }

  /// Digits of a SHA-1, which files are named by.
  private static let digits = 40

  /// Whether a name is one of the backup's own, and no path.
  private static func isDigest(_ name: String) -> Bool { isHexadecimal(name, digits) }

  /// Whether a folder of a backup may have that name: the first two digits of those of its files.
  private static func isPrefix(_ name: String) -> Bool { isHexadecimal(name, 2) }

  private static func isHexadecimal(_ name: String, _ count: Int) -> Bool {
    name.utf8.count == count
      && name.utf8.allSatisfy { $0.isDigit || (0x61...0x66).contains($0 | 0x20) }
  }

  /// Whether a folder is a backup: older ones list their files in another form, and are named too.
  static func isBackup(_ folder: String) -> Bool {
    func has(_ name: String) -> Bool { FileSystem.isFile(folder + "/" + name) }
    guard has("Manifest.db") else { return has("Manifest.mbdb") && has("Manifest.plist") }
    if ["Manifest.plist", "Info.plist", "Status.plist"].contains(where: has) { return true }
    // Other programs may have a file of that name too.
    return (try? FileSystem.list(folder))?.contains { name in
      isDigest(name) || isPrefix(name) && FileSystem.isDirectory(folder + "/" + name)
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
      case 1: return ["Info.plist", "Status.plist"].contains(parts[0]) || isDigest(parts[0])
      case 2: return isDigest(parts[1]) && parts[1].hasPrefix(parts[0]) && isPrefix(parts[0])
      default: return false
      }
    }
  }

  /// The files of a backup under the names that they had on the device, behind the folder that the backup is
  /// in; `nil` for what is in its folder and is no file of it.
  ///
  /// - Parameter folder: the backup's own folder in the container, with a slash; empty for all of it.
  /// - Returns: one for each entry; and how many files that the list names are not there, with the name of
  ///   one: of a store if there is one among them.
  func renamed(
    _ entries: [ContainerEntry], in folder: String
  ) -> (entries: [ContainerEntry?], missing: (count: Int, example: String?)) {
    var missing = names
    let found = entries.map { entry -> ContainerEntry? in
      guard folder.isEmpty || entry.name.hasPrefix(folder) else { return entry }
      let file = String(decoding: entry.name.utf8.suffix(Self.digits), as: UTF8.self)
      // `ab/abcdef…`, or `abcdef…` in a flat one: whatever the list says, a file of the backup.
      guard let name = names[file],
        entry.name == folder + file.prefix(2) + "/" + file || entry.name == folder + file
      else { return nil }
      missing[file] = nil
      var renamed = entry
      renamed.name = folder + name
      return encryption?.opened(renamed, file) ?? renamed
    }
    let stores = missing.values.lazy.filter { StoreFileName.isStore($0) }
    return (found, (missing.count, stores.min() ?? missing.values.min()))
  }
}
