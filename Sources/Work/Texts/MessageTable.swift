/// A table of sentences, as a file of Markdown that is in the binary: `## ` begins a row with its name,
/// `- field: text` is a field of it, and whatever stands before the first row is for readers of the file.
package struct MessageTable: Sendable {
  /// What stands below one heading.
  package struct Row: Sendable {
    /// The heading.
    package let name: String
    fileprivate(set) var fields: [String: String] = [:]

    /// The text of a field; `nil` where the row does not have it.
    package subscript(field: String) -> String? { fields[field] }
  }

  /// In the order of the file.
  package private(set) var rows: [Row] = []
  /// Lines that belong to no row, or give a field twice. The tables of the package have none.
  package private(set) var faults: [String] = []

  package init(_ bytes: [UInt8]) {
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let line = String(decoding: line, as: UTF8.self)
      if line.hasPrefix("## ") {
        rows.append(Row(name: String(line.dropFirst(3))))
      } else if !rows.isEmpty {
        let parts = line.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, parts[0].hasPrefix("- "), parts[1].hasPrefix(" "),
          case let field = String(parts[0].dropFirst(2)), rows[rows.count - 1][field] == nil
        else {
          faults.append(line)
          continue
        }
        rows[rows.count - 1].fields[field] = String(parts[1].dropFirst())
      }
    }
  }
}

extension MessageTable {
  /// Error codes of Core Data, SQLite and CloudKit; a row is named by domain, code and constant.
  package static var errors: MessageTable { MessageTable(EmbeddedFile.bytes("errors")) }
  /// Sentences of logs, by which errors without a code are known.
  package static var sentences: MessageTable { MessageTable(EmbeddedFile.bytes("sentences")) }
  /// Kinds of faults of a store.
  package static var findings: MessageTable { MessageTable(EmbeddedFile.bytes("findings")) }
  /// Rules about changes of models, out of their article.
  package static var rules: MessageTable { MessageTable(EmbeddedFile.bytes("rules")) }
}
