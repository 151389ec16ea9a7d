import ManagedModel
import SQLite

/// A fetch index of type R-tree: a virtual table with a range for each column, kept up by triggers.
package struct RTreeIndex: Sendable, Equatable {
  /// `Z_<Entity>_<index>`, the name of the virtual table; `Z_RT_<root>_<attribute>` of the form that
  /// Photos has, for a transient location.
  package var name: String
  /// The table that is indexed.
  package var table: String
  /// The indexed columns of that table.
  package var columns: [String]
  /// Whether it is of the older form, for a transient location: its columns have a type, and rows
  /// without a value are entered with 0.
  package var isOfLocation = false

  /// Takes an index whose names are known.
  package init(name: String, table: String, columns: [String], isOfLocation: Bool = false) {
    self.name = name
    self.table = table
    self.columns = columns
    self.isOfLocation = isOfLocation
  }

  /// CREATE VIRTUAL TABLE.
  package var sql: String {
    "CREATE VIRTUAL TABLE \(StoreSchema.name(name)) USING RTREE (Z_PK INTEGER PRIMARY KEY, "
      + bounds.map { isOfLocation ? $0 + " FLOAT" : $0 }.joined(separator: ", ") + ")"
  }

  /// What puts the rows that are there into the virtual table.
  package var fill: String {
    let values = columns.flatMap { [StoreSchema.name($0), StoreSchema.name($0)] }
    let known = columns.map { "\(StoreSchema.name($0)) NOT NULL" }.joined(separator: " AND ")
    return """
      INSERT OR REPLACE INTO \(StoreSchema.name(name)) (\(list)) \
      SELECT Z_PK, \(values.joined(separator: ", ")) from \(StoreSchema.name(table))\
      \(isOfLocation ? "" : " WHERE " + known)
      """
  }

  /// The triggers, with the spaces where Core Data puts them; stores show the older form only.
  package var triggers: [SchemaStatement] {
    let (tree, table) = (StoreSchema.name(name), StoreSchema.name(table))
    let values = columns.enumerated().map { index, column in
      let value = "NEW.\(StoreSchema.name(column))"
      // The first comma of the older form has its space before it.
      return isOfLocation && index == 0 ? "\(value) ,\(value)" : "\(value), \(value)"
    }.joined(separator: ", ")
    let insertion = "INTO \(tree) (\(list)) VALUES (NEW.Z_PK, \(values)) ;"
    func trigger(_ event: String, _ body: String) -> SchemaStatement {
      let name = "\(self.name)_\(event)"
      return SchemaStatement(
        name: name, table: self.table,
        sql: """
          CREATE TRIGGER \(StoreSchema.name(name)) AFTER \(event) ON \(table) FOR EACH ROW \
          BEGIN \(body) END
          """)
    }
    return [
      trigger("INSERT", "INSERT OR REPLACE \(insertion)"),
      trigger("UPDATE", "DELETE FROM \(tree) WHERE Z_PK = NEW.Z_PK ; INSERT \(insertion)"),
      trigger("DELETE", "DELETE FROM \(tree) WHERE Z_PK = OLD.Z_PK ;"),
    ]
  }

  private var bounds: [String] {
    columns.flatMap { [StoreSchema.name($0 + "_MIN"), StoreSchema.name($0 + "_MAX")] }
  }

  private var list: String { (["Z_PK"] + bounds).joined(separator: ", ") }
}

extension RTreeIndex {
  /// One that a store has, as its columns and the trigger that empties it show.
  package init?(named name: String, in database: DatabaseTables) {
    guard name.hasPrefix("Z_"), let table = database.triggers[name + "_DELETE"],
      database.sql[name]?.uppercased().contains("USING RTREE") == true,
      let bounds = database.tables[name]?.dropFirst().map(\.name), bounds.count.isMultiple(of: 2)
    else { return nil }
    let columns = stride(from: 0, to: bounds.count, by: 2).map { String(bounds[$0].dropLast(4)) }
    guard !columns.isEmpty,
      bounds == columns.flatMap({ [$0 + "_MIN", $0 + "_MAX"] })
    else { return nil }
    self.init(
      name: name, table: table, columns: columns,
      isOfLocation: database.sql[name]?.uppercased().contains(" FLOAT") == true)
  }
}

extension StoreSchema {
  /// The fetch indexes of type R-tree.
  package var rtreeIndexes: [RTreeIndex] {
    model.entitiesInStoreOrder.flatMap { entity in
      entity.fetchIndexes.compactMap { rtree($0, of: entity.name) }
    }
  }

  /// SQLite takes one to five dimensions. An attribute that may be empty gets no index at all.
  func rtree(_ index: FetchIndex, of entity: String) -> RTreeIndex? {
    guard let table = table(of: entity), index.partialPredicate == nil,
      (1...5).contains(index.elements.count),
      index.elements.allSatisfy({ $0.kind == .rtree })
    else { return nil }
    let columns = index.elements.compactMap { element -> String? in
      guard let name = element.property,
        let attribute = model.storedAttribute(named: name, of: entity), !attribute.isOptional,
        [.integer16, .integer32, .float].contains(attribute.type)
      else { return nil }
      return column(of: name, in: entity)
    }
    guard columns.count == index.elements.count else { return nil }
    return RTreeIndex(
      name: "Z_\(entity)_\(index.name)", table: table.name, columns: columns)
  }
}

extension Connection {
  /// Whether this SQLite can make and use R-trees.
  package var hasRTrees: Bool {
    let row = try? value("SELECT count(*) FROM pragma_module_list WHERE name = 'rtree'")
    return row?.integer ?? 0 > 0
  }
}
