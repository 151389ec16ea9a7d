import Containers
import Files
import ManagedModel
import ManagedStore
import SQLite

/// The stores that a person named, one by one or by the folder they are in; each file once.
struct StoreList {
  /// Paths in the order named, those of a folder by name.
  private(set) var paths: [String] = []
  /// Whether a single store was named, and no folder.
  let isOne: Bool
  /// Links in named folders that reference stores, which are not followed.
  private(set) var links: [String] = []

  private var files: Set<[UInt64]> = []

  /// - Throws: ``CoreDataError`` of kind unreadable for a folder without a store.
  init(_ arguments: [String]) throws {
    var hasFolder = false
    isOne =
      Set(arguments.map { Array(FileSystem.canonical($0).utf8) }).count == 1
      && !arguments.contains(where: FileSystem.isDirectory)
    for argument in arguments {
      guard FileSystem.isDirectory(argument) else {
        add(argument)
        continue
      }
      hasFolder = true
      let folder =
        argument.count > 1 && argument.hasSuffix("/") ? String(argument.dropLast()) : argument
      let found = try Self.stores(in: folder)
      links += found.links
      guard !found.stores.isEmpty else {
        let first = found.links.first.map { "The link \($0) is not followed: name it to use it. " }
        throw CoreDataError(
          .unreadable, "no Core Data store is in the folder", path: argument,
          hint: (first ?? "") + "Only the files in it and one folder below were checked.")
      }
      for path in found.stores { add(path) }
    }
    guard !paths.isEmpty || hasFolder else {
      throw CoreDataError(.usage, "STORE is missing", hint: "Name a store or a folder of stores.")
    }
  }

  /// Two names of one file are one store, and two spellings of one letter are two names; a path where nothing is stays, to be reported as an error.
  private mutating func add(_ path: String) {
    if let status = FileSystem.status(path) {
      guard files.insert([status.device, status.inode]).inserted else { return }
    } else if paths.contains(where: { $0.utf8.elementsEqual(path.utf8) }) {
      return
    }
    paths.append(path)
  }

  /// The stores directly in a folder, and one folder below, where apps keep theirs.
  ///
  /// A link is not followed: it can reference any store of the user's, who named only this folder.
  private static func stores(in folder: String) throws -> (stores: [String], links: [String]) {
    var found: (stores: [String], links: [String]) = ([], [])
    let opened = try Folder(folder)
    func look(at name: String, in inner: Folder, _ path: String) throws -> Bool {
      switch try inner.entry(name)?.kind {
      case .folder: return true
      case .file: if isStore(path) { found.stores.append(path) }
      case .link: if FileSystem.isFile(path), isStore(path) { found.links.append(path) }
      case .other, nil: break
      }
      return false
    }
    var folders: [String] = []
    for name in try opened.list() {
      if name.hasPrefix(".") {
        found.stores += notDownloaded(name, in: folder)
      } else if try look(at: name, in: opened, folder + "/" + name) {
        folders.append(name)
      }
    }
    for name in folders where !isModel(name) {
      guard let inner = try? opened.folder(name) else { continue }
      for child in (try? inner.list()) ?? [] {
        if child.hasPrefix(".") {
          found.stores += notDownloaded(child, in: folder + "/" + name)
        } else {
          _ = try look(at: child, in: inner, folder + "/" + name + "/" + child)
        }
      }
    }
    return found
  }

  /// The store that a placeholder of iCloud Drive stands for: opening it says so.
  private static func notDownloaded(_ name: String, in folder: String) -> [String] {
    guard let file = CloudPlaceholder.file(ofPlaceholder: name), StoreFileName.isStore(file),
      !isLeftover(file), CloudPlaceholder(for: folder + "/" + file) != nil
    else { return [] }
    return [folder + "/" + file]
  }

  /// By its header and tables. One that is damaged, or is no SQLite file in spite of its name, counts
  /// too, so that it is reported and not passed over in silence.
  private static func isStore(_ path: String) -> Bool {
    let name = FileSystem.name(of: path)
    guard !isLeftover(name), let status = FileSystem.status(path), status.kind == .file else {
      return false
    }
    guard FileSystem.isDatabase(path) else {
      return StoreFileName.isStore(name)
    }
    if hasTables(path) { return true }
    do {
      // Its tables may be in its -wal alone; and it says what else it is.
      _ = try Store(path: path)
      return true
    } catch let error as CoreDataError {
      // 134000: a database of another kind.
      return error.code != .persistentStoreInvalidType
    } catch {
      return true
    }
  }

  /// Whether Core Data's tables are in the main file, which nearly every store's are: opening each of a
  /// thousand stores as a whole, one after the other, would take a tenth of what migrating them takes.
  private static func hasTables(_ path: String) -> Bool {
    guard let connection = try? Connection(path: path, mode: .immutable),
      let rows = try? connection.rows(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name IN ('Z_METADATA', 'Z_PRIMARYKEY')"
      )
    else { return false }
    return rows.count == 2
  }

  private static func isModel(_ path: String) -> Bool {
    [".momd", ".xcdatamodeld", ".xcdatamodel", ".xcmappingmodel"].contains(where: path.hasSuffix)
  }

  /// Names that SQLite, a migration, a repair, a reset or a rollback gives.
  private static func isLeftover(_ name: String) -> Bool {
    if StoreSuffix.isCompanion(name) { return true }
    let marks = [".backup-", ".unrepaired-", ".undone-", "-backup-", "-undone-"]
    return marks.contains { mark in
      name.ranges(of: mark).contains { name[$0.upperBound...].first?.isNumber == true }
    }
  }
}
