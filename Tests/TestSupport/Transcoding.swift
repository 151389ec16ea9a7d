import SQLite

extension Connection {
  /// Writes the same tables and rows into a database of another text encoding.
  package static func transcode(_ from: String, to path: String, _ encoding: String) throws {
    let source = try Connection(path: from, mode: .immutable)
    let target = try Connection(path: path, mode: .create)
    try target.execute("PRAGMA encoding = '\(encoding)'; PRAGMA auto_vacuum = INCREMENTAL")
    for type in ["table", "index", "trigger"] {
      for row in try source.rows(
        """
        SELECT name, sql FROM sqlite_master WHERE type = ? AND sql IS NOT NULL
        AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid
        """, [.text(type)])
      {
        guard let name = row[0].text, let sql = row[1].text else { continue }
        try target.execute(sql)
        guard type == "table" else { continue }
        for values in try source.rows("SELECT * FROM \(quoted(name))") {
          let places = values.map { _ in "?" }.joined(separator: ", ")
          try target.run("INSERT INTO \(quoted(name)) VALUES (\(places))", values)
        }
      }
    }
    source.close()
    target.close()
  }
}
