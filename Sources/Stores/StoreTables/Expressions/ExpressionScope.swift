import ManagedModel
import SQLite

/// What the names in an expression or a predicate mean, and what its SQL may ask of the connection
/// that runs it: the row's alias, the prefix of the tables, variables, the clock.
///
/// Filters, derived attributes and mappings differ in nothing else. The connection needs
/// ``StoreFunctions``.
package struct ExpressionScope: Sendable {
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
  /// Whether ``Expression/sourceName`` is known.
  var hasSource = true
}

extension ExpressionScope {
  /// An expression over an object of an entity, as a migration asks it.
  package init(
    layout: StoreLayout, entity: String, row: String, schema: String, variables: [String: String]
  ) {
    (self.layout, self.entity, self.row) = (layout, entity, row)
    (self.schema, self.variables) = (schema, variables)
  }

  /// A filter of an entity's rows, on the store's own connection: the row is `t`.
  package init(filtering entity: String, in layout: StoreLayout) {
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

extension ExpressionScope {
  /// An NSExpression as SQL.
  ///
  /// - Throws: ``CoreDataError`` of kind refused that shows the expression, where SQL cannot compute
  ///   it; with code 134170 where a policy class would.
  package func compile(_ expression: Expression) throws(CoreDataError) -> CompiledExpression {
    try compiled(.expression(expression)) { compiler throws(CoreDataError) in
      try compiler.value(expression).sql
    }
  }

  /// An NSExpression as SQL for the column of an attribute: a number becomes the kind of number that
  /// the attribute holds, as Core Data makes it on saving.
  ///
  /// The bytes of data are the content itself, without the mark of a column that may refer to files.
  ///
  /// - Throws: as ``compile(_:)``, and where the value is of a class that the attribute cannot hold.
  package func compile(
    _ expression: Expression, for attribute: Attribute
  ) throws(CoreDataError) -> CompiledExpression {
    try compiled(.expression(expression)) { compiler throws(CoreDataError) in
      let term = try compiler.value(expression)
      if let sql = term.kind.stored(term.sql, as: attribute.type) { return sql }
      var error = compiler.refusal(
        of: expression,
        "gives \(term.kind.name), and “\(attribute.name)” holds \(attribute.type.name)")
      error.property = attribute.name
      throw error
    }
  }

  /// An NSPredicate's format as SQL that is 0 or 1.
  ///
  /// - Throws: ``CoreDataError`` of kind usage with a ``TextMark`` at the word that is wrong.
  package func compile(predicate format: String) throws(CoreDataError) -> CompiledExpression {
    var compiled = try compiled(.text(format)) { compiler throws(CoreDataError) in
      try compiler.condition(of: format)
    }
    compiled.sql = "ifnull((\(compiled.sql)), 0)"
    return compiled
  }

  /// The value at a key path through to-one relationships; an attribute's content wherever it is
  /// kept, a to-one's key.
  ///
  /// - Throws: ``CoreDataError`` of kind usage naming the step that does not exist.
  package func value(of path: [String]) throws(CoreDataError) -> CompiledExpression {
    var result = try compiled(.path) { compiler throws(CoreDataError) in
      switch try compiler.path(path) {
      case .term(let term) where term.kind.isComposite:
        throw unknown(path.joined(separator: "."), in: entity)
      case .term(let term): return compiler.content(term).sql
      default:
        throw CoreDataError(
          .usage, "the relationship is to-many and has no single value", entity: entity,
          property: path.joined(separator: "."),
          hint: "Use count(\(path.joined(separator: "."))).")
      }
    }
    if path.count == 1, let table = layout.table(of: entity),
      let column = table.column(of: path[0]) ?? table.toOneColumn(of: path[0]),
      result.sql == "\(row).\(quoted(column))"
    {
      result.plain = .column(column)
    }
    return result
  }

  /// How many objects a relationship at the end of a path leads to.
  ///
  /// - Throws: ``CoreDataError`` of kind usage naming the step that does not exist.
  package func count(of path: [String]) throws(CoreDataError) -> CompiledExpression {
    try compiled(.path) { compiler throws(CoreDataError) in
      switch try compiler.path(path) {
      case .collection(let many): return many.selecting("count(*)")
      case .term(let term) where term.kind.isObject: return "(\(term.sql) IS NOT NULL)"
      default: throw unknown(path.last ?? "", in: entity)
      }
    }
  }

  private func compiled(
    _ origin: ExpressionCompiler.Origin,
    _ compile: (inout ExpressionCompiler) throws(CoreDataError) -> SQLText
  ) throws(CoreDataError) -> CompiledExpression {
    var compiler = ExpressionCompiler(scope: self, origin: origin)
    var result = CompiledExpression(try compile(&compiler).sql, [])
    result.properties = compiler.properties
    result.isExact = compiler.isExact
    return result
  }
}

extension ValueKind {
  /// SQL of a value of this kind as an attribute of that type holds it; `nil` where it cannot.
  fileprivate func stored(_ sql: SQLText, as type: AttributeType) -> SQLText? {
    switch (type, self) {
    case (_, .any): sql
    case (.integer16, .real), (.integer16, .decimal), (.integer32, .real), (.integer32, .decimal),
      (.integer64, .real), (.integer64, .decimal):
      "CAST(\(sql) AS INTEGER)"
    case (.boolean, let kind) where kind != .boolean && kind.isNumber: "(\(sql) <> 0)"
    case (.integer16, let kind), (.integer32, let kind), (.integer64, let kind),
      (.boolean, let kind), (.double, let kind), (.float, let kind), (.decimal, let kind):
      kind.isNumber ? sql : nil
    case (.string, .text), (.uri, .text), (.date, .date), (.uuid, .uuid), (.binary, .data),
      (.transformable, .data):
      sql
    default: nil
    }
  }
}

/// An object that an expression speaks of: the row's own, or one that a path leads to.
struct ExpressionObject {
  var entity: String
  /// Alias of its row where there is one; else the row is looked up by the key.
  var row: String?
  var key: SQLText
}

/// A piece of an expression as SQL, and what its values are.
package struct ExpressionTerm: Sendable {
  package var sql: SQLText
  package var kind: ValueKind
  /// As the expression calls it.
  var name: String
  package var range: Range<Int>?

  init(_ sql: SQLText, _ kind: ValueKind, name: String = "", range: Range<Int>? = nil) {
    (self.sql, self.kind) = (sql, kind)
    (self.name, self.range) = (name, range)
  }
}

/// The objects, or values of them, that a path through to-many relationships leads to.
package struct ExpressionCollection {
  var sources: [SQLText]
  var conditions: [SQLText]
  /// The value on each.
  package var element: ExpressionTerm

  /// A scalar over all elements.
  func selecting(_ what: SQLText) -> SQLText {
    "(SELECT \(what) FROM \(SQLText.list(sources)) WHERE \(SQLText.joined(conditions, "AND")))"
  }

  /// Whether an element fulfils a condition.
  func exists(_ condition: SQLText) -> SQLText {
    var some = self
    some.conditions.append(condition)
    return "EXISTS \(some.selecting("1"))"
  }
}

/// What an expression stands for: one value, or several.
package indirect enum ExpressionOperand {
  case term(ExpressionTerm)
  case constant(Expression.Constant, Range<Int>?)
  case list([ExpressionOperand], Range<Int>?)
  case collection(ExpressionCollection)

  var range: Range<Int>? {
    switch self {
    case .term(let term): term.range
    case .constant(_, let range), .list(_, let range): range
    case .collection(let many): many.element.range
    }
  }
}
