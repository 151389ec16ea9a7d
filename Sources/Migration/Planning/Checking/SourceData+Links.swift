import ManagedModel
import ManagedStore
import SQLite

/// Conditions on links; each is SQL over a row `t`, and `nil` where it cannot be.
extension SourceData {
  /// True for rows whose to-one references no object of its entity.
  func leadsNowhere(_ relationship: String, of entity: String) -> String? {
    guard let audit = store.audits().audit(of: relationship, in: entity),
      audit.storage.kind == .toOne
    else { return nil }
    let condition = audit.isUnsound
    if store.facts?.isSound(audit) == true { counts.know(entity, condition, 0) }
    return condition
  }

  /// True for rows of a one-to-one whose partner does not lead back.
  func isOneSided(_ relationship: String, of entity: String) -> String? {
    guard let own = store.model.relationship(named: relationship, of: entity),
      let inverse = own.inverse,
      // The columns of both sides are there.
      store.table(of: entity)?.toOneColumn(of: relationship) != nil,
      store.table(of: own.destination)?.toOneColumn(of: inverse) != nil
    else { return nil }
    return store.schema.disagreement(own, of: entity)
  }

  /// True for rows that have objects without a position in an ordered relationship.
  func hasNoPosition(_ relationship: String, of entity: String) -> String? {
    guard let storage = store.table(of: entity)?.storage(of: relationship),
      let position = storage.position, let unordered = storage.isUnordered
    else { return nil }
    // Few are: the table is looked through once, not for each object.
    let condition = """
      t.Z_PK IN (SELECT t.\(quoted(storage.owner)) FROM \(quoted(storage.table)) t WHERE \(unordered))
      """
    if store.facts?.nulls(in: position, ofTable: storage.table) == 0 {
      counts.know(entity, condition, 0)
    }
    return condition
  }

  /// How many objects a relationship of a row references.
  func count(of relationship: String, from entity: String) -> String? {
    store.table(of: entity)?.storage(of: relationship)?.count(of: "t.Z_PK").sql
  }

  /// References with a key that no object of the entity has, in a table of links or the owner's key: with the
  /// objects at the other ends of the links, or the objects that have the owner's key.
  func brokenRows(of audit: LinkAudit) throws -> FoundRows? {
    guard store.facts?.isSound(audit) != true else { return nil }
    let rows = "\(audit.rows) WHERE \(audit.isUnsound)"
    return try store.reading {
      guard audit.storage.isJoin else {
        return try FoundRows(rows, columns: "t.Z_PK, t.Z_ENT", on: store.connection) { row in
          store.id(row, else: audit.destination)
        }
      }
      let ends = audit.keys.map(\.value) + audit.keys.prefix(1).map(\.isSound)
      return try FoundRows(
        rows, columns: ends.joined(separator: ", "), on: store.connection
      ) { row in
        let isFirst = row[2].integer == 1
        return row[isFirst ? 0 : 1].integer.map {
          ObjectID(entity: isFirst ? audit.entity : audit.destination, key: $0)
        }
      }
    }
  }
}

extension SourceData {
  /// Rows whose values are in files that cannot be had.
  struct UnavailableFiles {
    var rows = 0
    /// The first of these objects, and the names of their files.
    var first: [ObjectID] = []
    var files: [String] = []
    /// Why the first file cannot be read; `nil` where the files are not there.
    var reason: String?

    fileprivate mutating func add(_ object: ObjectID, _ file: String, _ reason: String?) {
      if rows == 0 { self.reason = reason }
      rows += 1
      guard first.count < 5 else { return }
      first.append(object)
      files.append(file)
    }
  }

  /// Rows of exactly one entity whose value is in a file that is not there, or that cannot be read.
  func rowsWithoutFile(
    _ attribute: String, of entity: String
  ) throws -> (missing: UnavailableFiles, unreadable: UnavailableFiles)? {
    guard !counts.isGathering, let column = column(of: attribute, in: entity) else { return nil }
    var conditions = [MarkedBytes.isFile(column)]
    if let table = store.table(of: entity), let name = table.column(of: attribute),
      let keys = store.facts?.rowsInFiles(name, of: table)
    {
      guard !keys.isEmpty else { return nil }
      conditions.append("t.Z_PK IN (\(keys.list))")
    }
    guard let rows = rows(of: entity, where: conditions) else { return nil }
    return try store.reading {
      let statement = try store.connection.prepare(
        "SELECT t.Z_PK, \(MarkedBytes.reference(column)) \(rows) ORDER BY t.Z_PK")
      var (missing, unreadable) = (UnavailableFiles(), UnavailableFiles())
      let external = ExternalFolder(store.files)
      while try statement.step() {
        guard case .file(let name) = MarkedBytes(statement.bytes(at: 1)) else { continue }
        let object = ObjectID(entity: entity, key: statement.integer(at: 0))
        switch external.place(of: name) {
        case .file: continue
        case .missing: missing.add(object, name, nil)
        case .unreadable(let error): unreadable.add(object, name, error.message)
        }
      }
      return (missing, unreadable)
    }
  }
}
