/// What became of a store that was anonymized, and what still shows.
package struct AnonymizationReport: Sendable {
  /// The original, as it was given.
  package let storePath: String
  /// The new store.
  package let outputPath: String
  /// The new store's UUID.
  package internal(set) var uuid = ""
  /// Objects of each entity, by name.
  package internal(set) var entities: [(name: String, objects: Int)] = []
  /// Values that were replaced by others.
  package internal(set) var replaced = 0
  /// Values of replaced columns that are as they were: there is no other of their kind, or so many numbers occur
  /// between two powers of ten that their order leaves no room.
  package internal(set) var unchanged = 0
  /// How many of them each column has, by the names of table and column; columns without one are left out.
  package internal(set) var unchangedColumns: [(name: String, values: Int)] = []
  /// Attributes whose values were kept on request.
  package internal(set) var kept: [String] = []
  /// Tables of an app's own with the rows that they had; they are empty, unless ``keepsOwnTables``.
  package internal(set) var ownTables: [(name: String, rows: Int)] = []
  /// Whether the app's own tables are as they were.
  package internal(set) var keepsOwnTables = false
  /// Files of external data that were replaced.
  package internal(set) var files = 0
  /// Things beside the store that have no counterpart beside the new one.
  package internal(set) var leftOut: [String] = []
  /// Values that begin as an archive or a gzip and cannot be read: random bytes stand there.
  package internal(set) var unreadable = 0
  /// Packed values whose content did not fit into their length.
  package internal(set) var shortened = 0
  /// Whether anybody who knows the seed can test guesses.
  package internal(set) var isSeeded = false

  /// What of the original can be seen in the new store, as sentences.
  package var stillShows: [String] {
    [
      "Names of entities, properties, tables and columns, and the model with its rules and default values",
      "The number of objects, their keys and references, and whether an order was changed by hand",
      "Which values are missing, how long texts and data are, and which values are equal",
      "The order of numbers and dates and their powers of ten, truth values, 0, and the small whole numbers of an attribute that uses nearly all of them",
      "Punctuation and spaces in texts, kinds of letters, schemes of URLs, and the kinds of data with pixel sizes",
      "In archives: names of classes and keys",
      "In history and the mirror's tables: which objects a save changed, and what waits for iCloud",
    ]
      + (kept.isEmpty ? [] : ["The values of \(kept.joined(separator: ", "))"])
      + (keepsOwnTables && !ownTables.isEmpty
        ? ["All rows of the app's own tables: \(ownTables.map(\.name).joined(separator: ", "))"]
        : [])
  }

  init(storePath: String, outputPath: String) {
    (self.storePath, self.outputPath) = (storePath, outputPath)
  }
}
