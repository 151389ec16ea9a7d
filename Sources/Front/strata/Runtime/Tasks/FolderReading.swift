import Commands
import Containers
import Files
import Interface
import ManagedModel
import ManagedStore

/// Looks into folders for Core Data stores, without a trace.
enum FolderReading {
  /// A folder of more is cut; nobody picks from so many.
  private static let limit = 5_000
  /// Names of one subfolder that are looked at for what it is.
  private static let inner = 2_000

  static func list(_ path: String) throws -> FolderListing {
    let path = FileSystem.canonical(path)
    let names = try FileSystem.list(path)
    var entries: [FolderListing.Entry] = []
    for name in names where !StoreSuffix.isCompanion(name) {
      guard entries.count < limit else { break }
      try Task.checkCancellation()
      let folder = path == "/" ? "/" : path + "/"
      let full = folder + name
      if let file = CloudPlaceholder.file(ofPlaceholder: name), StoreFileName.isStore(file),
        let placeholder = CloudPlaceholder(for: folder + file)
      {
        entries.append(
          FolderListing.Entry(
            name: file, path: folder + file, kind: .file, bytes: placeholder.bytes ?? 0))
        continue
      }
      guard let status = FileSystem.status(full), status.kind != .other else { continue }
      let modified = FileSystem.modification(full).map(LocalTime.ofFile) ?? ""
      entries.append(
        FolderListing.Entry(
          name: name, path: full,
          kind: status.kind == .directory || isArchive(full, bytes: status.size) ? .folder : .file,
          bytes: status.size, modified: modified))
    }
    let folders = entries.filter { $0.kind == .folder && !isModel($0.name) }
    return FolderListing(
      path: path, parent: FileSystem.parent(of: path),
      entries: places(in: path) + folders + entries.filter { $0.kind == .file },
      isCut: entries.count == limit)
  }

  /// On a Mac, where apps keep their stores, offered in the home folder.
  private static func places(in path: String) -> [FolderListing.Entry] {
    #if os(macOS)
      return [
        SimulatorStores.place, "Library/Application Support", "Library/Containers",
        "Library/Group Containers",
      ].compactMap { name in
        let full = path + "/" + name
        guard FileSystem.isDirectory(full) else { return nil }
        return FolderListing.Entry(name: name, path: full, kind: .folder)
      }
    #else
      return []
    #endif
  }

  /// Reports what each entry is, a few at a time.
  @concurrent static func peek(
    into listing: FolderListing, _ report: @Sendable ([String: StorePeek]) -> Void
  ) async throws {
    var found: [String: StorePeek] = [:]
    var reported = ContinuousClock.now
    // Files first: they are what is looked for.
    let entries =
      listing.entries.filter { $0.kind == .file } + listing.entries.filter { $0.kind == .folder }
    for entry in entries {
      try Task.checkCancellation()
      found[entry.path] =
        entry.kind == .folder ? folder(entry.path) : StoreLook(at: entry.path).peek
      if ContinuousClock.now - reported > .milliseconds(50) {
        report(found)
        found = [:]
        reported = .now
      }
    }
    report(found)
  }

  /// The other stores in the folder of a store; none where the folder cannot be read.
  ///
  /// - Throws: `CancellationError` where the task is cancelled.
  static func siblings(of path: String) throws -> [FolderListing.Entry] {
    let own = FileSystem.canonical(path)
    guard let folder = FileSystem.parent(of: own) else { return [] }
    let listing: FolderListing
    do { listing = try list(folder) } catch is CoreDataError { return [] }
    return try listing.entries.lazy.filter { $0.kind == .file && $0.path != own }.prefix(inner)
      .filter { entry in
        try Task.checkCancellation()
        if case .store = StoreLook(at: entry.path).peek { return true }
        return false
      }
  }

