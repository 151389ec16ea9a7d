import ManagedModel

extension Frequencies {
  /// NSPredicate text for the objects that have a value; `nil` for one that no text can name: a
  /// text that was cut, bytes, a number that is none.
  public func predicate(for entry: Entry) -> String? {
    guard !entry.isCut else { return nil }
    switch entry.value {
    case .value where kind == .presence: return "\(name) != nil"
    case .value(let value):
      return PredicateText.constant(value).map { "\(name) == \($0)" }
    case .toOne(let id): return id.map { "\(name) == \(PredicateText.quoted("\($0)"))" }
    case .toMany(let many): return "\(name).@count == \(many.count)"
    case .data: return nil
    }
  }

  /// NSPredicate text for the objects without a value.
  public var predicateForNull: String { "\(name) == nil" }

  private var name: String { PredicateText.name(path) }
}

/// Values as NSPredicate text.
package enum PredicateText {
  /// Words that the language takes for its own, in any case.
  private static let reserved: Set<String> = [
    "AND", "OR", "IN", "NOT", "ALL", "ANY", "SOME", "NONE", "LIKE", "CASEINSENSITIVE", "CI",
    "MATCHES", "CONTAINS", "BEGINSWITH", "ENDSWITH", "BETWEEN", "NULL", "NIL", "SELF", "TRUE",
    "YES", "FALSE", "NO", "FIRST", "LAST", "SIZE", "ANYKEY", "SUBQUERY", "FETCH", "CAST",
    "TRUEPREDICATE", "FALSEPREDICATE", "UTI-CONFORMS-TO", "UTI-EQUALS", "TERNARY",
  ]

  static func isReserved(_ name: Substring) -> Bool { reserved.contains(name.uppercased()) }

  /// A path as a predicate takes it: a name that is a word of the language has a `#` before it.
  package static func name(_ path: String) -> String {
    path.split(separator: ".", omittingEmptySubsequences: false)
      .map { isReserved($0) ? "#\($0)" : String($0) }.joined(separator: ".")
  }

  /// A constant that equals an attribute's value; `nil` where there is none.
  package static func constant(_ value: AttributeValue) -> String? {
    switch value {
    case .null: "nil"
    case .integer(let number): String(number)
    case .boolean(let flag): flag ? "YES" : "NO"
    case .double(let number): number.isFinite ? number.description : nil
    case .decimal(let digits): quoted(digits)
    case .string(let text), .uri(let text): quoted(text)
    case .date(let seconds): date(seconds)
    case .uuid(let bytes): quoted(UUIDText.text(bytes))
    case .bytes: nil
    }
  }

  /// A date as people write it where that is exactly it, else its number.
  private static func date(_ seconds: Double) -> String? {
    guard seconds.isFinite else { return nil }
    let text = CoreDataDate.text(seconds)
    if CoreDataDate.seconds(written: text) == seconds { return quoted(text) }
    return "CAST(\(quoted(seconds.description)), \"NSDate\")"
  }

  /// Text in quotes.
  package static func quoted(_ text: String) -> String { Expression.Constant.quoted(text) }
}
