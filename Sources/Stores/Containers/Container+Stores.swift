import Files
import ManagedModel
import ManagedStore
import SQLite

extension Container {
  /// A main file with what comes with it.
  struct Group {
    var main: ContainerEntry
    /// Its -wal, and its -journal where there is one.
    var companions: [ContainerEntry]
    /// What is in its support folder.
    var external: [ContainerEntry]
    /// Placeholders of companions that are not downloaded.
    var placeholders: [ContainerEntry]
    /// The kind of atomic store that the main file is by its first bytes.
    var atomic: AtomicStoreForm?

    var log: ContainerEntry? { companions.first { $0.name.hasSuffix("-wal") } }
    var all: [ContainerEntry] { [main] + companions + external + placeholders }
  }

  /// The stores in it, by their paths.
  ///
  /// - Throws: ``CoreDataError`` where one is a link, or cannot be unpacked to be looked at.
  package func stores() throws -> [ContainedStore] {
    var candidates: [Group] = []
    passedOver = []
    for entry in entries where entry.kind != .folder {
      try Task.checkCancellation()
      guard !StoreSuffix.isCompanion(entry.name), !StoreFileName.isResourceFork(entry.name) else {
        continue
      }
      let log = self.entry(entry.name + "-wal")
      let isNamed = StoreFileName.isStore(entry.name, hasLog: log != nil)
      if entry.kind == .link, isNamed, form != .folder {
        throw refused(entry.name, "is a link, and links are not followed")
      }
      if entry.kind == .other, isNamed {
        notes.append("\(EntryName.quoted(entry.name)) is in a format that strata does not read.")
      }
      guard entry.kind == .file else { continue }
      let head = entry.bytes < AtomicStoreForm.binaryMagic.count ? [] : head(of: entry)
      let isDatabase = entry.bytes >= 100 && FileSystem.isDatabaseHead(head)
      // A mapping model of Xcode's is an XML store that no app opens.
      let atomic =
        FileSystem.name(of: entry.name) == MappingModelCopies.file
        ? nil : AtomicStoreForm(head: head)
      guard placeholder(of: entry.name) == nil,
        isDatabase || atomic != nil
          || isNamed && (entry.bytes > 0 || log.map { $0.bytes > 32 } == true)
      else {
        // One that is not downloaded is listed as such.
        if form == .folder, isNamed, entry.bytes == 0, placeholder(of: entry.name) == nil {
          passedOver.append(.init(name: entry.name, reason: "it has 0 bytes, and no -wal"))
        }
        continue
      }
      var group = try group(of: entry)
      group.atomic = atomic
      candidates.append(group)
    }
    let looks = try self.looks(at: candidates)
    if candidates.isEmpty {
      // A damaged archive in it is why no store was found.
      if let archiveFault { throw archiveFault }
      noteArchives()
    }
    let stores = zip(candidates, looks).compactMap { group, look -> ContainedStore? in
      guard look != .database else {
        if form == .folder, StoreFileName.isStore(group.main.name, hasLog: false) {
          passedOver.append(
            .init(
              name: group.main.name, reason: "it is an SQLite database without a Core Data store"))
        }
        return nil
      }
      let external = group.external.filter { $0.kind == .file }
      return ContainedStore(
        name: group.main.name, app: ContainedStore.app(of: group.main.name, in: path),
        bytes: group.main.bytes, logBytes: group.log?.bytes, externalFiles: external.count,
        externalBytes: external.reduce(0) { FileSystem.sum($0, $1.bytes) }, look: look,
        notDownloaded: group.placeholders.compactMap {
          CloudPlaceholder.file(ofPlaceholder: $0.name).map(FileSystem.name(of:))
        })
    }
    let missing = self.notDownloaded
    return missing.isEmpty ? stores : (stores + missing).sorted { $0.name < $1.name }
  }

  /// Stores of which a placeholder of iCloud Drive is there and no more.
  private var notDownloaded: [ContainedStore] {
    entries.compactMap { entry in
      guard entry.kind == .file, let name = CloudPlaceholder.file(ofPlaceholder: entry.name),
        StoreFileName.isStore(name), placeholder(of: name) != nil
      else { return nil }
      return ContainedStore(
        name: name, app: ContainedStore.app(of: name, in: path), bytes: 0, externalFiles: 0,
        externalBytes: 0, look: .notDownloaded)
    }
  }