  /// By its name first: not every file of a folder is read for this.
  private static func isArchive(_ path: String, bytes: Int) -> Bool {
    guard bytes > 0,
      [".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".zst"].contains(where: path.hasSuffix)
    else { return false }
    if case .archive? = ContainerForm(at: path) { return true }
    return false
  }

  private static func folder(_ path: String) -> StorePeek {
    if let form = ContainerForm(at: path), form != .folder {
      return form == .backup && BackupPasswords.isLocked(path)
        ? .locked(form.noun) : .container(form.noun)
    }
    var (stores, models) = (0, 0)
    for name in ((try? FileSystem.list(path)) ?? []).prefix(inner) {
      if isModel(name) { models += 1 }
      if StoreFileName.isStore(name) { stores += 1 }
    }
    return .folder(stores: stores, models: models)
  }

  private static func isModel(_ name: String) -> Bool {
    [".xcdatamodeld", ".momd", ".xcdatamodel", ".mom"].contains(where: name.hasSuffix)
  }
}

/// The stores of an archive, a backup or an app's data, to be picked from as those of a folder are.
enum ContainerReading {
  /// Opens the backups in a container with a password and lists their stores; the keys are kept for as long as
  /// the interface runs.
  ///
  /// - Throws: ``CoreDataError`` for a wrong one; `CancellationError` where the task is cancelled.
  static func unlock(
    _ path: String, with password: Secret, _ progress: @escaping (Double) -> Void
  ) throws -> (FolderListing, [String: StorePeek]) {
    try listing(
      of: Container(
        path,
        unlocking: BackupUnlocking(
          ring: BackupPasswords.ringOfInterface, progress: progress,
          password: { _, attempt in attempt == 0 ? password : nil })))
  }

  /// An encrypted backup is met whose password is not known yet.
  struct Locked: Error {
    var backup: LockedBackup
  }

  /// - Returns: `nil` for a folder with files under their own names.
  /// - Throws: ``Locked``.
  static func list(_ path: String) throws -> (FolderListing, [String: StorePeek])? {
    guard let form = ContainerForm(at: path), form != .folder else { return nil }
    let path = FileSystem.canonical(path)
    let container = try Container(
      path,
      unlocking: BackupUnlocking(ring: BackupPasswords.ringOfInterface) { backup, _ in
        throw Locked(
          backup: LockedBackup(
            path: path, parent: FileSystem.parent(of: path), name: backup.text))
      })
    return try listing(of: container)
  }

  private static func listing(
    of container: Container
  ) throws -> (FolderListing, [String: StorePeek]) {
    var peeks: [String: StorePeek] = [:]
    let entries = try container.stores().map { store in
      let path = container.path + "//" + store.name
      peeks[path] = store.peek
      return FolderListing.Entry(
        name: store.name, path: path, kind: .file,
        bytes: store.allBytes)
    }
    var listing = FolderListing(
      path: container.path, parent: FileSystem.parent(of: container.path), entries: entries)
    listing.notes = container.notes
    return (listing, peeks)
  }
}

/// The stores of simulators, by simulator and bundle identifier: the names of their folders show nobody
/// anything.
enum SimulatorReading {
  /// Where the simulators are on a Mac; `nil` elsewhere, and where there are none.
  static func folder(in home: String?) -> String? {
    #if os(macOS)
      return home.map { $0 + "/" + SimulatorStores.place }.flatMap {
        FileSystem.isDirectory($0) ? FileSystem.canonical($0) : nil
      }
    #else
      return nil
    #endif
  }

  /// - Returns: `nil` for another folder.
  static func list(_ path: String) throws -> (FolderListing, [String: StorePeek])? {
    let path = FileSystem.canonical(path)
    guard SimulatorStores.isPlace(path) else { return nil }
    let found = try SimulatorStores(in: path)
    // If none exists, the folders can be gone through.
    guard !found.stores.isEmpty else { return nil }
    var peeks: [String: StorePeek] = [:]
    let entries = found.stores.map { store in
      peeks[store.path] = store.look.peek
      // The end of a name is seen where it is too long.
      return FolderListing.Entry(
        name:
          "\(store.device.description)  \(store.owner)  \(FileSystem.name(of: store.path))",
        path: store.path, kind: .file, bytes: store.bytes + (store.logBytes ?? 0),
        modified: LocalTime.ofFile(store.modified))
    }
    return (
      FolderListing(
        path: found.path, parent: FileSystem.parent(of: found.path), entries: entries,
        isCut: !found.notes.isEmpty), peeks
    )
  }
}

extension ContainedStore {
  /// What it was taken for when the container was listed: there is something.
  fileprivate var peek: StorePeek { look.peek == .nothing ? .damaged("damaged") : look.peek }
}

extension StoreLook {
  fileprivate var peek: StorePeek {
    switch self {
    case .store(let entities, _): .store(entities: entities.count)
    case .atomic(let form): .atomic(form.rawValue)
    case .database: .database
    case .damaged: .damaged("damaged")
    case .nothing: .nothing
    case .notDownloaded: .damaged("not downloaded")
    case .locked: .damaged("cannot be decrypted")
    }
  }
}
