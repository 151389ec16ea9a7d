/// The column of a derived attribute, and what computes it.
package struct DerivedColumn: Sendable {
  package let table: String
  package let column: String
  /// Where the attribute is declared.
  package let entity: String
  package let attribute: String
  /// Entity IDs of the rows that have the attribute.
  package let numbers: [Int64]
  /// Computes the value of the row `s`.
  package let sql: String

  package init(
    table: String, column: String, entity: String, attribute: String, numbers: [Int64], sql: String
  ) {
    (self.table, self.column, self.entity, self.attribute, self.numbers, self.sql) = (
      table, column, entity, attribute, numbers, sql
    )
  }
}
