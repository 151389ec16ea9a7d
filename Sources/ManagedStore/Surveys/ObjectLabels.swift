import ManagedModel
import SQLite

extension EntityTable {
  /// Names by which apps call what a person would know an object by, best first.
  private static let labelNames = [
    "title", "name", "label", "subject", "displayName", "fullName", "filename", "text",
    "identifier",
  ]

  /// The attribute that tells an object of this entity from others at a glance: a String of a name
  /// that says so, else the first String; `nil` where it has none.
  public var labelAttribute: String? {
    let texts = attributes.filter { $0.attribute.type == .string }.map(\.attribute.name)
    return Self.labelNames.first { texts.contains($0) } ?? texts.first
  }
}

extension Store {
  /// What a person would call each of some objects: the beginning of its ``EntityTable/labelAttribute``.
  ///
  /// - Returns: nothing for objects that are not there or have no such text.
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func labels(of ids: [ObjectID]) throws -> [ObjectID: String] {
    var labels: [ObjectID: String] = [:]
    for (entity, ids) in Dictionary(grouping: Set(ids), by: \.entity) {
      guard let table = layout.table(of: entity), let name = table.labelAttribute,
        let column = table.column(of: name), database.contains(table.table)
      else { continue }
      try reading {
        let statement = try connection.cached(
          "SELECT substr(\(quoted(column)), 1, 100) FROM \(quoted(table.table)) WHERE Z_PK = ?")
        for id in ids {
          try statement.bind([.integer(id.key)])
          if try statement.step(), let text = statement.value(at: 0).text, !text.isEmpty {
            labels[id] = text
          }
        }
        statement.reset()
      }
    }
    return labels
  }
}
