import ManagedModel
import SQLite

/// Turns a predicate into a condition of SQL; to-one paths become lookups by key, to-many ones
/// EXISTS, so that nothing multiplies rows.
struct FilterCompiler {
  let layout: StoreLayout
  let text: String
  /// What the store's tables are called by: nothing on its own connection.
  let schema: String
  /// Alias of the row that the predicate is about.
  let row: String
  /// Properties of that row that were met.
  private(set) var properties: Set<String> = []
  /// The time as a date attribute holds it.
  var now: SQLText = "((julianday('now') - 2451910.5) * 86400)"
  private var aliases = 0

  init(layout: StoreLayout, text: String, row: String = "t", schema: String = "") {
    self.layout = layout
    self.text = text
    self.row = row
    self.schema = schema
  }

  /// The row as an object of that entity.
  func object(of entity: String) -> FilterObject {
    FilterObject(entity: entity, row: row, key: "\(own: row).Z_PK")
  }

  /// A table of the store, by its name in the statement.
  func table(_ name: String) -> SQLText { "\(own: schema)\(name: name)" }

  mutating func note(_ property: String, of object: FilterObject) {
    if object.row == row { properties.insert(property) }
  }

  mutating func alias() -> String {
    aliases += 1
    return "f\(aliases)"
  }

  func wrong(_ message: String, _ range: Range<Int>, hint: String? = nil) -> CoreDataError {
    CoreDataError(.usage, message, hint: hint, mark: TextMark(text, range))
  }

  /// A condition that is NULL where it might be unknown: as good as false anywhere but below NOT.
  mutating func condition(
    _ predicate: LocatedPredicate, _ scope: FilterScope
  ) throws -> SQLText {
    switch predicate {
    case .always(let value): return value ? "1" : "0"
    case .not(let part): return Self.not(try condition(part, scope))
    case .and(let parts):
      return parts.isEmpty ? "1" : .joined(try parts.map { try condition($0, scope) }, "AND")
    case .or(let parts):
      return parts.isEmpty ? "0" : .joined(try parts.map { try condition($0, scope) }, "OR")
    case .comparison(let comparison): return try self.comparison(comparison, scope)
    }
  }

  static func not(_ condition: SQLText) -> SQLText { "(NOT ifnull(\(condition), 0))" }

  private mutating func comparison(
    _ comparison: LocatedComparison, _ scope: FilterScope
  ) throws -> SQLText {
    let left = try operand(comparison.left, scope)
    let right = try operand(comparison.right, scope)
    let how = FilterComparison(comparator: comparison.comparator, options: comparison.options)
    guard case .collection(let collection) = left else {
      if let quantifier = comparison.quantifier {
        throw wrong(
          "\(quantifier.symbol) needs a to-many relationship behind it", left.range)
      }
      return try compare(left, how, right)
    }
    let element = FilterOperand.term(collection.element)
    switch comparison.quantifier {
    case .any: return collection.exists(try compare(element, how, right))
    case .all: return Self.not(collection.exists(Self.not(try compare(element, how, right))))
    case nil:
      guard how.comparator == .contains else {
        throw wrong(
          "“\(collection.element.name)” has many values", collection.range,
          hint: "Put ANY, ALL or NONE before it, or compare its @count.")
      }
      return collection.exists(
        try compare(element, FilterComparison(comparator: .equal, options: how.options), right))
    }
  }

