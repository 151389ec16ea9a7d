import ManagedStore

/// The text of CREATE statements, as far as a migration looks into it.
enum SchemaText {
  /// Whether every table and column that an index or trigger names is still there.
  ///
  /// Core Data's names are all in capitals and begin with Z; the statement's own name comes third.
  ///
  /// - Parameter former: the tables that it was written for.
  static func fits(
    _ sql: String, _ database: DatabaseTables, writtenFor former: DatabaseTables
  ) -> Bool {
    let known = Set(database.tables.keys).union(database.tables.values.flatMap { $0.map(\.name) })
    let gone = Set(former.tables.keys).subtracting(known)
    var words = words(of: sql)
    guard
      let name = words.firstIndex(where: {
        $0.uppercased() == "INDEX" || $0.uppercased() == "TRIGGER"
      }),
      name + 1 < words.count
    else { return false }
    words.remove(at: name + 1)
    return words.allSatisfy { word in
      !gone.contains(word)
        && (!word.hasPrefix("Z") || word != word.uppercased() || known.contains(word))
    }
  }

  /// The words of a statement, names without their quotes.
  static func words(of sql: String) -> [String] {
    sql.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
  }

  /// What an index is of, as its statement has it, whatever the index is called; `nil` for a statement
  /// that begins in another way than SQLite keeps it, and for one with a condition, in which upper and
  /// lower case may make a difference.
  static func content(ofIndex sql: String, named name: String) -> String? {
    let (text, name) = (normalized(sql), normalized(name))
    guard !text.contains("WHERE") else { return nil }
    for beginning in ["CREATEINDEX", "CREATEUNIQUEINDEX"]
    where text.hasPrefix(beginning + name + "ON") {
      return beginning + text.dropFirst(beginning.count + name.count)
    }
    return nil
  }

  /// A statement without what SQLite reads over: white space, quotes, upper and lower case.
  static func normalized(_ sql: String) -> String {
    sql.filter { !$0.isWhitespace && $0 != "\"" }.uppercased()
  }
}