  /// The placeholder of a file that is not downloaded; `nil` if the file is there, or has none.
  func placeholder(of name: String) -> ContainerEntry? {
    guard (entry(name)?.bytes ?? 0) == 0 else { return nil }
    let placeholder =
      EntryName.folder(of: name) + CloudPlaceholder.name(for: FileSystem.name(of: name))
    return entry(placeholder).flatMap { $0.kind == .file ? $0 : nil }
  }

  /// Says which archives are in it, where stores are not.
  private func noteArchives() {
    let opened = Set(archives.map(\.name))
    let closed = entries.lazy.filter { entry in
      entry.kind == .file && !opened.contains(entry.name)
        && [".zip", ".tar", ".tgz", ".tar.gz"].contains(where: entry.name.hasSuffix)
    }
    for archive in closed.prefix(3) {
      notes.append(
        form == .folder
          ? "\(EntryName.quoted(archive.name)) in it is an archive: give its path to look into it."
          : "\(EntryName.quoted(archive.name)) is an archive inside this one: unpack it, and give the result."
      )
    }
  }

  /// What the main files are, those of an archive all unpacked in one go.
  private func looks(at groups: [Group]) throws -> [StoreLook] {
    let folder = try groups.isEmpty ? nil : PrivateFolder()
    var wanted: [(ContainerEntry, String)] = []
    var paths: [(main: String, log: String?)] = []
    for (index, group) in groups.enumerated() {
      // The first bytes have decided.
      guard group.atomic == nil || group.main.cipher != nil else {
        paths.append(("", nil))
        continue
      }
      func path(_ entry: ContainerEntry, _ suffix: String) -> String {
        if case .file(let path) = entry.place { return path }
        let path = (folder?.path ?? "") + "/\(index)" + suffix
        // What is encrypted stays so until it is wanted.
        wanted.append((entry.sealed, path))
        return path
      }
      paths.append((path(group.main, ""), group.log.map { path($0, "-wal") }))
    }
    return try withExtendedLifetime(folder) {
      if !wanted.isEmpty { try unpack(wanted) }
      return zip(groups, paths).map { group, paths in
        look(atEncrypted: group, paths.main, paths.log) ?? group.atomic.map { .atomic($0) }
          ?? StoreLook(at: paths.main, log: paths.log ?? "")
      }
    }
  }

  /// A main file with what belongs to it.
  ///
  /// - Throws: ``CoreDataError`` where a part of it, or a folder on the way to it, is a link.
  func group(of main: ContainerEntry) throws -> Group {
    let folder = EntryName.folder(of: main.name)
    let support = folder + StoreSuffix.supportFolder(of: main.name)
    let group = Group(
      main: main,
      companions: StoreSuffix.content.compactMap { entry(main.name + $0) },
      external: entries(below: support + "/").filter {
        $0.kind != .folder && !StoreFileName.isResourceFork($0.name)
      }, placeholders: StoreSuffix.content.compactMap { placeholder(of: main.name + $0) })
    for way in EntryName.folders(of: main.name) + [support] where entry(way)?.kind == .link {
      throw refused(way, "is a link, and links are not followed")
    }
    for part in group.companions + group.external where part.kind != .file {
      throw refused(
        part.name,
        part.kind == .link
          ? "is a link, and links are not followed" : "is neither a file nor a folder"
      )
    }
    return group
  }

  /// Files beside a store that may be its -wal or -journal under another name: they are reported wherever it
  /// is read.
  func strayLogs(beside main: ContainerEntry) -> [ContainerEntry] {
    let folder = EntryName.folder(of: main.name)
    var files: [String: ContainerEntry] = [:]
    for entry in folder.isEmpty ? entries : entries(below: folder)
    where entry.kind == .file && entry.bytes > 32 && EntryName.folder(of: entry.name) == folder {
      files[FileSystem.name(of: entry.name)] = entry
    }
    return StrayLog.candidates(
      in: files.keys.sorted(), besideStore: FileSystem.name(of: main.name)
    ).compactMap { files[$0] }.filter { StrayLog.isHead(head(of: $0)) }
  }

