import ManagedStore

/// A row that is to be shown, wherever it is.
package enum RowPlace: Sendable, Equatable {
  /// Counted from 0 in the query's order.
  case ordinal(Int)
  case object(ObjectID)
}

/// The rows around such a row.
package struct PlacedRows: Sendable, Equatable {
  var entity: String
  var rows: [RowPage.Row]
  /// Index in `rows` of the row that was looked for.
  var selected: Int
  /// How many rows come before `rows`; `nil` when nobody has counted.
  var ordinal: Int?
  var hasStart: Bool
  var hasEnd: Bool
  /// Whether the query's filter hides the row, so that it was passed over.
  var isUnfiltered: Bool

  /// Rows around one, as a session of the store read them.
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
