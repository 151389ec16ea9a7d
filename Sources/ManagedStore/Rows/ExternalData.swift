import Files
import ManagedModel
import SQLite

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
  /// Why the folder cannot be listed, so that ``orphaned`` is unknown; `nil` where it can.
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
    do {
      report.orphaned = Set(try folder.list()).subtracting(named).sorted()
    } catch let error as CoreDataError {
      report.unlisted = error.message
    }
    return report
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
