/// Reads the archived trees of NSExpression and NSPredicate.
///
/// A tree of a damaged archive can be a circle or share its branches without end; depth and total
/// size are bounded, the size over all trees one reader reads.
package struct ArchivedExpressionReader {
  static let maximumDepth = 64

  /// Nodes and bytes of text still allowed.
  private(set) var budget: Int

  /// A reader of at most so many nodes and bytes of text, over all trees that it reads.
  package init(budget: Int = 1_000_000) { self.budget = budget }

  /// The expression that an archived object stands for.
  ///
  /// - Throws: ``CoreDataError`` of kind unreadable when the object is no expression known here.
  package mutating func expression(_ value: ArchivedValue) throws(CoreDataError) -> Expression {
    try expression(value, depth: 0)
  }

  /// The predicate that an archived object stands for.
  package mutating func predicate(_ value: ArchivedValue) throws(CoreDataError) -> Predicate {
    try predicate(value, depth: 0)
  }

  private mutating func charge(_ amount: Int, depth: Int) throws(CoreDataError) {
    budget -= amount
    guard budget >= 0, depth < Self.maximumDepth else {
      throw CoreDataError(.unreadable, "an archived expression is too large or contains itself")
    }
  }

  private mutating func expression(
    _ value: ArchivedValue, depth: Int
  ) throws(CoreDataError) -> Expression {
    try charge(1, depth: depth)
    guard let object = value.object else {
      throw CoreDataError(.unreadable, "an archived expression is missing")
    }
    switch object.className {
    case "NSSelfExpression": return .selfObject
    case "NSVariableExpression": return .variable(try text(object, "NSVariable", depth))
    case "NSKeyPathSpecifierExpression":
      return .keyPath(try text(object, "NSKeyPath", depth), of: nil)
    case "NSConstantValueExpression":
      if case .string(let name) = object["NSConstantValueClassName"] {
        return .constant(.type(name))
      }
      return .constant(try constant(object["NSConstantValue"], depth: depth + 1))
    case "NSKeyPathExpression", "NSFunctionExpression": return try function(object, depth: depth)
    case "NSAggregateExpression":
      return .aggregate(try list(object["NSCollection"], depth: depth))
    case "NSSubqueryExpression":
      return .subquery(
        try expression(object["NSCollection"], depth: depth + 1),
        variable: try variable(object["NSVariable"], depth: depth + 1),
        try predicate(object["NSPredicate"], depth: depth + 1))
    case "NSTernaryExpression":
      return .conditional(
        try predicate(object["NSPredicate"], depth: depth + 1),
        try expression(object["NSTrueExpression"], depth: depth + 1),
        try expression(object["NSFalseExpression"], depth: depth + 1))
    case "NSFetchRequestExpression":
      return .fetch(
        request: try expression(object["NSFRExpression"], depth: depth + 1),
        context: try expression(object["NSMOCExpression"], depth: depth + 1),
        countOnly: object["NSCountOnlyFlag"].boolean ?? false)
    case "NSUnionSetExpression", "NSIntersectSetExpression", "NSMinusSetExpression":
      let words = [
        "NSUnionSetExpression": "UNION", "NSIntersectSetExpression": "INTERSECT",
        "NSMinusSetExpression": "MINUS",
      ]
      return .setOperation(
        words[object.className] ?? "",
        try expression(object["NSLeftExpression"], depth: depth + 1),
        try expression(object["NSRightExpression"], depth: depth + 1))
    default:
      throw CoreDataError(
        .unreadable, "an archived expression is of the unknown class \(object.className)")
    }
  }

  private mutating func function(
    _ object: ArchivedObject, depth: Int
  ) throws(CoreDataError) -> Expression {
    let selector = try text(object, "NSSelectorName", depth)
    let arguments = try list(object["NSArguments"], depth: depth)
    let operand = try expression(object["NSOperand"], depth: depth + 1)
    if object.className == "NSKeyPathExpression" || selector == "valueForKeyPath:",
      arguments.count == 1
    {
      switch arguments[0] {
      case .keyPath(let path, of: nil), .constant(.string(let path)):
        return .keyPath(path, of: operand == .selfObject ? nil : operand)
      default: break
      }
    }
    if operand == .constant(.type("_NSPredicateUtilities")) {
      return .function(selector, receiver: nil, arguments: arguments)
    }
    return .function(selector, receiver: operand, arguments: arguments)
  }

  private mutating func list(
    _ value: ArchivedValue, depth: Int
  ) throws(CoreDataError) -> [Expression] {
    try charge(value.references.count, depth: depth)
    return try value.references.map { reference throws(CoreDataError) in
      try expression(reference.value, depth: depth + 1)
    }
  }

  private mutating func variable(_ value: ArchivedValue, depth: Int) throws(CoreDataError) -> String
  {
    if case .string(let name) = value { return name }
    guard case .variable(let name) = try expression(value, depth: depth) else {
      throw CoreDataError(.unreadable, "an archived subquery has no variable")
    }
    return name
  }

  private mutating func text(
    _ object: ArchivedObject, _ key: String, _ depth: Int
  ) throws(CoreDataError) -> String {
    guard let text = object[key].string else {
      throw CoreDataError(.unreadable, "an archived \(object.className) has no \(key)")
    }
    try charge(text.utf8.count / 8, depth: depth)
    return text
  }

  private mutating func constant(
    _ value: ArchivedValue, depth: Int
  ) throws(CoreDataError) -> Expression.Constant {
    try charge(1, depth: depth)
    switch value {
    case .null: return .null
    case .boolean(let value): return .boolean(value)
    case .integer(let value): return .integer(value)
    case .real(let value): return .real(value)
    case .decimal(let digits): return .decimal(digits)
    case .date(let seconds): return .date(seconds)
    case .uuid(let bytes): return .uuid(bytes)
    case .url(let text): return .url(text)
    case .data(let bytes):
      try charge(bytes.count / 4, depth: depth)
      return .data(bytes)
    case .string(let text):
      try charge(text.utf8.count / 8, depth: depth)
      return .string(text)
    case .array(let references), .set(let references):
      try charge(references.count, depth: depth)
      return .array(
        try references.map { reference throws(CoreDataError) in
          try constant(reference.value, depth: depth + 1)
        })
    case .dictionary, .object:
      throw CoreDataError(.unreadable, "an archived constant is of an unknown class")
    }
  }

  private mutating func predicate(
    _ value: ArchivedValue, depth: Int
  ) throws(CoreDataError) -> Predicate {
    try charge(1, depth: depth)
    guard let object = value.object else {
      throw CoreDataError(.unreadable, "an archived predicate is missing")
    }
    switch object.className {
    case "NSTruePredicate": return .always(true)
    case "NSFalsePredicate": return .always(false)
    case "NSCompoundPredicate":
      let parts = object["NSSubpredicates"].references
      try charge(parts.count, depth: depth)
      let predicates = try parts.map { part throws(CoreDataError) in
        try predicate(part.value, depth: depth + 1)
      }
      switch object["NSCompoundPredicateType"].integer {
      case 0: if let first = predicates.first { return .not(first) }
      case 1: return .and(predicates)
      case 2: return .or(predicates)
      default: break
      }
      throw CoreDataError(.unreadable, "an archived compound predicate is of an unknown type")
    case "NSComparisonPredicate":
      let symbol = object["NSPredicateOperator"].object
      guard let number = symbol?["NSOperatorType"].integer,
        let comparator = Predicate.Comparator(rawValue: number)
      else { throw CoreDataError(.unreadable, "an archived comparison has an unknown operator") }
      // Operators of text keep their options as NSFlags, the others as NSOptions.
      let options = symbol?["NSOptions"].integer ?? symbol?["NSFlags"].integer ?? 0
      return .comparison(
        Predicate.Comparison(
          try expression(object["NSLeftExpression"], depth: depth + 1), comparator,
          try expression(object["NSRightExpression"], depth: depth + 1),
          quantifier: symbol?["NSModifier"].integer.flatMap(Predicate.Quantifier.init),
          options: Predicate.Options(rawValue: options & 15)))
    default:
      throw CoreDataError(
        .unreadable, "an archived predicate is of the unknown class \(object.className)")
    }
  }
}
