import ManagedModel
import SQLite

extension ExpressionCompiler {
  /// A value from the store against one from the text.
  func compare(
    _ term: ExpressionTerm, _ how: ComparisonSign, with constant: Expression.Constant,
    _ range: Range<Int>?
  ) throws(CoreDataError) -> SQLText {
    try checkOptions(how, term)
    if case .null = constant {
      switch how.comparator {
      case .equal: return "\(term.sql) IS NULL"
      case .notEqual: return "\(term.sql) IS NOT NULL"
      default: throw wrong("nil can only be compared with == and !=", range)
      }
    }
    let term = try comparable(term)
    if how.isText { return try textComparison(term, how, constant, range) }
    if case .object(let entity) = term.kind {
      return try compare(term, of: entity, how, with: constant, range)
    }
    if how.isOrder, term.kind.hasNoOrder {
      throw wrong("\(term.name) is \(term.kind.name) and has no order", term.range)
    }
    let value = try converted(constant, for: term, range)
    if term.kind == .decimal {
      return Self.compared("strata_compare(\(term.sql), \(bound(value)))", how, with: "0")
    }
    if how.flags != 0, case .text(let text) = value {
      return Self.compared(how.fold(term.sql), how, with: "\(bound(.text(how.fold(text))))")
    }
    return Self.compared(term.sql, how, with: "\(bound(value))")
  }

  /// Two values from the store.
  func compare(
    _ left: ExpressionTerm, _ how: ComparisonSign, with right: ExpressionTerm
  ) throws(CoreDataError) -> SQLText {
    try checkOptions(how, left)
    let (left, right) = (try comparable(left), try comparable(right))
    if how.isText {
      guard left.kind.isText else { throw notText(left) }
      guard right.kind.isText else { throw notText(right) }
      let (text, part) = (how.fold(left.sql), how.fold(right.sql))
      switch how.comparator {
      case .contains: return "instr(\(text), \(part)) > 0"
      case .beginsWith: return "substr(\(text), 1, length(\(part))) = \(part)"
      case .endsWith:
        return """
          (length(\(text)) >= length(\(part)) AND (\(part) = '' OR substr(\(text), -length(\(part))) = \(part)))
          """
      default:
        throw wrong("a pattern must be text in quotes", right.range)
      }
    }
    guard how.comparator != .isIn else { throw wrong("IN needs a list or a to-many", right.range) }
    switch (left.kind, right.kind) {
    case (.object(let one), .object(let other)):
      guard !how.isOrder else { throw wrong("objects have no order", left.range) }
      guard layout.model.root(of: one) == layout.model.root(of: other) else {
        throw wrong("\(right.name) is never \(left.kind.name)", right.range)
      }
    case (let one, let other) where one.isNumber && other.isNumber:
      if one == .decimal || other == .decimal {
        let compared: SQLText = "strata_compare(\(left.sql), \(right.sql))"
        if how.comparator == .equal {
          return "(\(compared) = 0 OR (\(left.sql) IS NULL AND \(right.sql) IS NULL))"
        }
        if how.comparator == .notEqual {
          return "(\(compared) <> 0 OR (\(left.sql) IS NULL) <> (\(right.sql) IS NULL))"
        }
        return Self.compared(compared, how, with: "0")
      }
    case (let one, let other):
      guard one == other || one == .any || other == .any else {
        throw wrong(
          "\(right.name) is \(other.name) and \(left.name) is \(one.name)", right.range)
      }
    }
    let (one, other) = (how.fold(left.sql), how.fold(right.sql))
    // nil == nil holds.
    if how.comparator == .equal { return "\(one) IS \(other)" }
    return Self.compared(one, how, with: other)
  }

  private static func compared(
    _ left: SQLText, _ how: ComparisonSign, with right: SQLText
  ) -> SQLText {
    // Rows without a value are different from any value.
    let sign = how.comparator == .notEqual ? "IS NOT" : how.comparator.sqlSign ?? "="
    return "\(left) \(own: sign) \(right)"
  }

  private func checkOptions(_ how: ComparisonSign, _ term: ExpressionTerm) throws(CoreDataError) {
    guard !how.options.isEmpty, !term.kind.isText else { return }
    throw wrong(
      "\(how.options.symbol) compares text, and \(term.name) is \(term.kind.name)", term.range)
  }

  /// A value that can be compared; a composite attribute has none of its own.
  func comparable(_ term: ExpressionTerm) throws(CoreDataError) -> ExpressionTerm {
    switch term.kind {
    case .composite(let elements): throw notSimple(term, elements)
    case .file where !scope.readsFiles: throw outside(term)
    default: return content(term)
    }
  }

