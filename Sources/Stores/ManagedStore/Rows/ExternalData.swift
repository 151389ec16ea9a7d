import Files
import ManagedModel
import SQLite
import Salvage
import StoreTables
import Synchronization

/// How a store's external data files fit what its rows name.
public struct ExternalDataReport: Sendable, Equatable {
  /// A file that is there and cannot be read.
  public struct Unreadable: Sendable, Equatable {
    /// The file's name.
    public var name: String
    /// Why: a clause such as `a symbolic link, which is not followed`.
    public var reason: String
  }

  /// Files that rows name.
  public var referenced = 0
  /// Named by a row, and nothing of that name is there.
  public var missing: [String] = []
  /// There, but named by no row.
  public var orphaned: [String] = []
  /// Named by a row and there, but not to be read: no permission, or a link, which is never followed.
  public var unreadable: [Unreadable] = []
  /// Why ``orphaned`` is unknown: the folder cannot be listed, or no model says which values name its files; `nil`
  /// where it is known.
  public var unlisted: String?

  /// Makes a report; without values, that of a store without external data.
  public init(
    referenced: Int = 0, missing: [String] = [], orphaned: [String] = [],
    unreadable: [Unreadable] = [], unlisted: String? = nil
  ) {
    self.referenced = referenced
    self.missing = missing
    self.orphaned = orphaned
    self.unreadable = unreadable
    self.unlisted = unlisted
  }

  /// What of it cannot be read, as sentences.
  package var unreadableSentences: [String] {
    var sentences: [String] = []
    if let first = unreadable.first {
      let names = unreadable.prefix(3).map(\.name).joined(separator: ", ")
      sentences.append(
        "\(unreadable.count) of \(referenced) external data files are there and cannot be read: \(names)\(unreadable.count > 3 ? " …" : "") (\(first.reason))."
      )
    }
    if let unlisted {
      sentences.append(
        "The folder of external data cannot be listed (\(unlisted)): which files are unreferenced is unknown."
      )
    }
    return sentences
  }
}

extension Store {
  /// Compares the rows' references with the files beside the store.
  ///
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func externalData() throws -> ExternalDataReport { try externalData(beside: {}) }

  /// The same while `work` is done, which may use the store.
  package func externalData(beside work: () throws -> Void) throws -> ExternalDataReport {
    var report = ExternalDataReport()
    var places: [(table: String, columns: [String])] = []
    for table in entityTables {
      for entry in table.attributes where entry.attribute.allowsExternalBinaryDataStorage {
        if let index = places.firstIndex(where: { $0.table == table.table }) {
          if !places[index].columns.contains(entry.column) {
            places[index].columns.append(entry.column)
          }
        } else {
          places.append((table.table, [entry.column]))
        }
      }
    }
    // In the order of the table, which is that of a row's values.
    for index in places.indices {
      let order = database.tables[places[index].table]?.map(\.name) ?? []
      places[index].columns.sort {
        (order.firstIndex(of: $0) ?? .max, $0) < (order.firstIndex(of: $1) ?? .max, $1)
      }
    }
    let scans = places.map { try? externalScan(of: $0.table, $0.columns) }
    defer { for scan in scans { scan?.stop() } }
    try work()
    let named = try reading {
      var named: Set<String> = []
      for (place, scan) in zip(places, scans) {
        let names =
          try externalNames(of: place.table, place.columns, told: scan)
          ?? askedExternalNames(of: place.table, place.columns)
        for name in names { named.insert(name.name) }
      }
      return named
    }
    let folder = ExternalFolder(files)
    report.referenced = named.count
    for name in named.sorted() {
      switch folder.place(of: name) {
      case .file: continue
      case .missing: report.missing.append(name)
      case .unreadable(let error):
        report.unreadable.append(.init(name: name, reason: error.message))
      }
    }
    (report.orphaned, report.unlisted) = try orphans(in: folder, besides: named)
    return report
  }

  /// Files that no row names, or why that is not known.
  func orphans(
    in folder: ExternalFolder, besides named: Set<String>
  ) throws -> (names: [String], unlisted: String?) {
    do {
      let names = Set(try folder.list()).subtracting(named).sorted()
      guard modelSource == .raw, !names.isEmpty else { return (names, nil) }
      return (
        [],
        "without a model it is not known which of \(NumberText.counted(names.count, "file")) the rows reference"
      )
    } catch let error as CoreDataError {
      return ([], error.message)
    }
  }

