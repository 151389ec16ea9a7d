import CSQLite

/// What a schema consists of.
package enum SchemaType: String, Sendable {
  case table, index, trigger, view

  /// The words that the text of such an object begins with, as SQLite keeps it.
  private var beginnings: [[String]] {
    switch self {
    case .table: [["CREATE", "TABLE"], ["CREATE", "VIRTUAL", "TABLE"]]
    case .index: [["CREATE", "INDEX"], ["CREATE", "UNIQUE", "INDEX"]]
    case .trigger: [["CREATE", "TRIGGER"]]
    case .view: [["CREATE", "VIEW"]]
    }
  }

  fileprivate func begins(_ text: String) -> Bool {
    let words = text.prefix(80).split(maxSplits: 3, whereSeparator: \.isWhitespace)
      .map { $0.uppercased() }
    return beginnings.contains { words.starts(with: $0) }
  }
}

extension Connection {
  /// Makes an object from the text that another database's schema keeps of it.
  ///
  /// The schema of a store can hold any text: SQLite compiles the first statement of it when it opens the
  /// store, whatever follows. Only a text of one statement, which makes an object of that type, is run.
  ///
  /// - Throws: `SQLiteError` that says the database is damaged, where the text is anything else.
  package func create(_ type: SchemaType, _ text: String) throws {
    let refusal = SQLiteError(
      extendedCode: SQLITE_CORRUPT,
      message:
        "the schema has a text that is not one CREATE \(type.rawValue.uppercased()) statement",
      sql: text)
    guard type.begins(text) else { throw refusal }
    let (statement, isAlone) = try compile(text)
    guard isAlone else { throw refusal }
    while try statement.step() {}
  }
}
