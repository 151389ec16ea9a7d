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
    let parts = text.split(separator: ".", maxSplits: 1).map { $0.uppercased() }
    if let first = parts.first, parts.count == 2 {
      return name(of: parts[1], in: first).map { [$0] } ?? []
    }
    guard let word = parts.first else { return [] }
    if let table = name(ofTable: word) { return [table] }
    return schema.tables.compactMap { name(of: word, in: $0.name) }
  }

  /// What a name that is no entity's is Core Data's own for, as a clause; `nil` for others.
  public static func bookkeeping(_ text: String) -> String? {
    let table = text.split(separator: ".").first.map { $0.uppercased() } ?? ""
    if table.hasPrefix("ANSCK") { return "CloudKit mirroring's own bookkeeping" }
    if ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"].contains(table) {
      return "persistent history"
    }
    if ["Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE"].contains(table) {
      return "Core Data's own bookkeeping"
    }
    return nil
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