  /// Rows of persistent history; `nil` where the store keeps none.
  ///
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func history() throws -> (transactions: Int, changes: Int)? {
    guard database.contains("ATRANSACTION"), database.contains("ACHANGE") else { return nil }
    return try reading {
      let transactions = try connection.value("SELECT count(*) FROM ATRANSACTION")?.integer ?? 0
      let changes = try connection.value("SELECT count(*) FROM ACHANGE")?.integer ?? 0
      return (Int(transactions), Int(changes))
    }
  }
}

/// A value that a row keeps in a file of its own.
struct ExternalName: Equatable {
  /// The row's key.
  var key: Int64
  /// The column, in the order in which they were asked for.
  var column: Int
  /// The file's name.
  var name: String
}

extension Store {
  /// Begins to read which rows of a table name files, from the file's pages.
  ///
  /// - Returns: `nil` where SQLite is to be asked: somebody may write to the file, or what a row holds in
  ///   these columns is not determined by the row alone.
  func externalScan(of table: String, _ columns: [String]) throws -> MarkScan? {
    guard connection.isImmutable, mended == nil,
      let root = try connection.value(
        "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = ?", [.text(table)])?
        .integer.flatMap({ Int(exactly: $0) }), root > 1
    else { return nil }
    var places: [String: Int] = [:]
    var keys: [[Value]] = []
    for row in try connection.rows("PRAGMA main.table_xinfo(\(quoted(table)))") {
      // A column that is computed has no place of its own in a row.
      guard row.count >= 7, let place = row[0].integer, row[6].integer == 0, let name = row[1].text
      else { return nil }
      if row[5].integer != 0 { keys.append(row) }
      // Rows from before the column came have its default.
      if row[4].text.map({ $0.lowercased() == "null" }) ?? true { places[name] = Int(place) }
    }
    let isKept = try connection.rows("PRAGMA main.index_list(\(quoted(table)))").contains {
      $0.count >= 4 && $0[3].text == "pk"
    }
    guard keys.count == 1, keys[0][1].text == "Z_PK", keys[0][2].text?.uppercased() == "INTEGER",
      !isKept
    else { return nil }
    let told = columns.compactMap { places[$0] }
    guard told.count == columns.count, zip(told, told.dropFirst()).allSatisfy({ $0 < $1 }) else {
      return nil
    }
    let marked = MarkedColumns(
      root: root, places: told, mark: MarkedBytes.fileMark, most: MarkedBytes.mostOfName)
    return MarkScan(marked, in: connection.path)
  }

  /// What a scan found, in the order of keys; `nil` where it did not say.
  func externalNames(
    of table: String, _ columns: [String], told scan: MarkScan?
  ) throws -> [ExternalName]? {
    guard mended == nil, let found = scan?.found(isCancelled: { connection.shouldStop }) else {
      return nil
    }
    var asking: [Int: Statement] = [:]
    return try found.compactMap { found in
      var bytes = found.bytes
      if bytes == nil {
        let column = quoted(columns[found.column])
        let statement =
          try asking[found.column]
          ?? connection.prepare(
            """
            SELECT \(MarkedBytes.reference(column)) FROM \(quoted(table))
            WHERE Z_PK = ? AND \(MarkedBytes.isFile(column))
            """)
        asking[found.column] = statement
        try statement.bind([.integer(found.key)])
        if try statement.step() { bytes = statement.bytes(at: 0) }
      }
      guard let bytes, case .file(let name) = MarkedBytes(bytes) else { return nil }
      return ExternalName(key: found.key, column: found.column, name: name)
    }
  }

  /// The same, by SQLite: a column after the other.
  ///
  /// - Parameter condition: which rows are looked at; `nil` for all.
  func askedExternalNames(
    of table: String, _ columns: [String], where condition: String? = nil
  ) throws -> [ExternalName] {
    var names: [ExternalName] = []
    for (index, column) in columns.enumerated() {
      let conditions = [condition, MarkedBytes.isFile(quoted(column))].compactMap { $0 }
      let statement = try connection.prepare(
        """
        SELECT \(MarkedBytes.reference(quoted(column))), Z_PK FROM \(quoted(table))
        WHERE \(conditions.joined(separator: " AND "))
        """)
      while try statement.step() {
        guard case .file(let name) = MarkedBytes(statement.bytes(at: 0)) else { continue }
        names.append(ExternalName(key: statement.integer(at: 1), column: index, name: name))
      }
    }
    return names
  }
}

