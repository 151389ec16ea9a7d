import Files
import ManagedModel
import ManagedStore

/// The names that lie beside a store: those of its own files, of its backups, and of what a run makes.
package struct StoreNames {
  package let folder: String
  /// Name of the store's main file.
  let store: String

  package init(_ storePath: String) {
    folder = FileSystem.parent(of: storePath) ?? "."
    store = FileSystem.name(of: storePath)
  }

  static let workPrefix = ".strata-migrating-"
  private static let journalPrefix = ".strata-journal-"

  private var stem: String { FileSystem.stem(of: store) }

  package func path(_ name: String) -> String { folder + "/" + name }

  /// Where a name leads: the folder that it is in, opened through no link, and its last part; `nil` where
  /// there is no such folder.
  func opened(_ name: String) throws -> (folder: Folder, name: String)? {
    let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    var current = try Folder(folder)
    for part in parts.dropLast() {
      guard let next = try current.folder(part) else { return nil }
      current = next
    }
    return (current, parts.last ?? "")
  }

  /// What has a name; `nil` where nothing has it, or a link or something else is on the way.
  func entry(_ name: String) -> Folder.Entry? {
    (try? opened(name)).flatMap { try? $0.folder.entry($0.name) }
  }

  /// Which file has a name.
  func file(_ name: String) -> FileIdentity? { entry(name)?.identity }

  private func both(
    _ name: String, _ other: String
  ) throws -> (from: (folder: Folder, name: String), to: (folder: Folder, name: String)) {
    guard let from = try opened(name), let to = try opened(other) else {
      throw CoreDataError(.failed, "a folder is gone", path: path(name))
    }
    return (from, to)
  }

  /// Gives a file a second name; false where the file system cannot, or the name is taken.
  func link(_ name: String, to other: String) -> Bool {
    guard let both = try? both(name, other) else { return false }
    return both.from.folder.link(both.from.name, to: both.to.name, in: both.to.folder)
  }

  /// Puts what has a name under another, which must be free unless it is to be replaced.
  func rename(_ name: String, to other: String, replacing: Bool = false) throws {
    let both = try both(name, other)
    if replacing {
      try both.from.folder.rename(both.from.name, to: both.to.name, in: both.to.folder)
    } else {
      try both.from.folder.renameExclusively(
        both.from.name, to: both.to.name, in: both.to.folder)
    }
  }

  /// Removes a file's name, and makes sure that it is gone.
  func remove(_ name: String) throws {
    guard let place = try opened(name) else { return }
    try place.folder.remove(place.name)
  }

  /// Removes a file, or a folder with all that is in it.
  ///
  /// - Returns: whether nothing has the name now.
  @discardableResult func removeTree(_ name: String) -> Bool {
    guard let place = try? opened(name) else { return file(name) == nil }
    place.folder.removeTree(place.name)
    return file(name) == nil
  }

  /// Forces the names in the folder to the disk.
  func sync() throws { try Folder(folder).sync() }

  /// Forces the names in a folder beside the store to the disk.
  func sync(_ name: String) throws {
    guard let place = try opened(name) else { return }
    try place.folder.folder(place.name)?.sync()
  }

  /// The store's name, or what stands for one that leaves no room for more in a name of 255 bytes.
  private var label: String {
    store.utf8.count <= 200 ? store : ByteText.hex(Digest.sha256(Array(store.utf8)).prefix(16))
  }

  /// The journal's name: one for a store, so that the next run finds it.
  var journal: String { Self.journalPrefix + label }

  /// Other stores of the folder beside which a journal lies.
  var otherStores: [StoreNames] {
    listed.compactMap { name in
      guard let label = FileSystem.rest(of: name, after: Self.journalPrefix), !label.isEmpty,
        !FileSystem.isSame(name, journal)
      else { return nil }
      return StoreNames(path(label))
    }
  }

  /// A name for a run's own files that none had before it.
  func newWork() -> String {
    let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
    let random = (0..<Self.randomLength).map { _ in letters.randomElement() ?? "a" }
    return Self.workPrefix + label + "-" + String(random)
  }

  private static let randomLength = 6
  /// What is appended to a run's own name for each of its files.
  private static let workSuffixes = [
    "", ".next", MigrationJournal.copySuffix, MigrationJournal.externalSuffix,
  ]

  /// Whether a name is one that a run of this store gives to its own files.
  func isWork(_ name: String) -> Bool {
    guard let rest = FileSystem.rest(of: name, after: Self.workPrefix + label + "-") else {
      return false
    }
    let letters = rest.utf8.prefix(Self.randomLength)
    guard letters.count == Self.randomLength,
      letters.allSatisfy({ (0x61...0x7A).contains($0) || $0.isDigit })
    else { return false }
    let suffix = String(decoding: rest.utf8.dropFirst(Self.randomLength), as: UTF8.self)
    return Self.workSuffixes.contains { work in StoreSuffix.all.contains { suffix == work + $0 } }
  }

  /// Path of the folder that holds the store's external data, and all else the app keeps there.
  var support: String { path(StoreSuffix.supportFolder(of: store)) }

  /// Whether a name is the store's own: of its files, or of its support folder.
  func isOwn(_ name: String) -> Bool {
    StoreSuffix.all.contains { FileSystem.isSame(name, store + $0) }
      || FileSystem.isSame(name, StoreSuffix.supportFolder(of: store))
  }

  /// Whether a run gives these two names to what it makes: a file of its own gets one of the store's or of
  /// a backup's; a file in its own folder of external data gets the same place in the store's.
  func isBrought(from name: String, to other: String) -> Bool {
    if isWork(name) { return isOwn(other) || isBackup(other) }
    guard let slash = name.utf8.firstIndex(of: UInt8(ascii: "/")) else { return false }
    let (folder, rest) = (String(name[..<slash]), String(name[slash...]))
    return isWork(folder) && folder.hasSuffix(MigrationJournal.externalSuffix)
      && FileSystem.isSame(other, StoreSuffix.supportFolder(of: store) + rest)
      && rest.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        .allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." }
  }

  /// Whether a name is one that a run gives to what it sets aside of this store.
  func isBackup(_ name: String) -> Bool {
    guard !name.utf8.contains(UInt8(ascii: "/")) else { return false }
    return ["\(stem).backup-", "\(stem).unrepaired-", "\(stem).undone-"].contains {
      FileSystem.rest(of: name, after: $0) != nil
    }
      || ["\(stem)-backup-", "\(stem)-undone-", ".\(stem)-backup-", ".\(stem)-undone-"].contains {
        FileSystem.rest(of: name, after: $0)?.utf8.first?.isDigit ?? false
      }
  }

  /// What Core Data's migration by a mapping model leaves where the app is ended in the middle: its result, and
  /// the backup of the store (migration-2 §6). A sentence each.
  var appLeftovers: [String] {
    let result = "." + store + ".migrationdestination_41b5a6b5c6e848c462a8480cd24caef3"
    let backup = stem + "~" + FileSystem.suffix(of: store)
    var sentences: [String] = []
    func add(_ name: String, _ what: String) {
      guard let status = FileSystem.status(path(name)), status.kind == .file else { return }
      sentences.append(
        "\(name) (\(status.size) bytes) is beside the store: \(what). When the store itself opens, neither Core Data nor strata needs it; strata never removes it."
      )
    }
    add(result, "a migration by a mapping model in the app wrote it and was cut off")
    if FileSystem.isDatabase(path(backup)) {
      add(
        backup,
        "a migration by a mapping model in the app set the former store aside under this name")
    }
    return sentences
  }

  /// Names in the folder; none where it cannot be listed.
  var listed: [String] { (try? FileSystem.list(folder)) ?? [] }

  /// The first name that is free with all that belong to it, numbered above all that are there, so
  /// that the newest has the highest. Each is asked for: a folder need not let itself be listed.
  ///
  /// - Parameters:
  ///   - prefixes: what a number may follow; the names of one are the names of all.
  ///   - name: makes a name of a number.
  func free(above prefixes: [String], _ name: (Int) -> String) -> String {
    let first = Self.nextNumber(in: listed, after: prefixes)
    for number in first..<(first + 10_000) {
      let name = name(number)
      let all = StoreSuffix.all.map { name + $0 } + [StoreSuffix.supportFolder(of: name)]
      if all.allSatisfy({ FileIdentity(of: path($0)) == nil }) { return name }
    }
    return name(first)
  }

  /// `App-backup-1.sqlite`: another stem than the store's, since Core Data finds external data by it.
  var resetBackup: String {
    free(above: ["\(stem)-backup-", ".\(stem)-backup-"]) {
      "\(stem)-backup-\($0)\(FileSystem.suffix(of: store))"
    }
  }

  /// `App.undone-1`, or `App-undone-1.sqlite` where the support folder goes with it.
  func undone(withSupport: Bool) -> String {
    free(above: ["\(stem).undone-", "\(stem)-undone-", ".\(stem)-undone-"]) {
      withSupport ? "\(stem)-undone-\($0)\(FileSystem.suffix(of: store))" : "\(stem).undone-\($0)"
    }
  }

  /// A free name of the store's stem: external data is found by the stem, so the backup still
  /// finds its own.
  func migrationBackup(suffix: String) -> String { sharing("\(stem).backup-", suffix) }

  /// The same for a store that was repaired: `App.unrepaired-1`, with all that was wrong with it.
  func repairBackup(suffix: String) -> String { sharing("\(stem).unrepaired-", suffix) }

  /// `App-orphaned-1`: a free name for what belongs to no store any more.
  package var orphaned: String {
    let first = Self.nextNumber(in: listed, after: ["\(stem)-orphaned-"])
    return (first..<(first + 10_000)).map { "\(stem)-orphaned-\($0)" }.first { file($0) == nil }
      ?? "\(stem)-orphaned-\(first)"
  }

  private func sharing(_ prefix: String, _ suffix: String) -> String {
    let base = prefix + String(suffix.map { $0.isLetter || $0.isNumber ? $0 : "-" })
    let isTaken =
      FileIdentity(of: path(base)) != nil
      || listed.contains {
        FileSystem.isSame($0, base) || FileSystem.rest(of: $0, after: base + "-") != nil
      }
    guard isTaken else { return base }
    // Above all numbers there: the newest backup must have the highest.
    let first = max(2, Self.nextNumber(in: listed, after: [base + "-"]))
    return (first..<(first + 10_000)).map { "\(base)-\($0)" }.first {
      FileIdentity(of: path($0)) == nil
    } ?? "\(base)-\(first)"
  }

  /// One more than the highest number after one of the prefixes; 1 if there is none.
  static func nextNumber(in names: [String], after prefixes: [String]) -> Int {
    var highest = 0
    for name in names {
      for prefix in prefixes {
        guard let rest = FileSystem.rest(of: name, after: prefix) else { continue }
        // Nine digits: a longer number is none that was given here.
        let digits = rest.prefix { ("0"..."9").contains($0) }.prefix(9)
        highest = max(highest, Int(digits) ?? 0)
      }
    }
    return highest + 1
  }
}
