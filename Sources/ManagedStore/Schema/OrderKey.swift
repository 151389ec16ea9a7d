/// Positions in ordered relationships, with room left between them as Core Data leaves it.
package enum OrderKey {
  /// From one position to the next.
  package static let spacing: Int64 = 1024

  static func of(position: Int) -> Int64 { (Int64(position) + 2) * spacing }

  /// A position after all those of smaller keys, for an object whose place is not known.
  static func of(key: Int64) -> Int64 { (key + 1) * spacing }

  /// SQL of the position of a place that SQL shows, from 0 on.
  package static func sql(position: String) -> String { "(\(position) + 2) * \(spacing)" }

  /// SQL that numbers the rows of each owner.
  package static func sql(numbering owner: String, by order: String) -> String {
    "\(spacing) * row_number() OVER (PARTITION BY \(owner) ORDER BY \(order))"
  }
}
