/// The words of SQL that an expression of a recipe may use.
///
/// Everything else is refused: a recipe may come from somebody else, and what it computes must come
/// out the same when the result is verified. So there is no clock, no chance, no file, no second
/// statement and no other table.
enum SQLVocabulary {
  static let keywords: Set<String> = [
    "AND", "OR", "NOT", "IS", "NULL", "ISNULL", "NOTNULL", "IN", "BETWEEN", "LIKE", "GLOB",
    "ESCAPE", "CASE", "WHEN", "THEN", "ELSE", "END", "CAST", "AS", "COLLATE", "NOCASE", "BINARY",
    "RTRIM", "TRUE", "FALSE",
    // Types behind CAST(… AS.
    "INTEGER", "INT", "TEXT", "REAL", "BLOB", "NUMERIC", "DECIMAL",
  ]

  /// Functions of SQLite that depend on their arguments alone.
  static let functions: Set<String> = [
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
  /// The functions that recipes add.
  static let ours: Set<String> = [
    "unarchive", "element", "split_part", "rest_after", "parse_date", "format_date",
    "text_or_null", "uuid_from", "sha256", "regex_replace",
  ]

  static func isFunction(_ name: String) -> Bool {
    let name = name.lowercased()
    return functions.contains(name) || ours.contains(name)
  }
}
