import ManagedModel
import SQLite

/// A predicate, or a key path through many objects, as a piece of another statement's SQL.
///
/// A migration reads the store under another name than the store itself does, and its statements
/// have rows of their own; what names and comparisons mean is the same as in a ``RowFilter``. The
/// connection needs ``StoreFunctions``, and `strata_now()` so that all statements agree on the time.
package struct EmbeddedFilter {
  /// What the object is called besides its bare property names: `$source.name`.
  package static let variable = "source"

  /// SQL with a `?` for each of the values.
  package let sql: String
  package let values: [Value]
  /// Properties of the row's entity that it reads.
  package let properties: Set<String>

  /// A condition on a row; `NULL` is as good as false.
  ///
  /// - Parameters:
  ///   - row: alias of the row.
  ///   - schema: what the tables are called by, such as `src.`.
  /// - Throws: ``CoreDataError`` of kind usage with a ``TextMark`` at the word that is wrong.
  package init(
    predicate text: String, entity: String, store: Store, row: String, schema: String
  ) throws {
    try self.init(text: text, entity: entity, store: store, row: row, schema: schema) {
      compiler, scope in
      try compiler.condition(LocatedPredicate(format: text), scope)
    }
  }

  /// The one value of an expression, such as a key path with `@count` or `@sum` in it.
  ///
  /// - Throws: ``CoreDataError`` of kind usage with a ``TextMark`` at the word that is wrong.
  package init(
    expression text: String, entity: String, store: Store, row: String, schema: String
  ) throws {
    try self.init(text: text, entity: entity, store: store, row: row, schema: schema) {
      compiler, scope in
      let expression = try LocatedExpression(format: text)
      guard case .term(let term) = try compiler.operand(expression, scope) else {
        throw compiler.wrong(
          "“\(text)” is not one value", expression.range,
          hint: "Take @count, @sum, @min, @max or @avg of many.")
      }
      return term.sql
    }
  }

  private init(
    text: String, entity: String, store: Store, row: String, schema: String,
    _ compile: (inout FilterCompiler, FilterScope) throws -> SQLText
  ) throws {
    guard text.utf8.count <= 100_000 else {
      throw CoreDataError(.usage, "the predicate is too long", entity: entity)
    }
    let table = try store.knownTable(of: entity)
    var compiler = FilterCompiler(layout: store.layout, text: text, row: row, schema: schema)
    compiler.now = "strata_now()"
    let object = compiler.object(of: table.entity)
    let result = try compile(
      &compiler, FilterScope(object: object, variables: [Self.variable: object]))
    (sql, values, properties) = (result.sql, result.values, compiler.properties)
  }
}
