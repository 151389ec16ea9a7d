import ManagedModel
import SQLite

/// What the names in an expression or a predicate mean, and what its SQL may ask of the connection
/// that runs it: the row's alias, the prefix of the tables, variables, the clock.
///
/// Filters, derived attributes and mappings differ in nothing else. The connection needs
/// ``StoreFunctions``.
package struct ExpressionScope: Sendable {
  /// What a mapping calls the object besides its bare property names: `$source.name`.
  package static let source = "source"

  /// The tables, columns and entities that the SQL speaks of.
  package let layout: StoreLayout
  /// The entity of the object.
  package let entity: String
  /// Alias of the object's row.
  package var row: String
  /// The prefix of the tables: `src.` in a migration, nothing on the store's own connection.
  package var schema: String
  /// SQL of names that are no properties: `item` and `position`.
  package var variables: [String: String] = [:]
  /// SQL of the time as a date attribute holds it.
  var clock = "strata_now()"
  /// Whether values are parameters of the statement; else they are literals in its text.
  var bindsValues = false
  /// Whether the connection can read bytes that are kept in a file outside the row.
  var readsFiles = true
  /// Whether ``source`` is known.
  var hasSource = true
}

extension ExpressionScope {
  /// An expression over a source object of a migration, whose connection shows the one time that all
  /// statements agree on as `strata_now()`, and the content of files as `strata_content()`.
  package init(
    store: Store, entity: String, row: String = "s", schema: String = "src.",
    variables: [String: String] = [:]
  ) {
    self.init(
      layout: store.layout, entity: entity, row: row, schema: schema, variables: variables)
  }

  /// A filter of an entity's rows, on the store's own connection: the row is `t`.
  init(filtering entity: String, in layout: StoreLayout) {
    self.init(
      layout: layout, entity: entity, row: "t", schema: "",
      clock: "((julianday('now') - 2451910.5) * 86400)", bindsValues: true, readsFiles: false,
      hasSource: false)
  }

  /// A value that a store keeps up in its rows, as the schema alone shows it.
  package init(derivedIn schema: StoreSchema, entity: String, row: String, schema name: String) {
    self.init(
      layout: StoreLayout(schema: schema), entity: entity, row: row, schema: name,
      readsFiles: false, hasSource: false)
  }

  /// An error about a property that the store does not keep, with those that it does.
  package func unknown(_ name: String, in entity: String) -> CoreDataError {
    if let composite = layout.model.attribute(at: name, of: entity), composite.type == .composite {
      let refusal = composite.withoutElement
      return CoreDataError(
        .usage, refusal.message, entity: entity, property: name, hint: refusal.hint)
    }
    let table = layout.table(of: entity)
    let known =
      (table?.attributes.map(\.attribute.name) ?? [])
      + (table?.relationships.map(\.relationship.name) ?? [])
    return CoreDataError(unknown: "property", name, of: entity, known: known)
  }
}

/// An expression as SQL over a row, and what it reads.
package struct CompiledExpression: Equatable {
  /// In parentheses where it is more than a name or a call.
  package var sql: String
  /// Properties of the row's entity that it uses: their values are not lost.
  package var properties: Set<String>
  /// Whether computing it twice must give the same: sums of real numbers depend on their order.
  package var isExact = true
  /// The value, where it is no more than a column of the row or a constant.
  package var plain: Plain?

  package enum Plain: Equatable {
    /// What the row holds in a column.
    case column(String)
    case constant(Value)
  }

  /// Makes what was compiled of its parts.
  package init(_ sql: String, _ properties: Set<String>) {
    self.sql = sql
    self.properties = properties
  }
}
