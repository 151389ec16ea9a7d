import ManagedModel

/// An SQL expression of a recipe, taken apart and joined to the properties it reads.
///
/// What it means is decided by the model alone, so that a recipe is checked before any store is
/// opened; ``ExpressionScope`` turns the parts into SQL over a store's columns.
struct SQLExpression {
  enum Part: Equatable {
    /// SQL that is as it was written.
    case sql(String)
    /// An attribute or to-one relationship, perhaps behind others.
    case property([String])
    /// A name of the scope: `item`, `position`.
    case variable(String)
    /// How many objects a relationship references.
    case count([String])
    /// A UUID of the row; the number distinguishes one of a recipe from another.
    case uuid(Int)
  }

  struct Located: Equatable {
    var part: Part
    var range: Range<Int>
  }

  /// Parentheses within parentheses that are accepted; SQLite's own parser has a limit, too.
  static let maximumDepth = 60

  let text: String
  let parts: [Located]
}

extension SQLExpression {
  /// - Parameter variables: names that the place of the expression adds; they hide properties.
  /// - Throws: ``CoreDataError`` of kind usage with the place in the text.
  init(_ text: String, entity: String, model: Model, variables: Set<String> = []) throws {
    self.text = text
    let tokens = try SQLTokenizer.tokens(of: text)
    guard !tokens.isEmpty else {
      throw CoreDataError(
        .usage, "the expression is empty", hint: "Write NULL for no value.",
        mark: TextMark(text, 0..<text.utf8.count))
    }
    var reader = SQLExpressionReader(
      text: text, tokens: tokens, entity: entity, model: model, variables: variables)
    parts = try reader.read()
  }

  /// The path that the expression is, where it is nothing else: a property's name, an element's path,
  /// or one through relationships.
  var plainPath: String? {
    guard parts.count == 1, case .property(let path) = parts[0].part else { return nil }
    return path.joined(separator: ".")
  }

  /// SQL with what `sql` says for each part, and where in it each part stands.
  func joined(
    prefix: String = "", suffix: String = "", _ sql: (Located) throws -> String
  ) rethrows -> (sql: String, places: [Range<Int>]) {
    var result = prefix
    var places: [Range<Int>] = []
    for (index, located) in parts.enumerated() {
      if index > 0 { result += " " }
      let start = result.utf8.count
      result += try sql(located)
      places.append(start..<result.utf8.count)
    }
    return (result + suffix, places)
  }
}
