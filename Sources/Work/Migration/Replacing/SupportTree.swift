import Files
import ManagedModel
import ManagedStore

/// A store's support folder with all that lies in it: external data, and what else an app keeps there.
///
/// Every folder is opened through no link. A link in it that names something in the same folder is copied as
/// a link; one that leads elsewhere is refused, since a store that came from elsewhere could name any file of
/// its reader's.
package enum SupportTree {
  /// Copies a store's support folder for another store, which knows nothing of the first.
  ///
  /// - Parameter isToStay: whether it is brought to the disk, and not removed in the end as a rehearsal's
  ///   is.
  /// - Returns: what a person should know of its links, as sentences.
  /// - Throws: ``CoreDataError`` of kind refused for a link that leads out of the folder, or a folder that is
  ///   itself a link; nothing is made then.
  @discardableResult
  package static func copy(
    of files: StoreFiles, to destination: String, isToStay: Bool = true, check: () throws -> Void
  ) throws -> [String] {
    guard let source = try opened(files) else { return [] }
    var notes: [String] = []
    try lookThrough(source, depth: 0, &notes)
    let place = try FileSystem.opened(destination)
    try clone(
      source, to: place.folder.createFolder(place.name), links: false, isToStay: isToStay,
      check: check)
    return notes
  }

  /// What became of a copy that leaves out what cannot be read.
  package struct Copied {
    /// The folder's name.
    package let name: String
    /// What a person should know of its links, as sentences.
    package fileprivate(set) var notes: [String] = []
    /// Files and folders in it that cannot be read and were left out, with the reason.
    package fileprivate(set) var unreadable: [(path: String, reason: String)] = []
  }

  /// Copies a store's support folder, as far as it can be read, for a store that is made in a folder and is
  /// to be at a path. `nil` where there is nothing to be copied.
  package static func copyWhatIsReadable(
    of files: StoreFiles, for output: String, into made: Folder, check: () throws -> Void
  ) throws -> Copied? {
    guard let target = try place(of: files, beside: output), let source = try opened(files) else {
      return nil
    }
    var copied = Copied(name: FileSystem.name(of: target))
    try lookThrough(source, depth: 0, &copied.notes) {
      copied.unreadable.append(($0.path ?? source.path, $0.message))
    }
    try clone(
      source, to: made.createFolder(copied.name), links: false,
      leavingOut: { copied.unreadable.append(($0.path ?? source.path, $0.message)) },
      check: check)
    return copied
  }

  /// Where the support folder of a store that is about to be made at a path is to be; `nil` where there
  /// is none to be copied.
  ///
  /// - Throws: ``CoreDataError`` of kind refused where something is there.
  @discardableResult
  package static func place(of files: StoreFiles, beside output: String) throws -> String? {
    let target = StoreFiles(path: output).supportFolder
    guard try opened(files) != nil, target != files.supportFolder else { return nil }
    guard FileIdentity(of: target) == nil else {
      throw CoreDataError(
        .refused, "a support folder of that name is there already", path: target,
        hint: "Move it away, or name another output. The store is unchanged.")
    }
    return target
  }

  /// A store's support folder; `nil` where it has none.
  private static func opened(_ files: StoreFiles) throws -> Folder? {
    do {
      return try files.openSupportFolder()
    } catch var error as CoreDataError {
      // What is there is not the store's: it is not missing, and not copied.
      error.kind = .refused
      throw error
    }
  }

  /// Before anything is copied.
  ///
  /// - Parameter leavingOut: called with a folder that cannot be read; without it that is an error.
  private static func lookThrough(
    _ folder: Folder, depth: Int, _ notes: inout [String],
    leavingOut: ((CoreDataError) -> Void)? = nil
  ) throws {
    for name in try folder.list() {
      switch try folder.entry(name)?.kind {
      case .folder:
        try unlessUnreadable(leavingOut) {
          if let inner = try folder.folder(name) {
            try lookThrough(inner, depth: depth + 1, &notes, leavingOut: leavingOut)
          }
        }
      case .link:
        let path = folder.path(of: name)
        guard let target = try folder.target(ofLink: name), isInside(target, depth: depth) else {
          throw CoreDataError(
            .refused, "a link leads out of the store's support folder and is not followed",
            path: path,
            hint: "Put the file that it names in its place, or remove it. The store is unchanged.")
        }
        notes.append("\(path) is a link to \(target), and was copied as a link.")
      case .other:
        throw CoreDataError(
          .refused, "the support folder has something that is neither a file, a folder nor a link",
          path: folder.path(of: name), hint: "Move it away. The store is unchanged.")
      case .file, nil: continue
      }
    }
  }

  /// Whether a link in a folder that is so deep in the tree stays in the tree, by its text alone.
  private static func isInside(_ target: String, depth: Int) -> Bool {
    guard target.utf8.first != UInt8(ascii: "/") else { return false }
    var depth = depth
    for part in target.split(separator: "/") where part != "." {
      depth += part == ".." ? -1 : 1
      if depth < 0 { return false }
    }
    return true
  }

  /// Makes the content of a folder that was made the same as another's: files that are the same files where
  /// `links` says so and the file system can, else copies that were compared; links stay links.
  ///
  /// Core Data never writes to an external data file twice, so that two names of one are safe.
  ///
  /// - Parameters:
  ///   - isToStay: whether it is brought to the disk.
  ///   - leavingOut: called with a file that cannot be read; without it that is an error.
  static func clone(
    _ source: Folder, to made: Folder, links: Bool, isToStay: Bool = true,
    leavingOut: ((CoreDataError) -> Void)? = nil, check: () throws -> Void
  ) throws {
    for name in try source.list() {
      try check()
      guard let entry = try source.entry(name) else { continue }
      switch entry.kind {
      case .folder:
        // It was reported when all was looked through.
        try unlessUnreadable(leavingOut.map { _ in { _ in } }) {
          guard let inner = try source.folder(name) else { return }
          _ = try inner.list()
          try clone(
            inner, to: made.createFolder(name), links: links, isToStay: isToStay,
            leavingOut: leavingOut, check: check)
        }
      case .link:
        guard let target = try source.target(ofLink: name) else { continue }
        try made.createLink(name, to: target)
      case .file:
        if links, source.link(name, to: name, in: made) { continue }
        try unlessUnreadable(leavingOut) {
          do {
            try copy(name, of: source, to: made, isToStay: isToStay, check: check)
          } catch let error as CoreDataError where error.kind == .unreadable && leavingOut != nil {
            try made.remove(name)
            throw error
          }
        }
      case .other:
        if links, source.link(name, to: name, in: made) { continue }
        throw CoreDataError(
          .refused, "the support folder has something that is neither a file, a folder nor a link",
          path: source.path(of: name), hint: "Move it away. The store is unchanged.")
      }
    }
    try FileAttributes.copy(from: .folder(source), to: made)
    if isToStay { try made.sync() }
  }

  /// Does something, and reports instead of throwing where it cannot read what it needs.
  private static func unlessUnreadable(
    _ tell: ((CoreDataError) -> Void)?, _ body: () throws -> Void
  ) throws {
    do {
      try body()
    } catch let error as CoreDataError where error.kind == .unreadable {
      guard let tell else { throw error }
      tell(error)
    }
  }

  /// Copies one file, and compares the copy.
  static func copy(
    _ name: String, of source: Folder, to made: Folder, isToStay: Bool, check: () throws -> Void
  ) throws {
    guard let file = try source.file(name) else { return }
    let copy = try made.create(name)
    try FileSystem.copy(file, into: copy) { _ in try check() }
    guard try file.sha256() == copy.sha256() else {
      throw CoreDataError(
        .failed, "an external data file differs from its original", path: copy.path)
    }
    FileAttributes.copy(from: .file(file), to: copy)
    if isToStay { try copy.sync() }
  }

  /// Moves what lies in one folder into another where its name is free there; what it does not take
  /// stays.
  static func merge(_ source: String, into destination: String, in names: StoreNames) throws {
    guard let from = try names.opened(source), let to = try names.opened(destination),
      let old = try from.folder.folder(from.name), let new = try to.folder.folder(to.name)
    else { return }
    try merge(old, into: new)
    from.folder.removeEmptyFolder(from.name)
  }

  private static func merge(_ old: Folder, into new: Folder) throws {
    for name in try old.list() {
      let (entry, there) = (try old.entry(name), try new.entry(name))
      if there == nil {
        try old.renameExclusively(name, to: name, in: new)
      } else if entry?.kind == .folder, there?.kind == .folder,
        let inner = try old.folder(name), let other = try new.folder(name)
      {
        try merge(inner, into: other)
        old.removeEmptyFolder(name)
      }
    }
  }
}