  /// The value of a column that may refer to a file is what the file has.
  func content(_ term: ExpressionTerm) -> ExpressionTerm {
    guard term.kind == .file, scope.readsFiles else { return term }
    var content = term
    (content.sql, content.kind) = ("strata_content(\(term.sql))", .data)
    return content
  }

  func outside(_ term: ExpressionTerm) -> CoreDataError {
    wrong("\(term.name) is stored outside the row: it can only be compared with nil", term.range)
  }

  func notSimple(_ term: ExpressionTerm, _ elements: [String]) -> CoreDataError {
    guard case .text = origin else { return scope.unknown(term.name, in: scope.entity) }
    return wrong(
      "\(term.name) is a composite attribute: it can only be compared with nil", term.range,
      hint: "Compare an element of it: " + elements.joined(separator: ", "))
  }

  private func notText(_ term: ExpressionTerm) -> CoreDataError {
    wrong("\(term.name) is \(term.kind.name), not text", term.range)
  }

  private func textComparison(
    _ term: ExpressionTerm, _ how: ComparisonSign, _ constant: Expression.Constant,
    _ range: Range<Int>?
  ) throws(CoreDataError) -> SQLText {
    guard term.kind.isText else { throw notText(term) }
    guard case .string(let text) = constant else {
      throw wrong("\(how.comparator.symbol) needs text in quotes", range)
    }
    let subject = how.fold(term.sql)
    let part = how.fold(text)
    let count = Int64(part.unicodeScalars.count)
    switch how.comparator {
    case .contains: return "instr(\(subject), \(bound(.text(part)))) > 0"
    case .beginsWith:
      // The first condition lets an index find where to begin.
      return """
        (\(subject) >= \(bound(.text(part))) AND substr(\(subject), 1, \(number: count)) = \(bound(.text(part))))
        """
    case .endsWith:
      guard count > 0 else { return "\(term.sql) IS NOT NULL" }
      return "substr(\(subject), -\(number: count)) = \(bound(.text(part)))"
    default:
      let flags = how.flags | (how.comparator == .like ? TextMatching.like : 0)
      do {
        _ = try TextMatching.pattern(text, flags)
      } catch {
        throw wrong(error.message, range)
      }
      return "strata_matches(\(term.sql), \(bound(.text(text))), \(number: flags))"
    }
  }

  /// A relationship, or the object itself, against the name of an object.
  private func compare(
    _ term: ExpressionTerm, of entity: String, _ how: ComparisonSign,
    with constant: Expression.Constant, _ range: Range<Int>?
  ) throws(CoreDataError) -> SQLText {
    guard case .string(let text) = constant else {
      throw wrong("\(term.name) is \(term.kind.name): compare it with \"\(entity)/p1\"", range)
    }
    guard !how.isOrder else { throw wrong("objects have no order", range) }
    let id: ObjectID
    do {
      id = try layout.objectID(text)
    } catch {
      throw wrong(error.message, range, hint: error.hint)
    }
    guard let table = layout.table(of: id.entity), let own = layout.table(of: entity),
      table.table == own.table
    else { throw wrong("\(text) is never \(term.kind.name)", range) }
    var equal: SQLText = "\(term.sql) = \(bound(.integer(id.key)))"
    if !table.isWholeTable {
      let numbers = table.numbers.list
      equal = """
        (\(equal) AND (SELECT Z_ENT FROM \(self.table(table.table)) WHERE Z_PK = \(bound(.integer(id.key)))) \
        IN (\(own: numbers)))
        """
    }
    return how.comparator == .notEqual ? Self.not(equal) : equal
  }

  /// What stands in a list of IN: the side that is looked up, and the constant as its value.
  func listed(
    _ term: ExpressionTerm, _ constant: Expression.Constant, _ range: Range<Int>?,
    _ equal: ComparisonSign
  ) throws(CoreDataError) -> (SQLText, Value)? {
    if case .null = constant { return nil }
    if term.kind.isObject || term.kind.isComposite || term.kind.isData || term.kind == .decimal {
      return nil
    }
    try checkOptions(equal, term)
    let value = try converted(constant, for: term, range)
    guard case .text(let text) = value, equal.flags != 0 else { return (term.sql, value) }
    return (equal.fold(term.sql), .text(equal.fold(text)))
  }
}

extension Predicate.Comparator {
  /// How SQL writes the comparison of two values; `nil` for what is more than that.
  var sqlSign: String? {
    switch self {
    case .less, .lessOrEqual, .greater, .greaterOrEqual: symbol
    case .equal: "="
    default: nil
    }
  }
}

