/// A table and its indexes, as a schema tells them.
package struct IndexedTable: Sendable {
  /// How texts of a column are compared.
  package enum Collation: Sendable {
    case binary
    case noCase
    case rtrim
  }

  /// A column of an index.
  package struct Column: Sendable {
    /// Which value of the row it is, from 0; `nil` for the row's key.
    package var place: Int?
    package var collation: Collation
    package var isDescending: Bool

    package init(place: Int?, collation: Collation, isDescending: Bool) {
      self.place = place
      self.collation = collation
      self.isDescending = isDescending
    }
  }

  /// An index over columns: all rows of the table are in it.
  package struct Index: Sendable {
    package var name: String
    package var root: Int
    /// Without the row's key, which every entry ends with.
    package var columns: [Column]
    package var isUnique: Bool

    package init(name: String, root: Int, columns: [Column], isUnique: Bool) {
      self.name = name
      self.root = root
      self.columns = columns
      self.isUnique = isUnique
    }
  }

  package var root: Int
  package var indexes: [Index]
  /// Columns that rows which are too short to have them hold something in: their default value.
  package var filled: Set<Int>
  /// The names of its columns.
  package var columns: [String]
  /// The column that is the row's key under another name, and that holds nothing in the row.
  package var key: Int?

  package init(
    root: Int, indexes: [Index], filled: Set<Int>, columns: [String] = [], key: Int? = nil
  ) {
    self.root = root
    self.indexes = indexes
    self.filled = filled
    self.columns = columns
    self.key = key
  }
}
