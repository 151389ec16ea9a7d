import ManagedModel

/// An object that an expression speaks of: the row's own, or one that a path leads to.
struct ExpressionObject {
  var entity: String
  /// Alias of its row where there is one; else the row is looked up by the key.
  var row: String?
  var key: SQLText
}

/// A piece of an expression as SQL, and what its values are.
struct ExpressionTerm: Sendable {
  var sql: SQLText
  var kind: ValueKind
  /// As the expression calls it.
  var name: String
  var range: Range<Int>?

  init(_ sql: SQLText, _ kind: ValueKind, name: String = "", range: Range<Int>? = nil) {
    (self.sql, self.kind) = (sql, kind)
    (self.name, self.range) = (name, range)
  }
}

/// The objects, or values of them, that a path through to-many relationships leads to.
struct ExpressionCollection {
  var sources: [SQLText]
  var conditions: [SQLText]
  /// The value on each.
  var element: ExpressionTerm

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
indirect enum ExpressionOperand {
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
