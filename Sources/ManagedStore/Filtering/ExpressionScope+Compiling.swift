import ManagedModel
import SQLite

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
