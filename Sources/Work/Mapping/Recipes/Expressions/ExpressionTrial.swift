import ManagedModel
import SQLite

/// Lets SQLite read an expression, with every access but to the row and to known functions denied.
///
/// The words were checked before; this is the second lock on the same door.
package struct ExpressionTrial {
  let expression: SQLExpression
  /// Levels of an expression: each may compute a long value for every row, and within a row the work cannot be
  /// cancelled.
  static let mostLevels: Int32 = 200

  package init(_ expression: SQLExpression) { self.expression = expression }

  package func run() throws {
    let connection = try Connection(path: ":memory:", mode: .create)
    connection.limitExpressions(depth: Self.mostLevels)
    connection.limitValues()
    try RecipeFunctions.define(on: connection, storeUUID: "")
    try connection.execute("CREATE TABLE s (v)")
    // Behind WHERE neither an aggregate nor a window can stand.
    let (sql, places) = expression.joined(
      prefix: "SELECT 1 FROM s WHERE (", suffix: ") IS NOT NULL"
    ) { located in
      if case .sql(let text) = located.part { text } else { "s.v" }
    }
    var selects = 0
    connection.authorize { access in
      switch access {
      case .select:
        selects += 1
        return selects == 1
      case .read(let table, _): return table == "s"
      case .function(let name): return Self.functions.contains(name.lowercased())
      case .other: return false
      }
    }
    defer { connection.authorize(nil) }
    do {
      _ = try connection.prepare(sql)
    } catch let error as SQLiteError {
      throw CoreDataError(
        .usage, "SQLite does not take the expression: \(error.message)",
        mark: TextMark(expression.text, place(of: error.offset, places)))
    }
  }

  /// The words that SQLite was at, or all of them.
  private func place(of offset: Int?, _ places: [Range<Int>]) -> Range<Int> {
    let whole = 0..<expression.text.utf8.count
    guard let offset else { return whole }
    guard let index = places.firstIndex(where: { offset < $0.upperBound }) else {
      return whole.upperBound..<whole.upperBound
    }
    return expression.parts[index].range
  }

  /// Operators are functions, too.
  private static let functions = SQLVocabulary.functions.union(SQLVocabulary.ours)
    .union(["like", "glob", "->", "->>"])
}
