import ManagedModel
import ManagedStore
import SQLite

extension ExpressionScope {
  /// An NSExpression as SQL; nothing is bound, and ``ExpressionFunctions`` must be defined.
  ///
  /// - Throws: ``CoreDataError`` of kind refused that shows the expression, where SQL cannot compute
  ///   it; with code 134170 where a policy class would.
  func compile(_ expression: Expression) throws -> CompiledExpression {
    var compiler = ExpressionCompiler(scope: self, whole: expression)
    let term = try compiler.term(expression)
    return CompiledExpression(term.sql, compiler.properties)
  }

  /// An NSExpression as SQL for the column of an attribute: a number becomes the kind of number that
  /// the attribute holds, as Core Data makes it on saving.
  ///
  /// The bytes of data are the content itself, without the mark of a column that may refer to files.
  ///
  /// - Throws: as ``compile(_:)``, and where the value is of a class that the attribute cannot hold.
  func compile(
    _ expression: Expression, for attribute: Attribute
  ) throws -> CompiledExpression {
    var compiler = ExpressionCompiler(scope: self, whole: expression)
    let term = try compiler.term(expression)
    guard let sql = term.sql(for: attribute.type) else {
      var error = compiler.uncompilable(
        expression, "gives \(term.kind.name), and “\(attribute.name)” holds \(attribute.type.name)")
      error.property = attribute.name
      throw error
    }
    return CompiledExpression(sql, compiler.properties)
  }

  /// An NSPredicate's format as SQL that is 0 or 1; nothing is bound, and ``ExpressionFunctions``
  /// must be defined.
  ///
  /// - Throws: ``CoreDataError`` of kind usage with a ``TextMark`` at the word that is wrong.
  func compile(predicate format: String) throws -> CompiledExpression {
    let filter = try EmbeddedFilter(
      predicate: format, entity: entity, store: store, row: row, schema: schema)
    return CompiledExpression("ifnull(\(filter.literalSQL), 0)", filter.properties)
  }
}

extension EmbeddedFilter {
  /// The SQL with its values in it.
  var literalSQL: String {
    var result: [UInt8] = []
    var rest = values[...]
    var quote: UInt8?
    for byte in sql.utf8 {
      switch (byte, quote) {
      case (UInt8(ascii: "\""), nil), (UInt8(ascii: "'"), nil): quote = byte
      case (let byte, let open?) where byte == open: quote = nil
      case (UInt8(ascii: "?"), nil):
        result.append(contentsOf: (rest.popFirst() ?? .null).attributeValue.literal.utf8)
        continue
      default: break
      }
      result.append(byte)
    }
    return "(" + String(decoding: result, as: UTF8.self) + ")"
  }
}

extension Value {
  fileprivate var attributeValue: AttributeValue {
    switch self {
    case .null: .null
    case .integer(let number): .integer(number)
    case .real(let number): .double(number)
    case .text(let text): .string(text)
    case .blob(let bytes): .bytes(bytes)
    }
  }
}