  /// Models beside a store: a store of an early system has none in it.
  func models(beside main: ContainerEntry) -> [ContainerEntry] {
    let folder = EntryName.folder(of: main.name)
    return (folder.isEmpty ? entries : entries(below: folder)).filter { entry in
      guard entry.kind == .file, entry.bytes < 16 << 20,
        strstr(entry.name, ".mom") != nil || strstr(entry.name, ".xcdatamodel") != nil,
        let rest = FileSystem.rest(of: entry.name, after: folder)
      else { return false }
      let first = String(rest.prefix { $0 != "/" })
      return rest == first ? rest.hasSuffix(".mom") : StoreFileName.isModelBundle(first)
    }
  }

  /// The files of a bundle of models that an inner path names, which may have `@VERSION` behind it;
  /// `nil` where it names none.
  func models(named inner: String) throws -> (files: [ContainerEntry], path: String)? {
    let bytes = Array(inner.utf8)
    let marks = bytes.indices.filter { bytes[$0] == UInt8(ascii: "@") }
    for end in [bytes.count] + marks.reversed() {
      let name = EntryName.checked(String(decoding: bytes[..<end], as: UTF8.self)).name
      guard StoreFileName.isModelBundle(name) else { continue }
      let files = entries(below: name + "/").filter { $0.kind != .folder }
      guard !files.isEmpty else { continue }
      return (files, name + String(decoding: bytes[end...], as: UTF8.self))
    }
    return nil
  }

  /// The entry that an inner path names: the path itself, or the end of one path alone.
  func main(named inner: String) throws -> ContainerEntry {
    let name = EntryName.checked(inner).name
    if placeholder(of: name) != nil { throw CloudPlaceholder.error(for: path + "//" + name) }
    if let found = entry(name) { return found }
    let ends = entries.filter {
      $0.kind != .folder && $0.name.utf8.count > name.utf8.count && $0.name.hasSuffix("/" + name)
    }
    if ends.count == 1, let found = ends.first { return found }
    throw CoreDataError(
      .unreadable,
      ends.isEmpty
        ? "\(EntryName.quoted(inner)) is not in it"
        : "\(EntryName.quoted(inner)) matches \(ends.count) paths in it, such as \(EntryName.quoted(ends[0].name))",
      path: path,
      advice: "\(.deed("listing"), of: [ShellText.quoted(path)]) lists the stores in it.")
  }
}

extension [ContainedStore] {
  /// How many there are; files that have nothing but a store's name are counted by themselves.
  package var counted: String {
    let unknown = count { $0.look == .nothing }
    let stores = NumberText.counted(count - unknown, "store")
    guard unknown > 0 else { return stores }
    let files = NumberText.counted(unknown, "file") + " with the name of one"
    return unknown == count ? files : "\(stores) and \(files)"
  }
}

