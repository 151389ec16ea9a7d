import ManagedModel
import ManagedStore

/// What the tables and columns of an SQLite message are called in the model.
public struct TableWords: Sendable {
  private let schema: StoreSchema

  /// The words of a store's own model and numbers.
  public init(_ store: Store) { schema = store.schema }

  /// The words of a model; numbers in names are those of a fresh store.
  public init(_ model: Model) { schema = StoreSchema(model: model) }

  /// `User.id` for `ZUSER.ZID`, `User` for `ZUSER`; for a column alone all properties that have one
  /// of that name. Empty for what the model has no name for.
  public func names(for text: String) -> [String] {
    var parts = text.split(separator: ".", maxSplits: 2).map { $0.uppercased() }
    // The database's own name, or the name that a fetch gives to a table.
    if parts.count > 1, ["MAIN", "TEMP"].contains(parts[0]) || Self.isAlias(parts[0]) {
      parts.removeFirst()
    }
    if let first = parts.first, parts.count == 2 {
      return name(of: parts[1], in: first).map { [$0] } ?? []
    }
    guard let word = parts.first else { return [] }
    if let table = name(ofTable: word) { return [table] }
    return schema.tables.compactMap { name(of: word, in: $0.name) }
  }

  /// What a name that is no entity's is Core Data's own for, as a clause; `nil` for others.
  public static func bookkeeping(_ text: String) -> String? {
    let words = text.split(separator: ".").map { $0.uppercased() }
    let table = words.first { $0 != "MAIN" && $0 != "TEMP" } ?? ""
    if table.hasPrefix("ANSCK") { return "CloudKit mirroring's own bookkeeping" }
    if HistoryTable.allCases.contains(where: { $0.name == table }) {
      return "persistent history"
    }
    if ["Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE"].contains(table) {
      return "Core Data's own bookkeeping"
    }
    return nil
  }

  /// Whether a word is one of the names that Core Data gives to the tables of a fetch: `t0`, `t1`.
  private static func isAlias(_ word: String) -> Bool {
    word.hasPrefix("T") && word.count > 1 && word.dropFirst().allSatisfy(\.isNumber)
  }

  private func name(ofTable table: String) -> String? {
    if let found = schema.table(named: table) { return found.root }
    return schema.joins.first { $0.name.uppercased() == table }
      .map { "\($0.entity).\($0.relationship)" }
  }

  private func name(of column: String, in table: String) -> String? {
    if let found = schema.table(named: table) {
      if column == "Z_PK" { return "the key of \(found.root)" }
      guard let property = found.columns.first(where: { $0.name == column })?.content.property
      else { return nil }
      return "\(property.entity).\(property.name)"
    }
    guard let join = schema.joins.first(where: { $0.name.uppercased() == table }) else {
      return nil
    }
    return "\(join.entity).\(join.relationship)"
  }
}