/// Other stores whose external data lies in the same hidden folder as a store's.
///
/// Core Data finds that folder by the part of a store's name before the last dot: `App.sqlite`, `App.store`
/// and `App.backup-1` have one folder. What one of them names is kept, whatever is done to the others.
package struct SupportSharing {
  /// Names of the stores that name files in the folder.
  package private(set) var stores: [String] = []
  /// Names of those that cannot be read: they may name every file.
  package private(set) var unreadable: [String] = []
  private var named: Set<String> = []
  private let files: StoreFiles

  /// Looks at the stores in the folder of a store; nothing is changed.
  package init(of path: String) {
    files = StoreFiles(path: path)
    let (own, stem) = (FileSystem.name(of: path), FileSystem.stem(of: path))
    guard let folder = try? Folder(files.folder) else { return }
    let there = try? ExternalFolder(files).list()
    if let there, there.isEmpty { return }
    let identity = (try? folder.entry(own))??.identity
    for name in (try? folder.list()) ?? []
    where FileSystem.isSame(FileSystem.stem(of: name), stem) && !FileSystem.isSame(name, own) {
      guard !StoreSuffix.isCompanion(name),
        let entry = (try? folder.entry(name)) ?? nil, entry.identity != identity
      else { continue }
      let other = folder.path(of: name)
      switch entry.kind {
      case .file: if FileSystem.isDatabase(other) { add(other, name, Set(there ?? [])) }
      // Whatever it references is not looked into.
      case .link: if FileSystem.isDatabase(other) { unreadable.append(name) }
      case .folder, .other: continue
      }
    }
  }

  private mutating func add(_ path: String, _ name: String, _ there: Set<String>) {
    do {
      // One that is damaged is read as far as it can be.
      let store = try Store(path: path, files: StoreFiles(path: path), isLenient: true)
      guard store.modelSource != .raw, !store.isMended else {
        unreadable.append(name)
        return
      }
      let report = try store.externalData()
      guard report.unlisted == nil else {
        unreadable.append(name)
        return
      }
      let own = there.subtracting(report.orphaned)
      if !own.isEmpty { stores.append(name) }
      named.formUnion(own)
    } catch let error as CoreDataError where error.code == .persistentStoreInvalidType {
      // A database of another kind knows nothing of the folder.
    } catch {
      unreadable.append(name)
    }
  }

  /// Whether another store names a file of external data, or may.
  package func isNamed(_ file: String) -> Bool { !unreadable.isEmpty || named.contains(file) }

  /// Puts the files that other stores name into a new support folder, which is to take the place of the
  /// present one: second names where the file system has them, else copies.
  ///
  /// - Parameter made: the new folder's name beside the store; made where it is not there.
  /// - Returns: what a person should know of it, as sentences.
  func keep(in made: String, of names: StoreNames, check: () throws -> Void) throws -> [String] {
    guard !(stores + unreadable).isEmpty, let present = try files.openSupportFolder(),
      let data = try ExternalFolder(files).folder()
    else { return [] }
    let kept = try data.list().filter(isNamed)
    guard !kept.isEmpty else { return [] }
    let beside = try Folder(names.folder)
    let isNew = try beside.entry(made) == nil
    let support = try isNew ? beside.createFolder(made) : beside.makeFolder(made)
    let isDataNew = try support.entry(FileSystem.name(of: data.path)) == nil
    let target = try support.makeFolder(FileSystem.name(of: data.path), permissions: 0o700)
    for name in kept where try target.entry(name) == nil {
      guard try data.entry(name)?.kind == .file, !data.link(name, to: name, in: target) else {
        continue
      }
      try SupportTree.copy(name, of: data, to: target, isToStay: true, check: check)
    }
    if isDataNew { try FileAttributes.copy(from: .folder(data), to: target) }
    if isNew { try FileAttributes.copy(from: .folder(present), to: support) }
    try target.sync()
    try support.sync()
    let others = (stores + unreadable.map { $0 + " (cannot be read)" }).joined(separator: ", ")
    return [
      "\(NumberText.counted(kept.count, "external data file stays", plural: "external data files stay")) in \(StoreSuffix.supportFolder(of: names.store)), which other stores share: \(others)."
    ]
  }
}
