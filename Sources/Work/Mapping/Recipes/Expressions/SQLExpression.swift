import ManagedModel

/// An SQL expression of a recipe, taken apart and joined to the properties it reads.
///
/// What it means is decided by the model alone, so that a recipe is checked before any store is
/// opened; ``ExpressionScope`` turns the parts into SQL over a store's columns.
package struct SQLExpression {
  package enum Part: Equatable {
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

  package struct Located: Equatable {
    package var part: Part
    package var range: Range<Int>
  }

  /// Parentheses within parentheses that are accepted; SQLite's own parser has a limit, too.
  static let maximumDepth = 60

  let text: String
  package let parts: [Located]
}

extension SQLExpression {
  /// - Parameter variables: names that the place of the expression adds; they hide properties.
  /// - Throws: ``CoreDataError`` of kind usage with the place in the text.
  package init(_ text: String, entity: String, model: Model, variables: Set<String> = []) throws {
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

  /// The same, after SQLite had a look at it.
  static func tried(
    _ text: String, entity: String, model: Model, variables: Set<String> = []
  ) throws -> SQLExpression {
    let expression = try SQLExpression(text, entity: entity, model: model, variables: variables)
    try ExpressionTrial(expression).run()
    return expression
  }

  /// The path that the expression is, where it is nothing else: a property's name, an element's path,
  /// or one through relationships.
  var plainPath: String? {
    guard parts.count == 1, case .property(let path) = parts[0].part else { return nil }
    return path.joined(separator: ".")
  }

  /// SQL with what `sql` says for each part, and where in it each part stands.
  package func joined(
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

/// The words of SQL that an expression of a recipe may use.
///
/// Everything else is refused: a recipe may come from somebody else, and what it computes must come
/// out the same when the result is verified. So there is no clock, no chance, no file, no second
/// statement and no other table.
package enum SQLVocabulary {
  package static let keywords: Set<String> = [
    "AND", "OR", "NOT", "IS", "NULL", "ISNULL", "NOTNULL", "IN", "BETWEEN", "LIKE", "GLOB",
    "ESCAPE", "CASE", "WHEN", "THEN", "ELSE", "END", "CAST", "AS", "COLLATE", "NOCASE", "BINARY",
    "RTRIM", "TRUE", "FALSE",
    // Types behind CAST(… AS.
    "INTEGER", "INT", "TEXT", "REAL", "BLOB", "NUMERIC", "DECIMAL",
  ]

  /// Functions of SQLite that depend on their arguments alone.
  package static let functions: Set<String> = [
    "abs", "char", "coalesce", "concat", "concat_ws", "format", "glob", "hex", "ifnull", "iif",
    "instr", "length", "like", "lower", "ltrim", "max", "min", "nullif", "octet_length", "printf",
    "quote", "replace", "round", "rtrim", "sign", "substr", "substring", "trim", "typeof", "unhex",
    "unicode", "upper", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil",
    "ceiling", "cos", "cosh", "degrees", "exp", "floor", "ln", "log", "log10", "log2", "mod", "pi",
    "pow", "power", "radians", "sin", "sinh", "sqrt", "tan", "tanh", "trunc", "json", "json_array",
    "json_array_length", "json_extract", "json_insert", "json_object", "json_patch", "json_quote",
    "json_remove", "json_replace", "json_set", "json_type", "json_valid",
  ]

  /// Why a word that people try is not there, and what to write in its place.
  static func advice(on word: String) -> String? {
    switch word.lowercased() {
    case "select", "exists", "from", "with", "values":
      "An expression computes one value of one row: key paths (author.name) and count(tags) reach other rows."
    case "attach", "detach", "pragma", "insert", "update", "delete", "drop", "create", "alter",
      "vacuum":
      "An expression computes a value and changes nothing."
    case "sum", "avg", "total", "group_concat", "string_agg", "json_group_array",
      "json_group_object", "median":
      "An expression sees one row; count(tags) gives the number of objects in a to-many."
    case "date", "time", "datetime", "julianday", "strftime", "unixepoch", "timediff",
      "current_date", "current_time", "current_timestamp", "now":
      "Use parse_date and format_date: what a recipe computes must not change with the clock."
    case "random", "randomblob":
      "uuid() gives each row its own value, and the same one each time."
    case "load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "sqlite_version":
      "An expression reaches no files and loads nothing."
    case "over", "filter", "row_number", "rank", "lag", "lead":
      "An expression sees one row: there are no windows."
    case "regexp", "match": "Use regex_replace, LIKE or GLOB."
    default: nil
    }
  }
}

extension SQLVocabulary {
  /// Beginnings of what people need most, each with what it gives.
  package static let common: KeyValuePairs = [
    "coalesce(": "the first that is not NULL", "CAST(": "CAST(a AS INTEGER), REAL or TEXT",
    "CASE WHEN ": "CASE WHEN a > 1 THEN 'many' ELSE 'one' END", "NULL ": "no value",
    "trim(": "without spaces around it", "lower(": "in small letters",
    "replace(": "replace(a, 'old', 'new')", "substr(": "substr(a, first, length), from 1",
    "split_part(": "split_part(a, ' ', 1), the first word",
    "rest_after(": "rest_after(a, ' '), all but the first word",
    "parse_date(": "parse_date(a, 'yyyy-MM-dd'), a Date from text",
    "format_date(": "format_date(a, 'yyyy-MM-dd'), text from a Date",
    "count(": "count(tags), how many it references", "uuid() ": "a new UUID",
  ]

  /// The functions that recipes add.
  package static let ours: Set<String> = [
    "unarchive", "element", "split_part", "rest_after", "parse_date", "format_date",
    "text_or_null", "uuid_from", "sha256", "regex_replace",
  ]

  static func isFunction(_ name: String) -> Bool {
    let name = name.lowercased()
    return functions.contains(name) || ours.contains(name)
  }
}

/// The calls of `uuid()` in expressions: each of a recipe gets a number, so that no two of them
/// give one row the same UUID.
enum UUIDCalls {
  /// The expression with a number in every `uuid()`.
  static func numbered(_ text: String, _ next: inout Int) -> String {
    var bytes = Array(text.utf8)
    // From the end, so that places before stay right.
    let places = calls(in: text).filter { $0.number == nil }.map(\.place)
    let first = next
    next += places.count
    for (offset, place) in places.enumerated().reversed() {
      bytes.insert(contentsOf: String(first + offset).utf8, at: place)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The numbers that calls have already.
  static func numbers(in text: String) -> [Int] { calls(in: text).compactMap(\.number) }

  /// Where the number of each call stands or belongs.
  private static func calls(in text: String) -> [(number: Int?, place: Int)] {
    guard let tokens = try? SQLTokenizer.tokens(of: text) else { return [] }
    return tokens.indices.compactMap { index in
      guard tokens[index].word == "UUID", index + 2 < tokens.count, tokens[index + 1].isSymbol("(")
      else { return nil }
      let argument = tokens[index + 2]
      if argument.isSymbol(")") { return (nil, argument.range.lowerBound) }
      guard let number = Int(argument.text), (0..<1_000_000).contains(number) else { return nil }
      return (number, argument.range.lowerBound)
    }
  }
}