/// What is found under the name of an external data file that a row holds.
package enum ExternalPlace: Sendable {
  /// A regular file in the store's own folder, open for reading.
  case file(OpenFile)
  /// Nothing is there, or the name is none of Core Data's.
  case missing
  /// Something is there that cannot be read: a link, which is never followed, since a store that came
  /// from elsewhere could name any file of its reader's; no permission; an error of the disk; the
  /// placeholder of a file that is not downloaded.
  case unreadable(CoreDataError)

  /// Whether nothing is there.
  package var isMissing: Bool { if case .missing = self { true } else { false } }
}

/// The folder of a store's external data, opened once and through no link.
package final class ExternalFolder: Sendable {
  private enum State {
    case unopened
    case open(Folder)
    case missing
    case unreadable(CoreDataError)
  }

  private let files: StoreFiles
  private let state = Mutex<State>(.unopened)

  /// Nothing is opened before the first question.
  package init(_ files: StoreFiles) { self.files = files }

  /// The file of a name that a row holds.
  package func place(of name: String) -> ExternalPlace {
    guard StoreFiles.isExternalName(name) else { return .missing }
    switch opened() {
    case .missing, .unopened: return .missing
    case .unreadable(let error): return .unreadable(error)
    case .open(let folder):
      do {
        if let file = try folder.file(name) { return .file(file) }
        let placeholder = CloudPlaceholder.name(for: name)
        guard try folder.entry(placeholder)?.kind == .file else { return .missing }
        return .unreadable(CloudPlaceholder.error(for: folder.path(of: name)))
      } catch let error as CoreDataError {
        return .unreadable(error)
      } catch {
        return .missing
      }
    }
  }

  /// Names of the regular files in the folder, sorted; none where there is no such folder.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable where the folder is there and cannot be listed.
  package func list() throws -> [String] {
    switch opened() {
    case .missing, .unopened: return []
    case .unreadable(let error): throw error
    case .open(let folder):
      return try folder.list().filter {
        try CloudPlaceholder.file(ofPlaceholder: $0) == nil && folder.entry($0)?.kind == .file
      }
    }
  }

  /// The folder itself; `nil` if there is none.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable where it is there and cannot be opened.
  package func folder() throws -> Folder? {
    switch opened() {
    case .missing, .unopened: return nil
    case .unreadable(let error): throw error
    case .open(let folder): return folder
    }
  }

  /// Size of something in the folder, whether a row names it or not.
  func size(of name: String) -> Int { (try? folder()?.entry(name)?.size) ?? 0 }

  private func opened() -> State {
    state.withLock { state in
      if case .unopened = state {
        do {
          let data = FileSystem.name(of: files.externalDataFolder)
          state = try files.openSupportFolder()?.folder(data).map(State.open) ?? .missing
        } catch let error as CoreDataError {
          state = .unreadable(error)
        } catch {
          state = .missing
        }
      }
      return state
    }
  }
}

extension StoreFiles {
  /// The hidden folder beside the store: `.<name>_SUPPORT`.
  package var supportFolder: String {
    FileSystem.parent(of: externalDataFolder) ?? externalDataFolder
  }

  /// Opens the hidden folder beside the store; `nil` if there is none.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable for a link in its place, which is not followed, and for
  ///   a folder that may not be entered.
  package func openSupportFolder() throws -> Folder? {
    let (base, name) = (
      FileSystem.parent(of: supportFolder) ?? ".", FileSystem.name(of: supportFolder)
    )
    guard FileSystem.isDirectory(base) else { return nil }
    return try Folder(base).folder(name)
  }

  /// Whether a name can be one that Core Data gives to a file of external data: a damaged or hostile store
  /// must not lead outside its folder.
  package static func isExternalName(_ name: String) -> Bool {
    let isPlain = name.utf8.allSatisfy {
      $0.isOfWord && $0 < 0x80 || $0 == UInt8(ascii: "-")
    }
    return isPlain && !name.isEmpty && name.utf8.count <= 255
  }
}
