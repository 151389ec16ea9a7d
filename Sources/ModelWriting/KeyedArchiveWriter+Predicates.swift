extension KeyedArchiveWriter {
  /// Archives an expression in NSExpression's form.
  package mutating func add(expression: Expression) -> PropertyListValue {
    switch expression {
    case .located(let inner, _): return add(expression: inner)
    case .constant(let constant): return add(constant: constant)
    case .selfObject: return node("NSSelfExpression", type: 1, [:])
    case .variable(let name):
      return node("NSVariableExpression", type: 2, ["NSVariable": string(name)])
    case .keyPath(let path, of: let operand):
      let specifier = node("NSKeyPathSpecifierExpression", type: 10, ["NSKeyPath": string(path)])
      let selector = path.contains(".") || operand != nil ? "valueForKeyPath:" : "valueForKey:"
      return node(
        "NSKeyPathExpression", under: ["NSFunctionExpression"], type: operand == nil ? 3 : 4,
        [
          "NSOperand": add(expression: operand ?? .selfObject),
          "NSSelectorName": string(selector), "NSArguments": array([specifier], mutable: true),
        ])
    case .function(let name, let receiver, let arguments):
      let operand = receiver ?? .constant(.type("_NSPredicateUtilities"))
      return node(
        "NSFunctionExpression", type: 4,
        [
          "NSOperand": add(expression: operand), "NSSelectorName": string(name),
          "NSArguments": array(arguments.map { add(expression: $0) }),
        ])
    case .aggregate(let elements):
      return node(
        "NSAggregateExpression", type: 14,
        ["NSCollection": array(elements.map { add(expression: $0) })])
    case .subquery(let collection, let variable, let predicate):
      return node(
        "NSSubqueryExpression", type: 13,
        [
          "NSCollection": add(expression: collection), "NSVariable": string(variable),
          "NSPredicate": add(predicate: predicate),
        ])
    case .conditional(let predicate, let yes, let no):
      return node(
        "NSTernaryExpression", type: 20,
        [
          "NSPredicate": add(predicate: predicate), "NSTrueExpression": add(expression: yes),
          "NSFalseExpression": add(expression: no),
        ])
    case .fetch(let request, let context, let countOnly):
      return node(
        "NSFetchRequestExpression", type: 50,
        [
          "NSFRExpression": add(expression: request),
          "NSMOCExpression": add(expression: context), "NSCountOnlyFlag": .boolean(countOnly),
        ])
    case .setOperation(let word, let left, let right):
      let (name, type): (String, Int64) =
        switch word {
        case "UNION": ("NSUnionSetExpression", 5)
        case "INTERSECT": ("NSIntersectSetExpression", 6)
        default: ("NSMinusSetExpression", 7)
        }
      return node(
        name, type: type,
        ["NSLeftExpression": add(expression: left), "NSRightExpression": add(expression: right)])
    }
  }

  /// Archives a predicate in NSPredicate's form.
  package mutating func add(predicate: Predicate) -> PropertyListValue {
    switch predicate {
    case .always(let value):
      let name = value ? "NSTruePredicate" : "NSFalsePredicate"
      return add(class: [name, "NSPredicate", "NSObject"], [:])
    case .not(let part): return compound(0, [part])
    case .and(let parts): return compound(1, parts)
    case .or(let parts): return compound(2, parts)
    case .comparison(let comparison):
      return add(
        class: ["NSComparisonPredicate", "NSPredicate", "NSObject"],
        [
          "NSLeftExpression": add(expression: comparison.left),
          "NSRightExpression": add(expression: comparison.right),
          "NSPredicateOperator": comparator(comparison),
        ])
    }
  }

  private mutating func compound(_ type: Int64, _ parts: [Predicate]) -> PropertyListValue {
    add(
      class: ["NSCompoundPredicate", "NSPredicate", "NSObject"],
      [
        "NSCompoundPredicateType": .integer(type),
        "NSSubpredicates": array(parts.map { add(predicate: $0) }),
      ])
  }

  private mutating func comparator(_ comparison: Predicate.Comparison) -> PropertyListValue {
    let sign = comparison.comparator
    // Operators of text keep their options as NSFlags, the others as NSOptions.
    let (name, options, extra): (String, String, [String: PropertyListValue]) =
      switch sign {
      case .equal, .notEqual:
        ("NSEqualityPredicateOperator", "NSOptions", ["NSNegate": .boolean(sign == .notEqual)])
      case .less, .lessOrEqual, .greater, .greaterOrEqual:
        ("NSComparisonPredicateOperator", "NSOptions", ["NSVariant": .integer(sign.rawValue)])
      case .isIn, .contains: ("NSInPredicateOperator", "NSFlags", [:])
      case .beginsWith: ("NSSubstringPredicateOperator", "NSFlags", ["NSPosition": .integer(0)])
      case .endsWith: ("NSSubstringPredicateOperator", "NSFlags", ["NSPosition": .integer(1)])
      case .matches: ("NSMatchingPredicateOperator", "NSFlags", [:])
      case .like: ("NSLikePredicateOperator", "NSFlags", [:])
      case .between: ("NSBetweenPredicateOperator", "NSOptions", [:])
      }
    var fields = extra
    fields["NSOperatorType"] = .integer(sign.rawValue)
    fields["NSModifier"] = .integer(comparison.quantifier?.rawValue ?? 0)
    fields[options] = .integer(comparison.options.rawValue)
    return add(class: [name, "NSPredicateOperator", "NSObject"], fields)
  }

  private mutating func add(constant: Expression.Constant) -> PropertyListValue {
    let (key, value): (String, PropertyListValue) =
      switch constant {
      case .null: ("NSConstantValueClassName", Self.null)
      case .type(let name): ("NSConstantValueClassName", string(name))
      default: ("NSConstantValue", value(constant))
      }
    return node("NSConstantValueExpression", type: 0, [key: value])
  }

  private mutating func value(_ constant: Expression.Constant) -> PropertyListValue {
    switch constant {
    case .null: Self.null
    case .boolean(let value): add(.boolean(value))
    case .integer(let value): add(.integer(value))
    case .real(let value): add(.real(value))
    case .decimal(let digits): add(attributeValue: .decimal(digits))
    case .string(let text), .type(let text): string(text)
    case .date(let seconds): add(attributeValue: .date(seconds))
    case .data(let bytes): add(.data(bytes))
    case .uuid(let bytes): add(attributeValue: .uuid(bytes))
    case .url(let text): add(attributeValue: .uri(text))
    case .array(let elements): array(elements.map { value($0) })
    }
  }

  private mutating func node(
    _ name: String, under parents: [String] = [], type: Int64,
    _ fields: [String: PropertyListValue]
  ) -> PropertyListValue {
    var fields = fields
    fields["NSExpressionType"] = .integer(type)
    return add(class: [name] + parents + ["NSExpression", "NSObject"], fields)
  }
}