/// A store in a container, as far as a short look shows.
package struct ContainedStore: Sendable, Equatable {
  /// Its path in the container.
  package var name: String
  /// The app or the domain it belongs to, where the names of its folders show.
  package var app: String?
  /// Bytes of its main file.
  package var bytes: Int
  /// Bytes of the -wal that comes with it; `nil` without one.
  package var logBytes: Int?
  /// How many files of external data come with it.
  package var externalFiles: Int
  /// Their bytes together.
  package var externalBytes: Int
  /// Bytes of its main file, its -wal and its external data together.
  package var allBytes: Int {
    FileSystem.sum(FileSystem.sum(bytes, logBytes ?? 0), externalBytes)
  }
  /// What its main file shows; ``StoreLook/damaged(_:)``, ``StoreLook/nothing`` and
  /// ``StoreLook/notDownloaded`` for one that is only a store by its name.
  package var look: StoreLook
  /// Files beside it that iCloud Drive has not downloaded.
  package var notDownloaded: [String] = []

  /// What is wrong with it, as a sentence; `nil` where nothing is known to be.
  package var problem: String? {
    switch look {
    case .store, .database, .atomic:
      notDownloaded.isEmpty
        ? nil
        : "not downloaded from iCloud: \(notDownloaded.joined(separator: ", ")); rows may be missing"
    case .notDownloaded: "not downloaded from iCloud: only its placeholder is here"
    case .locked(let clause): "cannot be decrypted: it \(clause)"
    case .damaged(let message): "damaged: \(message)"
    case .nothing: "not an SQLite file, despite its name: damaged, encrypted or no store at all"
    }
  }

  /// The app that a path speaks of: the domain in a backup, a sandbox on a Mac, the name of an
  /// .xcappdata.
  static func app(of name: String, in container: String) -> String? {
    let parts = (FileSystem.name(of: container) + "/" + name).split(separator: "/").map(String.init)
    for (index, part) in parts.enumerated() {
      for prefix in ["AppDomain-", "AppDomainGroup-", "AppDomainPlugin-"]
      where part.hasPrefix(prefix) {
        return String(part.dropFirst(prefix.count))
      }
      if part.lowercased().hasSuffix(".xcappdata"), let word = part.split(separator: " ").first {
        let name = String(word)
        return name.lowercased().hasSuffix(".xcappdata") ? String(name.dropLast(10)) : name
      }
      if ["Containers", "Group Containers"].contains(part), index + 1 < parts.count,
        parts[index + 1].contains(".")
      {
        return parts[index + 1]
      }
    }
    return nil
  }
}

/// What a file turns out to be at a short look, without a trace beside it.
package enum StoreLook: Sendable, Equatable {
  /// A Core Data store, with what its main file says about it.
  case store(entities: [String], versionIdentifiers: [String])
  /// SQLite, but not Core Data.
  case database
  /// SQLite by its first bytes, and no more; in SQLite's words.
  case damaged(String)
  /// An XML or binary store.
  case atomic(AtomicStoreForm)
  /// No SQLite file.
  case nothing
  /// A placeholder of iCloud Drive stands in its place.
  case notDownloaded
  /// A file of an encrypted backup that the password does not open, with the reason as a clause.
  case locked(String)

  /// Looks at a main file as if nobody could write, so that nothing appears beside it.
  ///
  /// - Parameter log: its -wal, which need not lie beside it: a store that was never checkpointed has
  ///   its tables only there.
  package init(at path: String, log: String? = nil) {
    guard CloudPlaceholder(for: path) == nil else {
      self = .notDownloaded
      return
    }
    if FileSystem.isFile(path),
      let head = try? FileSystem.read(path, limit: AtomicStoreForm.headSize),
      let form = AtomicStoreForm(head: head)
    {
      self = .atomic(form)
      return
    }
    guard (FileSystem.status(path)?.size ?? 0) >= 100, FileSystem.isDatabase(path) else {
      self =
        Self.isStoreLog(log ?? path + "-wal")
        ? .store(entities: [], versionIdentifiers: []) : .nothing
      return
    }
    do {
      let connection = try Connection(path: path, mode: .immutable)
      let tables = try connection.value(
        """
        SELECT count(*) FROM sqlite_schema
        WHERE type = 'table' AND name IN ('Z_METADATA', 'Z_PRIMARYKEY')
        """)
      guard case .integer(2)? = tables else {
        self =
          Self.isStoreLog(log ?? path + "-wal")
          ? .store(entities: [], versionIdentifiers: []) : .database
        return
      }
      let names = try? connection.rows(
        "SELECT Z_NAME FROM Z_PRIMARYKEY ORDER BY Z_NAME LIMIT 10000")
      let metadata = try? StoreMetadata(connection, path: path)
      self = .store(
        entities: (names ?? []).compactMap { $0.first?.text },
        versionIdentifiers: metadata?.versionIdentifiers.filter { !$0.isEmpty } ?? [])
    } catch {
      self = .damaged((error as? SQLiteError)?.message ?? "\(error)")
    }
  }

  /// Whether frames of a log hold the table that every store has.
  private static func isStoreLog(_ path: String) -> Bool {
    let log = (try? FileSystem.read(path, limit: 1 << 18)) ?? []
    return ByteSearch.place(of: Array("Z_METADATA".utf8), in: log) != nil
  }
}