extension ExpressionCompiler {
  /// `@count`, `@sum`, `@avg`, `@min`, `@max` of many values: of a list, or of what a path through
  /// to-many relationships references.
  mutating func aggregate(
    _ operation: String, of operand: ExpressionOperand, name: String, _ range: Range<Int>?
  ) throws(CoreDataError) -> ExpressionTerm {
    func made(_ sql: SQLText, _ kind: ValueKind) -> ExpressionTerm {
      ExpressionTerm(sql, kind, name: name, range: operand.range)
    }
    let many: ExpressionCollection
    switch operand {
    case .collection(let found): many = found
    case .list(let elements, _) where operation == "@count":
      return made("\(number: Int64(elements.count))", .integer)
    case .list(let elements, let range): many = try listed(elements, range)
    case .term, .constant:
      throw wrong(
        "\(operation) needs a to-many relationship", range, of: nil,
        "needs a list or a to-many relationship")
    }
    if operation == "@count" { return made(many.selecting("count(*)"), .integer) }
    guard ["@sum", "@avg", "@min", "@max"].contains(operation) else {
      throw unknownAggregate(operation, range)
    }
    let kind = many.element.kind
    guard kind.isNumber || kind == .date || kind == .text,
      let result = ValueFunctions.aggregate(operation, of: many.element)
    else {
      throw wrong(
        "\(operation) cannot be taken of \(kind.name)", many.element.range, of: nil,
        "computes with a value that is not a number")
    }
    if operation == "@avg" || operation == "@sum" && !kind.isWhole { isExact = false }
    return made(many.selecting(result.sql), result.kind)
  }

  func unknownAggregate(_ name: String, _ range: Range<Int>?) -> CoreDataError {
    wrong(
      "“\(name)” is not known", range, hint: "Available: @count, @sum, @avg, @min, @max.",
      of: nil, "gives many values")
  }

  /// A list's values as rows.
  private mutating func listed(
    _ elements: [ExpressionOperand], _ range: Range<Int>?
  ) throws(CoreDataError) -> ExpressionCollection {
    let terms = try elements.map { element throws(CoreDataError) in
      switch element {
      case .term(let term): try computable(term)
      case .constant(let constant, let range): try plain(constant, range)
      case .list, .collection: throw wrong("a list of lists has no value", element.range)
      }
    }
    let kind = terms.map(\.kind).reduce(ValueKind.any) { $0.joined($1) }
    guard
      terms.allSatisfy(\.kind.isNumber) || terms.allSatisfy({ $0.kind == kind || $0.kind == .any })
    else {
      throw wrong(
        "these are values of several kinds", range, of: nil,
        "computes with a value that is not a number")
    }
    let rows = terms.reduce(SQLText(own: "")) { "\($0) UNION ALL SELECT \($1.sql)" }
    let row = alias()
    return ExpressionCollection(
      sources: ["(SELECT NULL AS v WHERE 0\(rows)) \(own: row)"], conditions: ["1"],
      element: ExpressionTerm(
        "\(own: row).v", terms.isEmpty ? .integer : kind, name: "the list", range: range))
  }
}

/// The sign between two sides, with its options.
struct ComparisonSign {
  var comparator: Predicate.Comparator
  var options: Predicate.Options

  /// Whether two values are the same, with the same options.
  var equal: ComparisonSign { ComparisonSign(comparator: .equal, options: options) }

  /// The same with its sides changed; `nil` where they cannot.
  var turned: ComparisonSign? {
    let turned: [Predicate.Comparator: Predicate.Comparator] = [
      .equal: .equal, .notEqual: .notEqual, .less: .greater, .lessOrEqual: .greaterOrEqual,
      .greater: .less, .greaterOrEqual: .lessOrEqual,
    ]
    return turned[comparator].map { ComparisonSign(comparator: $0, options: options) }
  }

  var isOrder: Bool { comparator != .equal && comparator.sqlSign != nil }

  var isText: Bool {
    switch comparator {
    case .matches, .like, .beginsWith, .endsWith, .contains: true
    default: false
    }
  }

  /// How text is compared, for the SQL functions.
  var flags: Int64 {
    var flags: Int64 = 0
    if options.contains(.caseInsensitive) { flags |= TextMatching.ignoringCase }
    if options.contains(.diacriticInsensitive) { flags |= TextMatching.ignoringMarks }
    return flags
  }

  func fold(_ sql: SQLText) -> SQLText {
    flags == 0 ? sql : "strata_fold(\(sql), \(number: flags))"
  }

  func fold(_ text: String) -> String {
    FoldedText.fold(
      text, ignoringCase: options.contains(.caseInsensitive),
      ignoringMarks: options.contains(.diacriticInsensitive))
  }
}
