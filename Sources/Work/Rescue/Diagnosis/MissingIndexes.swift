import ManagedModel
import ManagedStore
import SQLite

/// An index that Core Data creates for the model, and that the store does not have.
///
/// Fetch indexes, `#Index` of SwiftData among them, do not enter the version hash: an app that adds one to a
/// version which shipped opens its stores as they are, and nothing ever creates the index.
struct MissingIndex {
  /// The entity that declares it; `nil` for one of a relationship or an attribute.
  let entity: String?
  let properties: [String]
  /// Whether it is what keeps objects from being equal.
  let isUnique: Bool
  let statement: SchemaStatement

  /// What to do, where that is not what its kind says.
  var advice: Advice? {
    isUnique || entity != nil
      ? nil
      : "Fetches that go by it work, but are slower. A repair creates the index."
  }

  /// The kind of finding that it is.
  var kind: FindingKind { isUnique ? .uniqueMissing : .indexMissing }

  /// All of them, of the model that a store is read with.
  static func all(of store: Store) throws -> [MissingIndex] {
    guard store.modelSource != .raw else { return [] }
    let style = IndexStyle(frameworkVersion: store.metadata.frameworkVersion)
    // A table or column under another name has its index under another name, too; doctor reports that as a finding.
    let drift = store.drift
    let others = Set(
      drift.joins.flatMap { [$0.expected, $0.found ?? $0.expected] }
        + drift.columnNames.map(\.table) + drift.missingColumns.map(\.table))
    let missing = store.schema.indexStatements(style).filter {
      store.database.indexes[$0.name] == nil && store.database.contains($0.table)
        && !others.contains($0.table)
    }
    guard !missing.isEmpty else { return [] }
    let fetched = fetchIndexes(of: store.model)
    let unique = uniqueIndexes(of: store.schema)
    return try missing.compactMap { statement in
      if let (entity, index) = unique[statement.name] {
        // Frameworks of iOS 9 and 10 made it a part of the table.
        guard try !keepsApart(index.columns, in: statement.table, of: store) else { return nil }
        return MissingIndex(
          entity: entity, properties: index.properties, isUnique: true, statement: statement)
      }
      let (entity, properties) = fetched[statement.name] ?? (nil, [])
      return MissingIndex(
        entity: entity, properties: properties, isUnique: false, statement: statement)
    }
  }

  private static func fetchIndexes(
    of model: Model
  ) -> [String: (entity: String?, properties: [String])] {
    model.entities.reduce(into: [:]) { all, entity in
      for index in entity.fetchIndexes {
        all["Z_\(entity.name)_\(index.name)"] = (entity.name, index.elements.compactMap(\.property))
      }
    }
  }

  private static func uniqueIndexes(
    of schema: StoreSchema
  ) -> [String: (entity: String, index: UniqueIndex)] {
    schema.model.entities.reduce(into: [:]) { all, entity in
      for index in schema.uniqueIndexes(of: entity) { all[index.name] = (entity.name, index) }
    }
  }

  /// Whether another index keeps rows from being equal in the same columns.
  private static func keepsApart(
    _ columns: [String], in table: String, of store: Store
  ) throws -> Bool {
    let indexes = try store.connection.rows(
      "SELECT name FROM pragma_index_list(?) WHERE \"unique\" AND NOT partial", [.text(table)]
    ).compactMap { $0.first?.text }
    let wanted = Set(columns.map { $0.uppercased() })
    return try indexes.contains { name in
      let parts = try store.connection.rows(
        "SELECT name FROM pragma_index_info(?)", [.text(name)]
      ).map { $0.first?.text?.uppercased() }
      return !parts.contains(nil) && Set(parts.compactMap { $0 }) == wanted
    }
  }
}

/// Indexes of the model that are not there.
struct MissingIndexCheck {
  let place: StorePlace
  let store: Store

  func findings() throws -> [Finding] {
    try MissingIndex.all(of: store).map { index in
      let names = index.properties.joined(separator: ", ")
      let sentence =
        if let entity = index.entity, index.isUnique {
          "The model asks \(entity) to be unique in \(names), and the store does not have the index that sees to it."
        } else if let entity = index.entity, !names.isEmpty {
          "The model has an index of \(entity) on \(names), and the store does not."
        } else {
          "The store does not have the index \(index.statement.name) of the table \(index.statement.table)."
        }
      return Finding(
        index.kind, sentence, entity: index.entity ?? index.statement.table,
        property: names.isEmpty ? nil : index.properties.joined(separator: ","), count: 1,
        first: [index.statement.name], in: place, advice: index.advice)
    }
  }
}
