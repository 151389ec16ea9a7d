import ManagedModel
import ManagedStore
import SQLite

extension ExpressionScope {
  /// Name among ``variables`` of SQL that distinguishes the objects made of one row: their places in
  /// the arrays around them. No property can be called so. `position` serves where it is missing.
  static let instance = "#"

  /// SQL over a row of the source for an expression of a recipe.
  ///
  /// - Parameter attribute: what the value is for; `uuid()` is text in a String.
  /// - Throws: ``CoreDataError`` of kind usage with the place in the text: unknown names, words of
  ///   SQL that an expression may not use.
  package func compile(
    recipe text: String, for attribute: Attribute? = nil
  ) throws -> CompiledExpression {
    let expression = try parsed(text)
    var properties: Set<String> = []
    var plain: CompiledExpression.Plain?
    let sql = try expression.joined { located in
      do throws(CoreDataError) {
        switch located.part {
        case .sql(let text):
          plain = Value(literal: text).map { .constant($0) }
          return text
        case .property(let path):
          let value = try value(of: path)
          properties.formUnion(value.properties)
          plain = value.plain
          return value.sql
        case .variable(let name): return variables[name] ?? "NULL"
        case .count(let path):
          let count = try count(of: path)
          properties.formUnion(count.properties)
          return count.sql
        case .uuid(let number):
          return attribute?.type == .string ? "strata_uuid_text(\(uuid(number)))" : uuid(number)
        }
      } catch {
        var error = error
        error.mark = error.mark ?? TextMark(text, located.range)
        throw error
      }
    }.sql
    let isOne = expression.parts.count == 1
    var compiled = CompiledExpression(isOne ? sql : "(\(sql))", properties)
    if isOne { compiled.plain = plain }
    return compiled
  }

  /// Refuses an expression that cannot run, before anything does.
  ///
  /// - Throws: ``CoreDataError`` of kind usage with the place in the text; SQLite's own words where
  ///   the mistake is one of SQL.
  package func check(recipe text: String) throws {
    _ = try compile(recipe: text)
    try ExpressionTrial(parsed(text)).run()
  }

  private func parsed(_ text: String) throws -> SQLExpression {
    try SQLExpression(
      text, entity: entity, model: layout.model,
      variables: Set(variables.keys).subtracting([Self.instance]))
  }

  /// The same for the same row whenever it is asked, so that a verification can ask again.
  private func uuid(_ number: Int) -> String {
    let name = AttributeValue.string("/\(entity)/\(number)/").literal
    let place = variables[Self.instance] ?? variables["position"]
    let instance = place.map { " || '/' || \($0)" } ?? ""
    return "uuid_from(strata_store() || \(name) || \(row).Z_PK\(instance))"
  }
}

/// Lets SQLite read an expression, with every access but to the row and to known functions denied.
///
/// The words were checked before; this is the second lock on the same door.
struct ExpressionTrial {
  let expression: SQLExpression
  /// Levels of an expression: each level may compute a long value for every row, and the row is one
  /// step during which nobody is asked whether to stop.
  static let mostLevels: Int32 = 200

  init(_ expression: SQLExpression) { self.expression = expression }

  func run() throws {
    let connection = try Connection(path: ":memory:", mode: .create)
    connection.limitExpressions(depth: Self.mostLevels)
    connection.limitValues()
    try RecipeFunctions.define(on: connection, files: .init(path: ""), storeUUID: "")
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
