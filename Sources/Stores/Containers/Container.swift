import Files
import ManagedModel

/// What a person hands over in which stores are: a folder, an app's data, a backup, an archive.
///
/// It is listed when it is opened; nothing of it is ever written, and bytes of an archive are only
/// ever written to a ``PrivateFolder``, by this program itself.
package final class Container {
  /// Where it is.
  package let path: String
  /// What it is.
  package let form: ContainerForm
  /// What of it could not be looked into, as sentences.
  package internal(set) var notes: [String] = []
  /// Files of a folder that are named as stores and are none, once its stores were listed.
  package internal(set) var passedOver: [PassedOver] = []
  let limits: ContainerLimits
  private(set) var entries: [ContainerEntry]
  private(set) var zipArchive: ZipArchive?
  /// The first bytes of the members of a tar archive, which come along with their names.
  private var heads: [Int: [UInt8]] = [:]
  private var longHeads = 0
  /// The places of files in ``entries`` by their names.
  private var places: [String: Int] = [:]
  /// What members were called before they got the names that they have here, by their numbers.
  private var given: [Int: String] = [:]
  /// Archives in it, which ``ContainerEntry/Place/nested(_:_:)`` is about.
  private(set) var archives: [NestedArchive] = []
  /// Why the first archive in it that could not be opened was not.
  private(set) var archiveFault: CoreDataError?

  /// How far listing or unpacking is, in bytes; it throws to stop.
  package typealias Progress = (_ done: Int) -> Void

  /// - Throws: ``CoreDataError`` of kind unreadable where there is nothing, or no container; where an
  ///   entry would lead out of it; where it is larger than the limits; an encrypted backup.
  /// - Parameter unlocking: where the password of an encrypted backup comes from. A folder that has backups
  ///   further down is listed without asking.
  package convenience init(
    _ path: String, limits: ContainerLimits = ContainerLimits(),
    unlocking: BackupUnlocking = .none
  ) throws {
    try self.init(path, limits: limits, unlocking: unlocking, opensArchives: true)
  }

  /// - Parameter opensArchives: whether archives in an archive are opened too.
  init(
    _ path: String, limits: ContainerLimits, unlocking: BackupUnlocking, opensArchives: Bool
  ) throws {
    let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    guard let form = ContainerForm(at: path) else {
      throw CoreDataError(
        .unreadable,
        FileSystem.status(path) == nil
          ? "there is no such file or folder"
          : FileSystem.isDatabase(path)
            ? "this is an SQLite file, not a container of stores"
            : "not a folder, backup or archive that strata reads",
        path: path,
        hint:
          "strata reads folders, .xcappdata, iOS backups, .zip, .tar and .tar.gz archives of these, and stores packed as .gz."
      )
    }
    self.path = path
    self.form = form
    self.limits = limits
    entries = []
    guard case .archive(let archive) = form else {
      let walk = try FolderWalk(path, followsLinks: form == .folder, limits: limits)
      entries = walk.entries
      notes = walk.unreadable.prefix(3).map {
        "\(EntryName.quoted($0)) could not be read."
      }
      if walk.unreadable.count > notes.count {
        notes.append(
          "\(walk.unreadable.count - notes.count) more folders could not be read.")
      }
      try nameBackups(unlocking)
      try sort()
      return
    }
    switch archive {
    case .zip: try listZip()
    case .packedFile: try listPackedFile()
    case .tar, .gzip, .bzip2, .xz, .zstd:
      try listTar(TarArchive(path: path, form: archive, limits: limits))
    }
    try nameBackups(unlocking)
    try sort()
    guard opensArchives else { return }
    try openArchives(unlocking)
    try sort()
  }

  private func listZip() throws {
    let zip = try ZipArchive(path, limits: limits)
    for (index, member) in zip.members.enumerated() {
      guard !limits.isBomb(bytes: member.bytes, packed: member.packed) else {
        throw refused(
          member.name,
          "unpacks to \(member.bytes / max(1, member.packed)) times its size (\(NumberText.bytes(member.bytes)))"
        )
      }
      entries.append(
        ContainerEntry(
          name: try checked(member.name, index), kind: member.kind,
          bytes: member.kind == .file ? member.bytes : 0, place: .member(index)))
    }
    if let member = zip.overlapping {
      throw refused(member.name, "lies over another file of the archive")
    }
    let encrypted = zip.members.count(where: \.isEncrypted)
    if encrypted > 0 {
      notes.append(
        "\(NumberText.counted(encrypted, "file")) in it \(encrypted == 1 ? "is" : "are") encrypted: unpack the archive with its password and give the folder."
      )
    }
    if let fault = zip.fault { notes.append(fault.message + Self.rest) }
    zipArchive = zip
  }

  /// The one file that is packed in a .gz.
  private func listPackedFile() throws {
    let file = PackedFile(path: path)
    var (bytes, head): (Int, [UInt8]) = (0, [])
    try file.read(limits: limits) { piece in
      bytes += piece.count
      head += piece.prefix(Self.headSize - head.count)
    }
    heads[0] = head
    entries = [
      ContainerEntry(name: try checked(file.name, 0), kind: .file, bytes: bytes, place: .member(0))
    ]
  }

  private func listTar(_ tar: TarArchive) throws {
    var whole = -1
    let visitor = TarReader.Visitor(
      begin: { [self] member in
        guard entries.count < limits.entries else {
          throw CoreDataError(
            .unreadable, "the archive has more than \(limits.entries) files", path: path)
        }
        let index = entries.count
        entries.append(
          ContainerEntry(
            name: try checked(member.name, index), kind: member.kind, bytes: member.bytes,
            place: .member(index)))
        return member.kind == .file
      },
      data: { [self] piece in
        let index = entries.count - 1
        let had = heads[index]?.count ?? 0
        if had < Self.shortHeadSize {
          heads[index, default: []] += piece.prefix(Self.shortHeadSize - had)
        }
        // Of all members together they are in memory.
        guard longHeads < Self.mostLongHeads, let head = heads[index],
          AtomicStoreForm.needsMore(than: head), head.count < Self.headSize
        else { return }
        heads[index] = head + piece.dropFirst(head.count - had).prefix(Self.headSize - head.count)
        longHeads += 1
      }, end: { [self] in whole = entries.count - 1 })
    guard let fault = try tar.read(visitor) else { return }
    // What came before is there all the same.
    if entries.last?.kind == .file, whole < entries.count - 1 { entries.removeLast() }
    guard !entries.isEmpty else { throw fault }
    notes.append(fault.message + Self.rest)
  }

  static let headSize = AtomicStoreForm.headSize
  /// What is kept of each member of a tar archive: enough to know an SQLite file.
  private static let shortHeadSize = 16
  /// How many members of a tar archive may have more kept.
  private static let mostLongHeads = 20_000
  /// What is said behind why an archive is not whole.
  private static let rest = ": only what precedes it is listed."

  /// The path of an entry, where it does not lead out of the container.
  ///
  /// - Parameter index: the member's number, for which the name is kept where the path is another.
  private func checked(_ name: String, _ index: Int?) throws -> String {
    let (path, fault) = EntryName.checked(name)
    if let fault { throw refused(name, fault) }
    if let index, !path.utf8.elementsEqual(name.utf8) { given[index] = name }
    return path
  }

  func refused(_ entry: String, _ fault: String) -> CoreDataError {
    CoreDataError(
      .unreadable, "\(EntryName.quoted(entry)) in it \(fault), so nothing was unpacked",
      path: path,
      hint:
        "The archive is damaged or malicious: ask for another, or unpack it yourself and give the folder."
    )
  }

  /// Gives the files of backups the names that they had on the device.
  private func nameBackups(_ unlocking: BackupUnlocking) throws {
    let manifests = entries.filter { entry in
      entry.kind == .file && entry.name.hasSuffix("Manifest.db")
        && FileSystem.name(of: entry.name) == "Manifest.db"
    }
    if manifests.count > limits.backups {
      notes.append(
        "There are more than \(limits.backups) backups in it: files of the others are listed under the names that they have there."
      )
    }
    for manifest in manifests.prefix(limits.backups) {
      let folder = EntryName.folder(of: manifest.name)
      let list = folder + "Manifest.plist"
      let properties = entries.first { $0.name == list }
      guard properties != nil || BackupManifest.isBackup(entries, in: folder) else { continue }
      let names: BackupManifest
      do {
        names = try self.manifest(
          manifest, properties, info: entries.first { $0.name == folder + "Info.plist" },
          form == .folder ? unlocking.withoutAsking : unlocking)
      } catch let error as CoreDataError where form == .folder {
        notes.append("\(EntryName.quoted(folder)): \(error.message).")
        continue
      }
      noteDamagedRecords(of: names)
      let (renamed, missing) = names.renamed(entries, in: folder)
      entries = try zip(entries, renamed).compactMap { entry, renamed in
        guard var renamed else { return nil }
        renamed.name = try checked(renamed.name, nil)
        // Links in a folder count as their files, but a backup has none.
        if form == .folder, case .file(let place) = entry.place,
          FileSystem.target(ofLink: place) != nil, !renamed.name.utf8.elementsEqual(entry.name.utf8)
        {
          renamed.kind = .link
        }
        if case .member(let index) = entry.place, given[index] == nil { given[index] = entry.name }
        return renamed
      }
      if let example = missing.example {
        notes.append(
          "\(NumberText.counted(missing.count, "file")) that the backup's list (Manifest.db) names \(missing.count == 1 ? "is" : "are") missing in it, such as \(EntryName.quoted(folder + example))."
        )
      }
    }
    guard form != .backup || FileSystem.isFile(path + "/Manifest.db") else {
      throw CoreDataError(
        .unreadable, "a backup of iOS 9 or earlier (Manifest.mbdb), which strata does not read",
        path: path, hint: "Unpack it with another program and give the resulting folder.")
    }
  }

  /// Puts the entries in order, each file once.
  ///
  /// A tar archive that was added to has one name twice, and the last is the one that unpacking would leave.
  ///
  /// - Throws: ``CoreDataError`` where two files become one otherwise, those too whose names are the same text
  ///   in another Unicode form: one would be read as the other.
  private func sort() throws {
    places = [:]
    var last: [String: Int] = [:]
    for (index, entry) in entries.enumerated() where entry.kind != .folder && !entry.name.isEmpty {
      guard let former = last.updateValue(index, forKey: entry.name) else { continue }
      let names = [entries[former], entry].map(givenName)
      guard mayRepeat(names) else {
        throw refused(
          names[0],
          names[0].utf8.elementsEqual(names[1].utf8)
            ? "is there twice" : "and \(EntryName.quoted(names[1])) become one name")
      }
    }
    entries = entries.enumerated().filter { index, entry in
      !entry.name.isEmpty && (entry.kind == .folder || last[entry.name] == index)
    }.map(\.element)
    entries.sort { $0.name < $1.name }
    for (index, entry) in entries.enumerated() where entry.kind != .folder {
      places[entry.name] = index
    }
  }

  /// What an entry is called where it comes from.
  private func givenName(_ entry: ContainerEntry) -> String {
    guard case .member(let index) = entry.place else { return entry.name }
    return given[index] ?? entry.name
  }

  private func mayRepeat(_ names: [String]) -> Bool {
    switch form {
    // Each is a file of its own there.
    case .folder, .appData: true
    case .backup, .archive(.zip), .archive(.packedFile): false
    case .archive: names[0].utf8.elementsEqual(names[1].utf8)
    }
  }

  /// The entry of that name, unless it is a folder.
  func entry(_ name: String) -> ContainerEntry? { places[name].map { entries[$0] } }

  /// The entries below a folder, which ends in a slash.
  func entries(below folder: String) -> [ContainerEntry] {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].name < folder { low = middle + 1 } else { high = middle }
    }
    return Array(entries[low...].prefix { $0.name.utf8.starts(with: folder.utf8) })
  }

  /// The first bytes of a file; of an encrypted one that cannot be opened, none.
  func head(of entry: ContainerEntry) -> [UInt8] {
    entry.cipher == nil ? storedHead(of: entry) : plainHead(of: entry)
  }

  /// The first bytes of a file as they are stored.
  func storedHead(of entry: ContainerEntry) -> [UInt8] {
    switch entry.place {
    case .file(let path): return (try? FileSystem.read(path, limit: Self.headSize)) ?? []
    case .nested(let archive, let index): return archives[archive].head(at: index)
    case .member(let index):
      guard let zip = zipArchive else { return heads[index] ?? [] }
      var head: [UInt8] = []
      struct Enough: Error {}
      try? zip.read(zip.members[index], chunk: 4096) { piece in
        head += piece.prefix(Self.headSize - head.count)
        if head.count == Self.headSize { throw Enough() }
      }
      return head
    }
  }

  /// Takes in what is in an archive in it, which was unpacked.
  func open(
    _ entry: ContainerEntry, in folder: PrivateFolder, _ unlocking: BackupUnlocking
  ) throws {
    do {
      let archive = try NestedArchive(
        entry.name, in: folder, of: path, limits: limits, unlocking: unlocking)
      let inner = archive.entries(archives.count)
      guard entries.count + inner.count <= limits.entries else {
        throw CoreDataError(
          .unreadable,
          "with what is in \(EntryName.quoted(entry.name)) there are more than \(limits.entries) files",
          path: path)
      }
      archives.append(archive)
      entries += inner
      notes += archive.notes
    } catch let error as CoreDataError {
      note(error, of: entry)
    }
  }

  /// Notes why an archive in it was not opened.
  func note(_ error: CoreDataError, of entry: ContainerEntry) {
    archiveFault = archiveFault ?? error
    notes.append("\(EntryName.quoted(entry.name)) was not opened: \(error.message).")
  }

  /// A small file's bytes.
  func bytes(of entry: ContainerEntry) throws -> [UInt8] {
    let limit = 16 << 20
    return try withFile(of: entry) { try FileSystem.read($0, limit: limit) }
  }

  /// Gives a path where an entry's bytes can be read: its own, or that of a private copy.
  func withFile<T>(of entry: ContainerEntry, _ body: (String) throws -> T) throws -> T {
    if case .file(let path) = entry.place, entry.cipher == nil { return try body(path) }
    let folder = try PrivateFolder()
    let path = folder.path + "/file"
    return try withExtendedLifetime(folder) {
      try unpack([(entry, path)])
      return try body(path)
    }
  }
}