  /// Compares two sides, neither of them many values but perhaps the right one.
  mutating func compare(
    _ left: FilterOperand, _ how: FilterComparison, _ right: FilterOperand
  ) throws -> SQLText {
    let equal = FilterComparison(comparator: .equal, options: how.options)
    switch (left, right) {
    case (.collection(let many), _):
      throw wrong("“\(many.element.name)” has many values", many.range)
    case (.list(_, let range), _): throw wrong("a list stands on the right of IN", range)
    case (_, .collection(let many)):
      guard how.comparator == .isIn else {
        throw wrong(
          "“\(many.element.name)” has many values", many.range,
          hint: "Put it on the left with ANY or ALL before it, or use IN or @count.")
      }
      return many.exists(try compare(.term(many.element), equal, left))
    case (_, .list(let elements, let range)):
      switch how.comparator {
      case .between: return try between(left, elements, range, how.options)
      case .isIn: return try isIn(left, elements, equal)
      default: throw wrong("a list needs IN or BETWEEN before it", range)
      }
    case (_, _) where how.comparator == .between:
      throw wrong("BETWEEN needs a list of two: {lower, upper}", right.range)
    case (.term(let term), .constant(let constant, let range)):
      if how.comparator == .isIn {
        throw wrong("IN needs a list: {1, 2}", range)
      }
      return try compare(term, how, with: constant, range)
    case (.constant(let constant, let range), .term(let term)):
      if how.comparator == .isIn {
        // "x" IN title: the text is a part of it.
        guard term.kind == .text else { throw wrong("IN needs a list or a to-many", term.range) }
        return try compare(
          term, FilterComparison(comparator: .contains, options: how.options), with: constant,
          range)
      }
      if let turned = how.turned { return try compare(term, turned, with: constant, range) }
      let value = try plain(constant, range)
      return try compare(value, how, with: term)
    case (.term(let left), .term(let right)): return try compare(left, how, with: right)
    case (.constant(let constant, let range), .constant(let other, let otherRange)):
      if case .null = other {
        return try compare(plain(constant, range), how, with: other, otherRange)
      }
      if case .null = constant { return how.comparator == .notEqual ? "1" : "0" }
      return try compare(plain(constant, range), how, with: other, otherRange)
    }
  }

  private mutating func between(
    _ left: FilterOperand, _ bounds: [FilterOperand], _ range: Range<Int>,
    _ options: Predicate.Options
  ) throws -> SQLText {
    guard bounds.count == 2 else { throw wrong("BETWEEN needs a list of two", range) }
    let lower = try compare(
      left, FilterComparison(comparator: .greaterOrEqual, options: options), bounds[0])
    let upper = try compare(
      left, FilterComparison(comparator: .lessOrEqual, options: options), bounds[1])
    return "(\(lower) AND \(upper))"
  }

  /// Constants of one kind become one list, so that an index can serve them all.
  private mutating func isIn(
    _ left: FilterOperand, _ elements: [FilterOperand], _ equal: FilterComparison
  ) throws -> SQLText {
    var pieces: [SQLText] = []
    var list: [SQLText] = []
    var subject: SQLText?
    for element in elements {
      if case .term(let term) = left, case .constant(let constant, let range) = element,
        let (sql, value) = try listed(term, constant, range, equal)
      {
        subject = sql
        list.append("\(value: value)")
      } else {
        pieces.append(try compare(left, equal, element))
      }
    }
    if let subject { pieces.append("\(subject) IN (\(SQLText.list(list)))") }
    return pieces.isEmpty ? "0" : .joined(pieces, "OR")
  }
}

/// The sign between two sides, with its options.
struct FilterComparison {
  var comparator: Predicate.Comparator
  var options: Predicate.Options

  /// The same with its sides changed; `nil` where they cannot.
  var turned: FilterComparison? {
    let comparator: Predicate.Comparator
    switch self.comparator {
    case .equal, .notEqual: comparator = self.comparator
    case .less: comparator = .greater
    case .lessOrEqual: comparator = .greaterOrEqual
    case .greater: comparator = .less
    case .greaterOrEqual: comparator = .lessOrEqual
    default: return nil
    }
    return FilterComparison(comparator: comparator, options: options)
  }

  var isOrder: Bool {
    switch comparator {
    case .less, .lessOrEqual, .greater, .greaterOrEqual: true
    default: false
    }
  }

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
