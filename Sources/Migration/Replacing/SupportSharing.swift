import Files
import ManagedModel
import ManagedStore

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
