import Salvage
import Testing

@testable import Migration

/// Which SQL of a planned value is understood without SQLite: little, and nothing more than that.
@Suite("Values that are known without SQLite")
struct PlannedValueTests {
  private let planned = PlannedValue(
    source: IndexedTable(
      root: 2, indexes: [], filled: [], columns: ["Z_PK", "Z_ENT", "ZA", "odd \"name\""], key: 0))

  @Test("columns, constants, new numbers of entities")
  func known() {
    let values: [(String, RowComparison.Value)] = [
      ("s.Z_ENT", .column(1)), ("s.\"ZA\"", .column(2)), ("s.\"odd \"\"name\"\"\"", .column(3)),
      ("(s.\"ZA\")", .column(2)), ("NULL", .null), ("0", .integer(0)), ("-12", .integer(-12)),
      ("'it''s'", .text(Array("it's".utf8))), ("''", .text([])),
      ("CASE s.\"ZA\" WHEN 4 THEN 5 ELSE s.\"ZA\" END", .renumbered(2, [4: 5])),
      (
        "CASE s.\"ZA\" WHEN 4 THEN 5 WHEN 5 THEN 4 ELSE s.\"ZA\" END",
        .renumbered(2, [4: 5, 5: 4])
      ),
      ("CASE WHEN s.\"ZA\" IS NOT NULL THEN 7 END", .present(2, .integer(7))),
      (
        "CASE WHEN s.\"ZA\" IS NOT NULL THEN CASE s.\"odd \"\"name\"\"\" WHEN 1 THEN 2 ELSE s.\"odd \"\"name\"\"\" END END",
        .present(2, .renumbered(3, [1: 2]))
      ),
    ]
    for (sql, value) in values { #expect(planned.value(of: sql) == value, "\(sql)") }
  }

  @Test(
    "all else is left to SQLite",
    arguments: [
      "s.Z_PK", "s.\"Z_PK\"", "s.ZB", "s.", "s.\"ZA", "s.\"ZA\" + 1", "s.\"ZA\" || s.\"ZA\"",
      "d.\"ZA\"",
      "ZA", "1.5", "x'00'", "'a' || 'b'", "'a'b'", "'", "(s.\"ZA\") + (s.\"ZA\")", "()", "",
      "coalesce(s.\"ZA\", 1)", "strata_inline(s.\"ZA\")", "CASE s.\"ZA\" WHEN 4 THEN 5 END",
      "CASE s.\"ZA\" WHEN 4 THEN 5 ELSE s.\"Z_ENT\" END",
      "CASE s.\"ZA\" WHEN 4 THEN 5 WHEN 4 THEN 6 ELSE s.\"ZA\" END",
      "CASE s.\"ZA\" WHEN 4 THEN s.\"ZA\" ELSE s.\"ZA\" END",
      "CASE s.\"ZA\" WHEN 4 THEN 5 WHEN 6 ELSE s.\"ZA\" END", "CASE s.\"ZA\" ELSE s.\"ZA\" END",
      "CASE WHEN s.\"ZA\" IS NOT NULL THEN 7 ELSE 8 END", "CASE WHEN s.\"ZA\" IS NULL THEN 7 END",
      "CASE WHEN s.\"ZA\" IS NOT NULL AND 1 THEN 7 END", "CASE WHEN EXISTS (SELECT 1) THEN 7 END",
    ])
  func unknown(_ sql: String) { #expect(planned.value(of: sql) == nil) }
}
