/// How rows of a table differ from those of others, where a page may stand in another's place.
struct RowOwner {
  /// How many columns the table has.
  let columns: Int
  /// The Z_ENT of its rows; empty for a table that is no entity's.
  let numbers: Set<Int64>
  /// The Z_ENT of rows of other tables.
  let others: Set<Int64>

  /// Whether a row can be the table's: with no more values than columns, and not of another's entity. A Z_ENT
  /// that no table has is an error of the row, and not of its page, where the row has a value for each column;
  /// else it is a row of a table without a Z_ENT, such as a join table.
  ///
  /// - Parameter number: the Z_ENT; `nil` where there is no number in its place.
  func isOwn(_ count: Int, _ number: Int64?) -> Bool {
    guard count <= columns else { return false }
    guard !numbers.isEmpty, let number, !numbers.contains(number) else {
      return numbers.isEmpty || number != nil
    }
    return count == columns && !others.contains(number)
  }
}
