import SQLite
import Salvage
import TestSupport
import Testing

@testable import ManagedStore
@testable import Migration

/// A value is told in two ways, as SQL and as what is compared without SQLite: both must mean the same.
@Suite("Values of columns in new rows")
struct ColumnValueTests {
  private static let table = IndexedTable(
    root: 2, indexes: [], filled: [], columns: ["Z_PK", "Z_ENT", "ZA", "odd \"name\""], key: 0)

  @Test("what is known without SQLite is a column, a constant or a number that becomes another")
  func comparisons() {
    let known: [(ColumnValue, String?, RowComparison.Value?)] = [
      (.column("Z_ENT"), "s.Z_ENT", .column(1)), (.column("ZA"), "s.\"ZA\"", .column(2)),
      (.column("odd \"name\""), "s.\"odd \"\"name\"\"\"", .column(3)),
      (.constant(.null), "NULL", .null), (.constant(.integer(-12)), "-12", .integer(-12)),
      (.constant(.text("it's")), "'it''s'", .text(Array("it's".utf8))),
      (
        .renumbered("ZA", [4: 5]), "CASE s.\"ZA\" WHEN 4 THEN 5 ELSE s.\"ZA\" END",
        .renumbered(2, [4: 5])
      ),
      (
        .ifPresent("ZA", .constant(.integer(7))), "CASE WHEN s.\"ZA\" IS NOT NULL THEN 7 END",
        .present(2, .integer(7))
      ),
      (.position(.column("ZA")), "s.\"ZA\"", .known(2)), (.empty, nil, .null),
      (.foreign, nil, .null),
    ]
    for (value, sql, comparison) in known {
      #expect(value.sql == sql)
      #expect(value.comparison(in: Self.table) == comparison, "\(value)")
    }
  }

  @Test("all else is left to SQLite")
  func unknown() {
    let values: [ColumnValue] = [
      .column("Z_PK"), .column("ZB"), .constant(.real(1.5)), .constant(.blob([0])),
      .orElse(.column("ZA"), .constant(.integer(1))), .lookup("s.\"ZA\"", reading: ["ZA"]),
      .computed("s.\"ZA\"", reading: ["ZA"]), .position(nil), .later(first: .column("ZA")),
      .ifPresent("ZA", .computed("1", reading: [])), .renumbered("ZB", [4: 5]),
      .position(.lookup("1", reading: [])),
    ]
    for value in values { #expect(value.comparison(in: Self.table) == nil, "\(value)") }
  }

  @Test("on random rows SQLite makes of the SQL what is compared without it")
  func random() throws {
    let connection = try Connection(path: ":memory:", mode: .create)
    try connection.execute(
      "CREATE TABLE t (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, ZA INTEGER, \"odd \"\"name\"\"\" VARCHAR)"
    )
    var generator = SeededGenerator(seed: 27)
    func value(_ depth: Int) -> ColumnValue {
      let column = ["Z_ENT", "ZA", "odd \"name\""].randomElement(using: &generator) ?? "ZA"
      switch Int.random(in: 0..<(depth > 0 ? 5 : 4), using: &generator) {
      case 0: return .column(column)
      case 1: return .constant(.integer(Int64.random(in: -2...2, using: &generator)))
      case 2: return .constant(Bool.random(using: &generator) ? .null : .text("it's"))
      case 3: return .renumbered(column, [1: 2, 2: 3])
      default: return .ifPresent(column, value(depth - 1))
      }
    }
    for _ in 0..<300 {
      let row: [Value] = [
        .integer(1), .integer(Int64.random(in: 0...3, using: &generator)),
        Bool.random(using: &generator)
          ? .null : .integer(Int64.random(in: 0...3, using: &generator)),
        Bool.random(using: &generator) ? .null : .text("x"),
      ]
      let planned = value(2)
      let comparison = planned.comparison(in: Self.table)
      try connection.execute("DELETE FROM t")
      try connection.run("INSERT INTO t VALUES (?, ?, ?, ?)", row)
      let made = try connection.value("SELECT \(planned.sql ?? "NULL") FROM t s")
      #expect(comparison.map { Self.expected($0, of: row) } == made, "\(planned)")
    }
  }

  /// What a comparison asks for, of a row.
  private static func expected(_ value: RowComparison.Value, of row: [Value]) -> Value? {
    switch value {
    case .null: .null
    case .integer(let number): .integer(number)
    case .text(let bytes): .text(String(decoding: bytes, as: UTF8.self))
    case .column(let place), .known(let place): row[place]
    case .renumbered(let place, let numbers):
      row[place].integer.flatMap { numbers[$0] }.map { .integer($0) } ?? row[place]
    case .present(let place, let then): row[place] == .null ? .null : expected(then, of: row)
    }
  }

  @Test("a literal of SQL that a person wrote is a constant, and nothing more is")
  func literals() {
    #expect(Value(literal: "NULL") == .null)
    #expect(Value(literal: "-12") == .integer(-12))
    #expect(Value(literal: "'it''s'") == .text("it's"))
    #expect(Value(literal: "''") == .text(""))
    for text in ["'", "'a'b'", "'a' || 'b'", "1.5", "x'00'", "a", "", "'a''", "null + 1"] {
      #expect(Value(literal: text) == nil, "\(text)")
    }
  }
}
