import ManagedModel
import SQLite

/// Where a store's tables are not what Core Data makes for its model.
///
/// Core Data reports such a store as 134020, or fails on a statement much later; it comes from tables
/// changed by hand, and from migrations that were left half done. What rules explain, such as the
/// names that Apple's own migration leaves behind, does not count.
public struct StoreDrift: Sendable, Equatable {
  /// A table that an entity needs.
  public struct Table: Sendable, Equatable {
    /// The root entity whose objects the table keeps.
    public var entity: String
    /// The table's name in SQLite.
    public var table: String
    /// The last key given out (Z_MAX); `nil` where Z_PRIMARYKEY does not say.
    public var lastKey: Int64?

    /// Whether the table never held an object.
    public var isUnused: Bool { lastKey == 0 }
  }

  /// A column of an entity's table; `property` is the one it is for, where the model knows.
  public struct Column: Sendable, Equatable {
    /// The table's name in SQLite.
    public var table: String
    /// The column's name, as the model asks for it or as the table has it.
    public var column: String
    /// The entity that needs the column; `nil` where the model does not know it.
    public var entity: String?
    /// The property that it is for; `nil` for Core Data's own columns, too.
    public var property: String?
    /// The SQL type that the model asks for; `nil` where it does not know the column.
    public var expected: String?
    /// The SQL type that the table declares; `nil` where the column is missing.
    public var found: String?
  }

  /// A row of Z_PRIMARYKEY that does not fit.
  public struct Number: Sendable, Equatable {
    /// What is wrong with a row of Z_PRIMARYKEY.
    public enum Problem: Sendable, Equatable {
      /// The model has no such entity.
      case unknown
      /// The entity has no row.
      case missing
      /// Z_SUPER names another parent than the model does.
      case parent(stated: Int64, expected: Int64)
      /// Z_MAX is below a key that is in use: the next objects would collide.
      case maximum(stated: Int64, used: Int64)
    }

    /// The entity, as the model or the row names it.
    public var entity: String
    /// The row's Z_ENT; where there is no row, what the objects have, or `nil`.
    public var number: Int64?
    /// What is wrong with it.
    public var problem: Problem
  }

  /// Rows whose Z_ENT is no entity of their table.
  public struct Rows: Sendable, Equatable {
    /// The table's name in SQLite.
    public var table: String
    /// The Z_ENT that is not known; 0 also stands for rows without one.
    public var number: Int64
    /// Rows with that number, as far as they were looked at.
    public var count: Int
  }

  /// A many-to-many relationship whose table, or a column of it, is not called what Core Data looks
  /// for.
  public struct Join: Sendable, Equatable {
    /// The entity that declares the relationship.
    public var entity: String
    /// The relationship's name.
    public var relationship: String
    /// The name that Core Data computes for the table.
    public var expected: String
    /// The table that its columns show to be it; `nil` where none does.
    public var found: String?
    /// Columns that the model asks for and that the table has under other names.
    public var columns: [String] = []
    /// Whether the table never held a link, since one of its ends never had an object.
    public var isUnused = false
  }

  /// Tables that entities need and the store does not have.
  public var missingTables: [Table] = []
  /// Columns that the model asks for and the tables do not have.
  public var missingColumns: [Column] = []
  /// Columns that the model does not know.
  public var unexpectedColumns: [Column] = []
  /// Columns declared with another type than the model asks for.
  public var otherTypes: [Column] = []
  /// Rows of Z_PRIMARYKEY that do not fit, or that are missing.
  public var numbers: [Number] = []
  /// Rows of unknown entities: empty in a store just opened, see ``Store/rowsOfUnknownEntities()``.
  public var rows: [Rows] = []
  /// Join tables that are nowhere, and those of other names, found by their columns: these are read as
  /// they are, but Core Data does not find them.
  public var joins: [Join] = []

  /// A drift of nothing.
  public init() {}

  /// Whether nothing is wrong.
  public var isEmpty: Bool { sentences.isEmpty }

  /// Everything that is off, a sentence each.
  public var sentences: [String] {
    var result = missingTables.map { "The table \($0.table) of \($0.entity) is missing." }
    result += missingColumns.map {
      "The table \($0.table) has no column \($0.column) for \(Self.place($0))."
    }
    result += unexpectedColumns.map {
      "The table \($0.table) has a column \($0.column) (\($0.found ?? "")) that the model does not know."
    }
    result += otherTypes.map {
      "The column \($0.table).\($0.column) of \(Self.place($0)) is declared \($0.found ?? "without a type"), not \($0.expected ?? "")."
    }
    result += numbers.map(Self.sentence)
    result += rows.map {
      "\(NumberText.counted($0.count, "row")) of the table \($0.table) \($0.count == 1 ? "has" : "have") the entity ID \($0.number), which belongs to no entity of that table."
    }
    result += joins.filter { $0.found == nil }.map {
      "No join table was found for \($0.entity).\($0.relationship) (\($0.expected))."
    }
    for join in joins {
      guard let found = join.found else { continue }
      let names = [found == join.expected ? nil : join.expected] + join.columns
      result.append(
        "The links of \(join.entity).\(join.relationship) are in the table \(found); Core Data looks for \(names.compactMap { $0 }.joined(separator: ", ")), and does not open the store. A migration or a repair renames them."
      )
    }
    return result
  }

  private static func place(_ column: Column) -> String {
    [column.entity, column.property].compactMap { $0 }.joined(separator: ".")
  }

  private static func sentence(_ number: Number) -> String {
    switch number.problem {
    case .unknown:
      "Z_PRIMARYKEY names an entity \(number.entity) (\(number.number ?? 0)) that the model does not have."
    case .missing:
      "The entity \(number.entity) has no entity ID in this store's Z_PRIMARYKEY"
        + (number.number.map { ": it is \($0), by the model's order and the rows." } ?? ".")
    case .parent(let stated, let expected):
      "Z_PRIMARYKEY gives \(number.entity) the parent ID \(stated); by the model it is \(expected)."
    case .maximum(let stated, let used):
      "Z_PRIMARYKEY says that the last key of \(number.entity) is \(stated), but \(used) is in use."
    }
  }
}
