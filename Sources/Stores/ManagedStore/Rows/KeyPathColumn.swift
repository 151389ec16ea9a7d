import ManagedModel
import SQLite
import StoreTables

/// A column that a key path names: `author.name`, `tags.name` (a list), `steps.@count`.
///
/// The path leads through relationships from the row's object. Where all of them are to-one, the column has one
/// value; else it has a list, in the order of the relationships.
struct KeyPathColumn {
  /// A relationship of the path, and how the store keeps it.
  private struct Hop {
    let entry: EntityTable.RelationshipColumns
    let storage: RelationshipStorage
    /// The table of the objects that it references.
    let table: EntityTable
  }

  /// What stands at the end of the path.
  private enum End {
    case attribute(EntityTable.AttributeColumn)
    case object
    case count
  }

  private let hops: [Hop]
  private let end: End
  /// Whether a relationship of the path is to-many, so that the column has a list.
  private let isList: Bool
  /// The column as a page has it, named by the path.
  let column: RowColumn

  /// A path has at most as many names: each is a join.
  private static let mostHops = 16

  /// - Throws: ``CoreDataError`` of kind usage for a path that leads nowhere.
  init(_ path: String, of table: EntityTable, in layout: StoreLayout) throws(CoreDataError) {
    var names = path.split(separator: ".", omittingEmptySubsequences: false).map {
      String($0.hasPrefix("#") ? $0.dropFirst() : $0)
    }[...]
    var hops: [Hop] = []
    var holder = table
    while hops.count < Self.mostHops, let name = names.first,
      let entry = holder.relationship(named: name)
    {
      guard let storage = entry.storage,
        let next = layout.table(of: entry.relationship.destination)
      else {
        throw CoreDataError(
          .usage, "the store has no column for \(holder.entity).\(name)", path: layout.path,
          entity: holder.entity, property: name)
      }
      hops.append(Hop(entry: entry, storage: storage, table: next))
      holder = next
      names.removeFirst()
    }
    let rest = names.joined(separator: ".")
    isList = hops.contains { $0.storage.kind != .toOne }
    if rest.isEmpty, !hops.isEmpty {
      end = .object
    } else if rest == "@count", hops.last.map({ $0.storage.kind != .toOne }) == true {
      end = .count
    } else if let attribute = holder.attributes.first(where: { $0.attribute.name == rest }) {
      end = .attribute(attribute)
    } else if rest == "@count" {
      throw CoreDataError(
        .usage, "@count needs a to-many relationship before it", path: layout.path,
        entity: table.entity, property: path)
    } else {
      throw layout.unknownProperty(
        rest.isEmpty ? path : rest, in: holder.entity, try layout.columns(of: holder.entity))
    }
    self.hops = hops
    let destination = hops.last?.entry.relationship.destination ?? table.entity
    let kind: RowColumn.Kind
    switch end {
    case .attribute(let entry):
      let type = entry.attribute.type
      if isList, type == .binary || type == .transformable {
        throw CoreDataError(
          .usage, "a list of \(type.name) values cannot be a column", path: layout.path,
          entity: table.entity, property: path,
          hint: "Name \(destination) itself: its values are in its own rows.")
      }
      kind = .attribute(type)
    case .count: kind = .attribute(.integer64)
    case .object:
      kind = isList ? .toMany(destination: destination) : .toOne(destination: destination)
    }
    column = RowColumn(name: path, kind: kind)
  }

  /// FROM and WHERE of what the owner of a key reaches; the last object's row is `d`.
  ///
  /// - Parameter key: SQL of the owner's key.
  private func source(of key: String) -> (sql: String, links: [LinkRow]) {
    var links: [LinkRow] = []
    var sql = "FROM"
    for (index, hop) in hops.enumerated() {
      let link = hop.storage.links(as: "l\(index)", of: index == 0 ? key : nil)
      if let last = links.last {
        sql += " JOIN \(link.from.sql) ON \(link.owner.sql) = \(last.destination.sql)"
      } else {
        sql += " \(link.from.sql)"
      }
      links.append(link)
    }
    // A dangling reference leads to no row.
    if let last = links.last, let table = hops.last?.table.table {
      sql += " JOIN \(quoted(table)) d ON d.Z_PK = \(last.destination.sql)"
    }
    if let first = links.first { sql += " WHERE \(first.owner.sql) = \(key)" }
    return (sql, links)
  }

