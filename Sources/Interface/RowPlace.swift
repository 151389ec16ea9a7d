import ManagedStore

/// A row that is to be shown, wherever it is.
package enum RowPlace: Sendable, Equatable {
  /// Counted from 0 in the query's order.
  case ordinal(Int)
  case object(ObjectID)
}

/// The rows around such a row.
package struct PlacedRows: Sendable, Equatable {
  package var entity: String
  package var rows: [RowPage.Row]
  /// Index in `rows` of the row that was looked for.
  package var selected: Int
  /// How many rows come before `rows`; `nil` when nobody has counted.
  package var ordinal: Int?
  package var hasStart: Bool
  package var hasEnd: Bool
  /// Whether the query's filter hides the row, so that it was passed over.
  package var isUnfiltered: Bool

  package init(
    entity: String, rows: [RowPage.Row], selected: Int, ordinal: Int? = nil, hasStart: Bool,
    hasEnd: Bool, isUnfiltered: Bool = false
  ) {
    self.entity = entity
    self.rows = rows
    self.selected = selected
    self.ordinal = ordinal
    self.hasStart = hasStart
    self.hasEnd = hasEnd
    self.isUnfiltered = isUnfiltered
  }
}
