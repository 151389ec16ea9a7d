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
  let limits: ContainerLimits
  private(set) var entries: [ContainerEntry]
  private var zip: ZipArchive?
  /// The first bytes of the members of a tar archive, which come along with their names.
  private var heads: [Int: [UInt8]] = [:]
  /// The places of files in ``entries`` by their names.
  private var places: [String: Int] = [:]

  /// How far listing or unpacking is, in bytes; it throws to stop.
  package typealias Progress = (_ done: Int) -> Void

  /// - Throws: ``CoreDataError`` of kind unreadable where there is nothing, or no container; where an
  ///   entry would lead out of it; where it is larger than the limits; an encrypted backup.
  /// - Parameter unlocking: where the password of an encrypted backup comes from. A folder that has backups
  ///   further down is listed without asking.
  package init(
    _ path: String, limits: ContainerLimits = ContainerLimits(),
    unlocking: BackupUnlocking = .none
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
          "strata reads folders, .xcappdata, iOS backups, and .zip, .tar and .tar.gz archives of these."
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
      sort()
      return
    }
    try archive == .zip ? listZip() : listTar(TarArchive(path: path, form: archive, limits: limits))
    try nameBackups(unlocking)
    sort()
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
          name: try checked(member.name), kind: member.kind,
          bytes: member.kind == .file ? member.bytes : 0, place: .member(index)))
    }
    self.zip = zip
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
            name: try checked(member.name), kind: member.kind, bytes: member.bytes,
            place: .member(index)))
        return member.kind == .file
      },
      data: { [self] piece in
        let index = entries.count - 1
        let missing = Self.headSize - (heads[index]?.count ?? 0)
        if missing > 0 { heads[index, default: []] += piece.prefix(missing) }
      }, end: { [self] in whole = entries.count - 1 })
    guard let fault = try tar.read(visitor) else { return }
    // What came before is there all the same.
    if entries.last?.kind == .file, whole < entries.count - 1 { entries.removeLast() }
    guard !entries.isEmpty else { throw fault }
    notes.append(fault.message + ": only what precedes it is listed.")
  }

  static let headSize = 16

  /// The path of an entry, where it does not lead out of the container.
  private func checked(_ name: String) throws -> String {
    let (path, fault) = EntryName.checked(name)
    if let fault { throw refused(name, fault) }
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
    for manifest in entries
    where manifest.kind == .file && manifest.name.hasSuffix("Manifest.db")
      && FileSystem.name(of: manifest.name) == "Manifest.db"
    {
      let folder = EntryName.folder(of: manifest.name)
      let list = folder + "Manifest.plist"
      guard let properties = entries.first(where: { $0.name == list }) else { continue }
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
      entries = try names.renamed(entries, in: folder).map { entry in
        var entry = entry
        entry.name = try checked(entry.name)
        return entry
      }
    }
    guard form != .backup || FileSystem.isFile(path + "/Manifest.db") else {
      throw CoreDataError(
        .unreadable, "a backup of iOS 9 or earlier (Manifest.mbdb), which strata does not read",
        path: path, hint: "Unpack it with another program and give the resulting folder.")
    }
  }

  /// Puts the entries in order, each file once: of one name twice, as in an archive that was added to,
  /// the last is the one that unpacking would leave.
  private func sort() {
    var last: [String: Int] = [:]
    for (index, entry) in entries.enumerated() where entry.kind != .folder {
      last[entry.name] = index
    }
    entries = entries.enumerated().filter { index, entry in
      !entry.name.isEmpty && (entry.kind == .folder || last[entry.name] == index)
    }.map(\.element)
    entries.sort { $0.name < $1.name }
    for (index, entry) in entries.enumerated() where entry.kind != .folder {
      places[entry.name] = index
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
    case .member(let index):
      guard let zip else { return heads[index] ?? [] }
      var head: [UInt8] = []
      struct Enough: Error {}
      try? zip.read(zip.members[index], chunk: 4096) { piece in
        head += piece.prefix(Self.headSize - head.count)
        if head.count == Self.headSize { throw Enough() }
      }
      return head
    }
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

/// A file or folder in a container, by the path that it has in there.
package struct ContainerEntry: Sendable, Equatable {
  /// What it is.
  package enum Kind: Sendable, Equatable {
    case file
    case folder
    /// A symbolic link, or a second name of another entry: neither is ever followed or made.
    case link
    /// A device, a pipe, or a file in a form that is not read here.
    case other
  }

  /// Where its bytes are.
  enum Place: Sendable, Equatable {
    /// A file of its own, which may have quite another name.
    case file(String)
    /// A member of an archive, by its number.
    case member(Int)
  }

  /// Its path in the container, without a slash at either end.
  package var name: String
  /// What it is.
  package var kind: Kind
  /// The size that it has, or says it has.
  package var bytes: Int
  var place: Place
  /// How it is decrypted; `nil` for a file that is stored as it is.
  var cipher: FileCipher?
}

/// Paths of entries in a container.
enum EntryName {
  private static let slash = UInt8(ascii: "/")

  /// The path without `.` and doubled slashes, and why it leads out of the container, if it does.
  static func checked(_ name: String) -> (name: String, fault: String?) {
    let bytes = name.utf8
    // Nearly all of them: what C finds is found at once.
    if bytes.count <= 255, strlen(name) == bytes.count, !name.hasPrefix("/"), !name.hasPrefix("./"),
      !name.hasSuffix("/"), !name.isEmpty, name != ".",
      strstr(name, "..") == nil, strstr(name, "//") == nil, strstr(name, "/./") == nil,
      !name.hasSuffix("/.")
    {
      return (name, nil)
    }
    if bytes.first == slash { return (name, "has an absolute path") }
    var parts: [Substring.UTF8View] = []
    for part in name[...].utf8.split(separator: slash) {
      if part.elementsEqual(".".utf8) { continue }
      if part.elementsEqual("..".utf8) { return (name, "has a path that leaves the archive (..)") }
      if part.count > 255 { return (name, "has a name of more than 255 bytes") }
      parts.append(part)
    }
    if bytes.count > 4_000 { return (name, "has a path of more than 4,000 bytes") }
    if bytes.contains(0) { return (name, "has a name with a NUL in it") }
    let path = parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
    return (path, nil)
  }

  /// The folders that an entry is in, from the outermost on, each as a path.
  static func folders(of name: String) -> [String] {
    let bytes = Array(name.utf8)
    return bytes.indices.filter { bytes[$0] == slash }
      .map { String(decoding: bytes[..<$0], as: UTF8.self) }
  }

  /// The folder that an entry is in, with a slash behind it; empty at the top.
  static func folder(of name: String) -> String {
    let bytes = Array(name.utf8)
    guard let index = bytes.lastIndex(of: slash) else { return "" }
    return String(decoding: bytes[...index], as: UTF8.self)
  }

  /// A name as messages show it, in quotes.
  static func quoted(_ name: String) -> String { "“\(name.printable)”" }
}
