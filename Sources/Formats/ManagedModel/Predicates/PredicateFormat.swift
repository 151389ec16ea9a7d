/// Prints expressions and predicates as NSExpression and NSPredicate describe themselves.
///
/// A derived attribute's version hash is made of this very text, so its spacing and quoting are
/// part of Apple's format: `count:(pages)`, `now()`, `price * 2`, `name ==[cd] "x"`.
extension Expression: CustomStringConvertible {
  /// The text of NSExpression's description.
  package var description: String {
    switch self {
    case .constant(let constant): constant.description
    case .selfObject: "SELF"
    case .variable(let name): "$\(name)"
    case .keyPath(let path, of: nil), .keyPath(let path, of: .selfObject): path
    case .keyPath(let path, of: let operand?): "\(operand).\(path)"
    case .function(let name, let receiver, let arguments):
      Self.call(name, receiver, arguments)
    case .aggregate(let elements): "{\(Self.list(elements))}"
    case .subquery(let collection, let variable, let predicate):
      "SUBQUERY(\(collection), $\(variable), \(predicate))"
    case .conditional(let predicate, let yes, let no): "TERNARY(\(predicate), \(yes), \(no))"
    case .fetch(let request, let context, let countOnly):
      "FETCH(\(request), \(context), \(countOnly ? "YES" : "NO"))"
    case .setOperation(let name, let left, let right): "\(left) \(name) \(right)"
    case .located(let expression, _): expression.description
    }
  }

  /// Functions that print as operators between their two arguments.
  static let operators = [
    "add:to:": "+", "from:subtract:": "-", "multiply:by:": "*", "divide:by:": "/",
    "raise:toPower:": "**",
  ]

  private static func call(
    _ name: String, _ receiver: Expression?, _ arguments: [Expression]
  ) -> String {
    if let receiver {
      let rest = arguments.isEmpty ? "" : ", " + list(arguments)
      return "FUNCTION(\(receiver), \(Constant.quoted(name))\(rest))"
    }
    if arguments.count == 2 {
      if let symbol = operators[name] {
        return "\(operand(arguments[0])) \(symbol) \(operand(arguments[1]))"
      }
      if name == "objectFrom:withIndex:" { return "\(arguments[0])[\(arguments[1])]" }
      if name == "castObject:toType:" { return "CAST(\(list(arguments)))" }
    }
    return "\(name)(\(list(arguments)))"
  }

  /// An operand, in parentheses when it is itself printed with an operator.
  private static func operand(_ expression: Expression) -> String {
    if case .function(let name, receiver: nil, let arguments) = expression.bare,
      operators[name] != nil, arguments.count == 2
    {
      return "(\(expression))"
    }
    return expression.description
  }

  private static func list(_ expressions: [Expression]) -> String {
    expressions.map(\.description).joined(separator: ", ")
  }
}

extension Expression.Constant: CustomStringConvertible {
  /// The constant as a format string has it: text in quotes, a date as a CAST of its seconds.
  package var description: String {
    switch self {
    case .null: "nil"
    case .boolean(let value): value ? "1" : "0"
    case .integer(let value): String(value)
    // NSNumber prints a whole number without a point.
    case .real(let value):
      Int64(exactly: value).map { String($0) } ?? String(value)
    case .decimal(let digits): digits
    case .string(let text): Self.quoted(text)
    case .date(let seconds): "CAST(\(Self.fixed(seconds)), \"NSDate\")"
    case .data(let bytes): "<\(ByteText.hex(bytes))>"
    case .uuid(let bytes): UUIDText.text(bytes)
    case .url(let text): text
    case .type(let name): name
    case .array(let elements):
      "{\(elements.map(\.description).joined(separator: ", "))}"
    }
  }

  /// In double quotes, with backslashes before quotes and backslashes.
  package static func quoted(_ text: String) -> String {
    var result = "\""
    for character in text.unicodeScalars {
      switch character {
      case "\"", "\\": result += "\\" + String(character)
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default: result.unicodeScalars.append(character)
      }
    }
    return result + "\""
  }

  /// Six digits behind the point, as NSPredicate prints a date's seconds.
  private static func fixed(_ seconds: Double) -> String {
    let scaled = (seconds * 1_000_000).rounded()
    guard let micros = Int64(exactly: scaled) else { return String(seconds) }
    let fraction = String(micros.magnitude % 1_000_000)
    let padding = String(repeating: "0", count: 6 - fraction.count)
    return "\(micros < 0 ? "-" : "")\(micros.magnitude / 1_000_000).\(padding)\(fraction)"
  }
}

extension Predicate: CustomStringConvertible {
  /// The predicate's format string, which NSPredicate reads again.
  package var description: String {
    switch self {
    case .comparison(let comparison): comparison.description
    case .and(let parts): Self.joined(parts, "AND", empty: true)
    case .or(let parts): Self.joined(parts, "OR", empty: false)
    case .not(let part): "NOT \(part.wrapped)"
    case .always(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    }
  }

  private static func joined(_ parts: [Predicate], _ word: String, empty: Bool) -> String {
    guard !parts.isEmpty else { return Predicate.always(empty).description }
    if parts.count == 1 { return parts[0].description }
    return parts.map(\.wrapped).joined(separator: " \(word) ")
  }

  /// In parentheses when it is a compound.
  private var wrapped: String {
    switch self {
    case .comparison, .always: description
    case .and(let parts), .or(let parts):
      parts.count == 1 ? parts[0].wrapped : parts.isEmpty ? description : "(\(description))"
    case .not: "(\(description))"
    }
  }
}

extension Predicate.Comparison: CustomStringConvertible {
  /// The comparison, with its quantifier and the options of its sign: `ANY a ==[cd] "x"`.
  package var description: String {
    let prefix = quantifier.map { $0.symbol + " " } ?? ""
    return "\(prefix)\(left) \(comparator.symbol)\(options.symbol) \(right)"
  }
}
