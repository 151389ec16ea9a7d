import SQLite

/// Links of a join table that stand in freed room: each was there once, and nothing says until when.
package struct CarvedLinks {
  private let insert: Statement

  /// What their table is called, in the database of what was found.
  package static func table(of join: String) -> String { join + "-freed" }

  /// Makes their table.
  init(of join: SalvagedTable, _ connection: Connection) throws {
    let name = quoted(Self.table(of: join.name))
    let columns = join.columns.map { quoted($0.name) }.joined(separator: ", ")
    try connection.execute("CREATE TABLE \(name) (\(columns))")
    let marks = join.columns.map { _ in "?" }.joined(separator: ", ")
    insert = try connection.prepare("INSERT INTO \(name) VALUES (\(marks))")
  }

  func add(_ link: [Int64?]) throws {
    insert.reset()
    for (place, value) in link.enumerated() {
      try insert.bind(value.map { .integer($0) } ?? .null, at: place)
    }
    try insert.step()
  }
}