  /// What a statement on the row selects for the column.
  ///
  /// - Parameters:
  ///   - key: SQL of the row's key.
  ///   - parts: what is selected of an attribute's column.
  func parts(of key: String, _ parts: (String) -> [String]) -> [String] {
    guard !isList || isCount else { return [key] }
    let (source, links) = source(of: key)
    switch end {
    case .count: return ["(SELECT count(*) \(source))"]
    case .attribute(let entry):
      return parts(entry.place(in: "d")).map { "(SELECT \($0) \(source))" }
    case .object:
      guard let last = links.last, let hop = hops.last else { return [key] }
      return [
        "(SELECT \(last.destination.sql) \(source))", "(SELECT \(number(of: hop)) \(source))",
      ]
    }
  }

  private var isCount: Bool { if case .count = end { true } else { false } }

  /// SQL for the Z_ENT of the object at the end.
  private func number(of hop: Hop) -> String {
    hop.table.numbers.count == 1 ? String(hop.table.entityID) : "d.Z_ENT"
  }

  /// Reads what ``parts(of:_:)`` select.
  ///
  /// - Parameter most: values of a list to read; `nil` for all.
  func reader(
    _ decoder: ValueDecoder, in store: Store, most: Int? = nil
  ) throws -> (Statement, Int) throws -> PropertyValue {
    guard !isList || isCount else {
      let list = try list(decoder, in: store, most: most)
      return { statement, index in try list(statement.integer(at: index)) }
    }
    switch end {
    case .count: return { .value(.integer($0.integer(at: $1))) }
    case .attribute(let entry):
      let attribute = entry.attribute
      return { decoder.decode($0.stored(at: $1, sizeAt: $1 + 1), of: attribute) }
    case .object:
      let destination = hops.last?.entry.relationship.destination ?? ""
      return { .toOne(store.toOne(destination, $0, at: $1)) }
    }
  }

  /// Reads the list of one object, by its key.
  private func list(
    _ decoder: ValueDecoder, in store: Store, most: Int?
  ) throws -> (Int64) throws -> PropertyValue {
    let (source, links) = source(of: "?1")
    let order = links.flatMap { [$0.position?.sql, $0.destination.sql].compactMap { $0 } }
    let shown: String
    switch end {
    case .attribute(let entry): shown = entry.place(in: "d")
    case .object, .count:
      guard let last = links.last, let hop = hops.last else {
        return { _ in .toMany(ToMany(count: 0, values: [])) }
      }
      shown = "\(last.destination.sql), \(number(of: hop))"
    }
    let statement = try store.connection.prepare(
      """
      SELECT \(shown) \(source) ORDER BY \(order.joined(separator: ", "))\
      \(most.map { " LIMIT \($0 + 1)" } ?? "")
      """)
    let destination = hops.last?.entry.relationship.destination ?? ""
    return { [end] key in
      // Between two objects nothing is held: the file may be written to.
      defer { statement.reset() }
      try statement.bind([.integer(key)])
      var values: [AttributeValue] = []
      while try statement.step() {
        guard case .attribute(let entry) = end else {
          let id = store.toOne(destination, statement, at: 0)
          values.append(id.map { .string($0.description) } ?? .null)
          continue
        }
        switch decoder.decode(statement.stored(at: 0), of: entry.attribute) {
        case .value(let value): values.append(value)
        case .data(let data): values.append(.bytes(data.bytes))
        case .toOne, .toMany: values.append(.null)
        }
      }
      return .toMany(ToMany(count: values.count, values: values))
    }
  }
}

/// Reads a key path's column of single objects.
package final class KeyPathReader {
  private let read: (Int64) throws -> PropertyValue

  /// - Throws: ``CoreDataError`` for a path that leads nowhere, or when SQLite fails.
  package init(_ path: String, of table: EntityTable, in store: Store) throws {
    let path = try KeyPathColumn(path, of: table, in: store.layout)
    let decoder = ValueDecoder(files: store.files, limit: 0)
    let reader = try path.reader(decoder, in: store)
    let parts = path.parts(of: "?1") {
      [$0, "CASE typeof(\($0)) WHEN 'blob' THEN length(\($0)) END"]
    }
    let statement = try store.connection.prepare("SELECT \(parts.joined(separator: ", "))")
    read = { key in
      defer { statement.reset() }
      try statement.bind([.integer(key)])
      guard try statement.step() else { return .value(.null) }
      return try reader(statement, 0)
    }
  }

  /// What the object of a key has in the column.
  package func value(of key: Int64) throws -> PropertyValue { try read(key) }
}

extension ToMany {
  /// Values of a list that a cell shows.
  static let mostShown = 20
}
