/// Writes an archive in NSKeyedArchiver's form.
///
/// References may be circular: ``reserve()`` gives an object its number before its fields are
/// known, ``fill(_:class:_:)`` writes it afterwards.
package struct KeyedArchiveWriter {
  private var objects: [PropertyListValue] = [.string("$null")]
  private var strings: [String: Int] = [:]
  private var classes: [String: Int] = [:]

  /// An archive that holds nothing but nil.
  package init() {}

  /// The reference that stands for nil.
  package static let null = PropertyListValue.uid(0)

  /// A reference to an object that is to be filled later.
  package mutating func reserve() -> PropertyListValue {
    objects.append(.null)
    return .uid(objects.count - 1)
  }

  /// Writes the object that `reserve` gave a number.
  ///
  /// - Parameter ancestry: the class and its superclasses, nearest first.
  package mutating func fill(
    _ reference: PropertyListValue, class ancestry: [String],
    _ fields: [String: PropertyListValue]
  ) {
    guard case .uid(let uid) = reference, objects.indices.contains(uid), uid != 0 else { return }
    var fields = fields
    fields["$class"] = classReference(ancestry)
    objects[uid] = .dictionary(fields)
  }

  /// Adds an object of that class.
  package mutating func add(
    class ancestry: [String], _ fields: [String: PropertyListValue]
  ) -> PropertyListValue {
    let reference = reserve()
    fill(reference, class: ancestry, fields)
    return reference
  }

  /// Adds a plain value: a number, a boolean, data.
  package mutating func add(_ value: PropertyListValue) -> PropertyListValue {
    if case .string(let text) = value { return string(text) }
    objects.append(value)
    return .uid(objects.count - 1)
  }

  /// A reference to the string, kept once; nil is the null reference.
  package mutating func string(_ text: String?) -> PropertyListValue {
    guard let text else { return Self.null }
    // Equal strings of different bytes (composed and decomposed letters) stay apart.
    if let known = strings[text], case .string(let same) = objects[known],
      same.utf8.elementsEqual(text.utf8)
    {
      return .uid(known)
    }
    objects.append(.string(text))
    strings[text] = objects.count - 1
    return .uid(objects.count - 1)
  }

  /// Adds an NSArray, or NSMutableArray, of references.
  package mutating func array(
    _ values: [PropertyListValue], mutable: Bool = false
  ) -> PropertyListValue {
    add(
      class: mutable ? ["NSMutableArray", "NSArray", "NSObject"] : ["NSArray", "NSObject"],
      ["NS.objects": .array(values)])
  }

  /// Adds an NSSet of references.
  package mutating func set(_ values: [PropertyListValue]) -> PropertyListValue {
    add(class: ["NSSet", "NSObject"], ["NS.objects": .array(values)])
  }

  /// Adds an NSDictionary, or NSMutableDictionary, of references to references.
  package mutating func dictionary(
    _ entries: [(key: PropertyListValue, value: PropertyListValue)], mutable: Bool = false
  ) -> PropertyListValue {
    add(
      class: mutable
        ? ["NSMutableDictionary", "NSDictionary", "NSObject"] : ["NSDictionary", "NSObject"],
      ["NS.keys": .array(entries.map(\.key)), "NS.objects": .array(entries.map(\.value))])
  }

  /// The archive as a property list, with `root` as what was archived.
  package func propertyList(root: PropertyListValue) -> PropertyListValue {
    .dictionary([
      "$version": .integer(100_000),
      "$archiver": .string("NSKeyedArchiver"),
      "$top": .dictionary([KeyedArchive.rootKey: root]),
      "$objects": .array(objects),
    ])
  }

  /// The archive's bytes, a binary property list.
  package func bytes(root: PropertyListValue) -> [UInt8] {
    PropertyList.binary(propertyList(root: root))
  }

  private mutating func classReference(_ ancestry: [String]) -> PropertyListValue {
    let name = ancestry.first ?? "NSObject"
    if let known = classes[name] { return .uid(known) }
    objects.append(
      .dictionary([
        "$classname": .string(name), "$classes": .array(ancestry.map { .string($0) }),
      ]))
    classes[name] = objects.count - 1
    return .uid(objects.count - 1)
  }
}

extension KeyedArchiveWriter {
  /// Archives a value of an attribute as the Foundation class it is in memory.
  package mutating func add(attributeValue: AttributeValue) -> PropertyListValue {
    switch attributeValue {
    case .null: Self.null
    case .integer(let value): add(.integer(value))
    case .boolean(let value): add(.boolean(value))
    case .double(let value): add(.real(value))
    case .decimal(let digits): add(decimal: digits)
    case .string(let text): string(text)
    case .date(let seconds): add(class: ["NSDate", "NSObject"], ["NS.time": .real(seconds)])
    case .bytes(let bytes): add(.data(bytes))
    case .uuid(let bytes): add(class: ["NSUUID", "NSObject"], ["NS.uuidbytes": .data(bytes)])
    case .uri(let text):
      add(class: ["NSURL", "NSObject"], ["NS.base": Self.null, "NS.relative": string(text)])
    }
  }

  /// NSDecimalNumber: eight words of mantissa, little end first; without words it is zero, or with
  /// the sign set not a number.
  private mutating func add(decimal digits: String) -> PropertyListValue {
    let (words, exponent, isNegative) =
      DecimalText.words(digits) ?? ([UInt16](repeating: 0, count: 8), 0, true)
    var mantissa: [UInt8] = []
    for word in words { mantissa += [UInt8(word & 0xFF), UInt8(word >> 8)] }
    let length = (words.lastIndex { $0 != 0 } ?? -1) + 1
    return add(
      class: ["NSDecimalNumberPlaceholder", "NSDecimalNumber", "NSNumber", "NSValue", "NSObject"],
      [
        "NS.mantissa": .data(mantissa), "NS.exponent": .integer(Int64(exponent)),
        "NS.length": .integer(Int64(length)), "NS.negative": .boolean(isNegative),
        "NS.compact": .boolean(false), "NS.mantissa.bo": .integer(1),
      ])
  }
}

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
