import ManagedModel

/// A column that a deferred lightweight migration has still to drop.
///
/// With NSPersistentStoreDeferredLightweightMigrationOptionKey Core Data renames the column of a property that is
/// gone to `_DEFERRED_<32 hex digits>__<COLUMN>`, where dropping it would copy the table, and notes that in the
/// metadata. The store is current for every other purpose (migration-2 §6).
public struct DeferredColumn: Sendable, Equatable {
  /// The table.
  public var table: String
  /// What the column is called now.
  public var name: String
  /// What it was called before.
  public var formerName: String

  /// - Returns: `nil` for a column that is not such a one.
  package init?(_ name: String, of table: String) {
    let prefix = "_DEFERRED_"
    let rest = name.dropFirst(prefix.count)
    let digits = rest.prefix { $0.isASCII && $0.isHexDigit }
    let former = rest.dropFirst(digits.count)
    guard name.hasPrefix(prefix), digits.count == 32, former.hasPrefix("__"), former.count > 2
    else { return nil }
    (self.table, self.name, formerName) = (table, name, String(former.dropFirst(2)))
  }

  /// Whether a column is one that is to be dropped.
  package static func isName(_ name: String) -> Bool { DeferredColumn(name, of: "") != nil }
}

extension Store {
  /// Columns that a deferred lightweight migration has still to drop, by table and name.
  public var deferredColumns: [DeferredColumn] {
    database.tables.sorted { $0.key < $1.key }.flatMap { table, columns in
      columns.compactMap { DeferredColumn($0.name, of: table) }.sorted { $0.name < $1.name }
    }
  }

  /// Says that a lightweight migration of the store is deferred; `nil` where none is.
  package var deferral: String? {
    let columns = deferredColumns
    let isNoted = metadata.values[StoreMetadata.deferredKey].map { $0.boolean != false } ?? false
    guard isNoted || !columns.isEmpty else { return nil }
    let names = columns.prefix(5).map { "\($0.table).\($0.formerName)" }.joined(separator: ", ")
    let rest = columns.count > 5 ? " and \(columns.count - 5) more" : ""
    let what =
      columns.isEmpty
      ? "The metadata say so; no column is left to be dropped."
      : columns.count == 1
        ? "1 column of a removed property is still to be dropped: \(names)."
        : "\(columns.count) columns of removed properties are still to be dropped: \(names)\(rest)."
    return
      "A lightweight migration of this store was deferred. \(what) The store is current and opens as it is. The app drops such columns when it finishes the deferred migration, and so does every migration by strata."
  }
}
