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
    public var entity: String
    public var table: String
  }

  /// A column of an entity's table; `property` is the one it is for, where the model knows.
  public struct Column: Sendable, Equatable {
    public var table: String
    public var column: String
    public var entity: String?
    public var property: String?
    /// The type the model asks for, and the one the table declares; `nil` where there is none.
    public var expected: String?
    public var found: String?
  }

  /// A row of Z_PRIMARYKEY that does not fit.
  public struct Number: Sendable, Equatable {
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

    public var entity: String
    public var number: Int64?
    public var problem: Problem
  }

  /// Rows whose Z_ENT is no entity of their table.
  public struct Rows: Sendable, Equatable {
    public var table: String
    public var number: Int64
    public var count: Int
  }

  /// A many-to-many relationship whose table has another name than a fresh store would give it.
  public struct Join: Sendable, Equatable {
    public var entity: String
    public var relationship: String
    public var expected: String
    /// The table that its columns tell to be it; `nil` where none does.
    public var found: String?
  }

  public var missingTables: [Table] = []
  public var missingColumns: [Column] = []
  public var unexpectedColumns: [Column] = []
  public var otherTypes: [Column] = []
  public var numbers: [Number] = []
  public var rows: [Rows] = []
  /// Join tables that are nowhere, and those found by their columns; the latter are in order.
  public var joins: [Join] = []

  public init() {}

  /// Whether nothing is wrong; join tables found by their columns are no fault.
  public var isEmpty: Bool { sentences.isEmpty }

  /// Everything that is off, a sentence each.
  public var sentences: [String] {
    var result: [String] = []
    for table in missingTables {
      result.append("The table \(table.table) of \(table.entity) is missing.")
    }
    for column in missingColumns {
      result.append(
        "The table \(column.table) has no column \(column.column) for \(Self.place(column)).")
    }
    for column in unexpectedColumns {
      result.append(
        "The table \(column.table) has a column \(column.column) (\(column.found ?? "")) that the model does not know."
      )
    }
    for column in otherTypes {
      result.append(
        "The column \(column.table).\(column.column) of \(Self.place(column)) is declared \(column.found ?? "without a type"), not \(column.expected ?? "")."
      )
    }
    for number in numbers { result.append(Self.sentence(number)) }
    for row in rows {
      result.append(
        "\(row.count) rows of the table \(row.table) have the entity number \(row.number), which belongs to no entity of it."
      )
    }
    for join in joins where join.found == nil {
      result.append(
        "No join table was found for \(join.entity).\(join.relationship) (\(join.expected)).")
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
      "The entity \(number.entity) has no number in this store's Z_PRIMARYKEY."
    case .parent(let stated, let expected):
      "Z_PRIMARYKEY gives \(number.entity) the parent number \(stated); by the model it is \(expected)."
    case .maximum(let stated, let used):
      "Z_PRIMARYKEY says that the last key of \(number.entity) is \(stated), but \(used) is in use."
    }
  }
}
