import ManagedModel
import ManagedStore

/// Turns an expression over a source object into SQL over its row.
///
/// nil goes through everything as NULL does. What the values are decides what `/` and `+` mean.
struct ExpressionCompiler {
  let scope: ExpressionScope
  /// What errors show.
  let whole: Expression
  /// Properties of the source entity that were met.
  private(set) var properties: Set<String> = []

  init(scope: ExpressionScope, whole: Expression) {
    self.scope = scope
    self.whole = whole
  }

  /// Longest SQL of one expression: some functions need an operand more than once.
  private static let maximumLength = 200_000

  mutating func term(_ expression: Expression) throws -> ExpressionTerm {
    let term = try unboundedTerm(expression)
    guard term.sql.utf8.count <= Self.maximumLength else {
      throw CoreDataError(
        .refused, code: 134110, "an expression is too large", entity: scope.entity)
    }
    return term
  }

  private mutating func unboundedTerm(_ expression: Expression) throws -> ExpressionTerm {
    if let path = expression.propertyPath { return try value(at: path, of: expression) }
    switch expression {
    case .constant(let constant):
      guard let term = ExpressionTerm(constant) else {
        throw uncompilable(expression, "is no value of an attribute")
      }
      return term
    case .variable(EmbeddedFilter.variable):
      throw uncompilable(expression, "is the object itself, and no value of it")
    case .variable(let name):
      guard let sql = scope.variables[name] else {
        throw uncompilable(expression, "is known to Core Data's migration manager alone")
      }
      return ExpressionTerm(sql, .any)
    case .keyPath(let path, of: let base?):
      if case .variable(let name) = base.root, scope.variables[name] == nil {
        throw uncompilable(expression, "is known to Core Data's migration manager alone")
      }
      if path == "@count" { return try count(of: base) }
      var term = try term(base)
      for message in path.split(separator: ".") {
        term = try self.message(String(message), to: term, [], of: expression)
      }
      return term
    case .function(let name, receiver: nil, let arguments):
      return try function(name, arguments, of: expression)
    case .function(_, receiver: .variable("entityPolicy")?, _):
      throw PolicyExpression.error(expression, policy: nil, entity: scope.entity)
    case .function(let name, receiver: let receiver?, let arguments):
      if receiver == .variable("manager") {
        throw uncompilable(expression, "gives objects, which only a relationship can hold")
      }
      return try message(
        name, to: try term(receiver), try arguments.map { try term($0) }, of: expression)
    case .conditional(let predicate, let yes, let no):
      let condition = try embedded { scope in
        try EmbeddedFilter(
          predicate: predicate.description, entity: scope.entity, store: scope.store,
          row: scope.row, schema: scope.schema)
      }
      let (yes, no) = (try term(yes), try term(no))
      return ExpressionTerm(
        "(CASE WHEN \(condition) THEN \(yes.sql) ELSE \(no.sql) END)", yes.kind.joined(no.kind))
    case .selfObject, .keyPath:
      throw uncompilable(expression, "is the object itself, and no value of it")
    case .aggregate, .subquery, .setOperation:
      throw uncompilable(expression, "gives many values")
    case .fetch: throw uncompilable(expression, "gives objects, which only a relationship can hold")
    }
  }

  mutating func note(_ names: Set<String>) { properties.formUnion(names) }

  /// What the filters' compiler makes of a piece, with its values in it.
  mutating func embedded(
    _ filter: (ExpressionScope) throws -> EmbeddedFilter
  ) throws -> String {
    do {
      let filter = try filter(scope)
      note(filter.properties)
      return filter.literalSQL
    } catch let error as CoreDataError {
      var refusal = uncompilable(whole, "cannot be computed: \(error.message)")
      refusal.advice = error.advice ?? refusal.advice
      throw refusal
    }
  }

  /// How many objects a subquery, or a path through to-many relationships, leads to.
  mutating func count(of collection: Expression) throws -> ExpressionTerm {
    if let path = collection.propertyPath {
      return try aggregate("@count", of: path, in: collection)
    }
    guard case .subquery = collection else {
      throw uncompilable(collection, "cannot be counted")
    }
    let text = "\(collection).@count"
    return ExpressionTerm(
      try embedded { scope in
        try EmbeddedFilter(
          expression: text, entity: scope.entity, store: scope.store, row: scope.row,
          schema: scope.schema)
      }, .integer)
  }

  /// An error about a part of the expression, which tells how else to say it.
  func uncompilable(_ part: Expression, _ message: String) -> CoreDataError {
    let shown = part == whole ? "“\(whole)”" : "“\(part)” in “\(whole)”"
    return CoreDataError(
      .refused, code: 134110, "\(shown) \(message)", entity: scope.entity,
      hint: "Give the attribute a value in a recipe, as SQL over the source's properties.")
  }
}

/// A call of a custom policy's method in place of a value.
enum PolicyExpression {
  /// The error that says that something must stand in for the policy.
  static func error(_ expression: Expression, policy: String?, entity: String?) -> CoreDataError {
    var selector = ""
    if case .function(let name, _, _) = expression { selector = name }
    return CoreDataError(
      .refused, code: 134170,
      "“\(expression)” is computed by “\(selector)” of \(policy.map { "the policy class \($0)" } ?? "the mapping's policy class"), which is part of the app",
      entity: entity,
      hint: "Let a recipe's “policies” entry or a policy in Swift stand in for the class.")
  }
}

extension Expression {
  /// The names of a key path on the source object: written with `$source`, or bare.
  var propertyPath: [String]? {
    if let path = sourcePath { return path.isEmpty ? nil : path }
    switch self {
    case .keyPath(let path, of: nil), .keyPath(let path, of: .selfObject?):
      return path.split(separator: ".").map(String.init)
    default: return nil
    }
  }

  /// The expression that a chain of key paths starts from.
  var root: Expression {
    if case .keyPath(_, of: let base?) = self { base.root } else { self }
  }
}
