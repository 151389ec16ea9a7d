import Files
import ManagedModel
import ManagedStore
import SQLite

/// Checks that each file of external data beside a merged store has the bytes of the one that it comes from.
struct FileVerification {
  let map: ObjectMap
  let told: MergeTelling
  private let old: ExternalFolder
  private let new: ExternalFolder
  private let result: ExternalFolder

  /// - Parameter result: the merged store, whose files are all there.
  init(_ map: ObjectMap, _ told: MergeTelling, result: StoreFiles) {
    (self.map, self.told, self.result) = (map, told, ExternalFolder(result))
    (old, new) = (ExternalFolder(map.stores.old.files), ExternalFolder(map.stores.new.files))
  }

  func run() throws {
    for entity in map.entities {
      for attribute in entity.attributes where attribute.allowsFiles {
        try check(attribute, of: entity)
      }
    }
  }

  private func check(_ attribute: MergedEntity.Attribute, of entity: MergedEntity) throws {
    let (table, column) = (quoted(entity.new.table), quoted(attribute.new))
    let own = entity.new.ownRows("r").map { " AND " + $0 } ?? ""
    let statement = try map.connection.prepare(
      """
      SELECT r.Z_PK, r.\(column), n.\(column), o.\(quoted(attribute.old)) FROM main.\(table) r
      LEFT JOIN now.\(table) n ON n.Z_PK = r.Z_PK
      LEFT JOIN temp.merge_key m ON m.t = \(map.number(entity.old.table)) AND m.r = r.Z_PK
      LEFT JOIN src.\(quoted(entity.old.table)) o ON o.Z_PK = m.a
      WHERE \(MarkedBytes.isFile("r." + column))\(own)
      """)
    while try statement.step() {
      try told.check()
      let row = statement.row()
      guard row.count == 4, let there = row[1].blob else { continue }
      // A value of the older store has another name: its file came under one.
      let isOfNew = row[2].blob == there
      let isEqual = try isEqual(
        place(of: there, in: result),
        place(of: row[isOfNew ? 2 : 3].blob ?? [], in: isOfNew ? new : old))
      guard isEqual else {
        throw CoreDataError(
          .failed,
          "verification failed: a file of external data differs from its source (\(entity.name)/p\(row[0].integer ?? 0))",
          entity: entity.name, property: attribute.name,
          hint: "The result was removed. Both stores are unchanged.")
      }
    }
  }

  private func place(of column: [UInt8], in folder: ExternalFolder) -> ExternalPlace {
    guard case .file(let name) = MarkedBytes(column) else { return .missing }
    return folder.place(of: name)
  }

  private func isEqual(_ one: ExternalPlace, _ other: ExternalPlace) throws -> Bool {
    switch (one, other) {
    case (.file(let file), .file(let original)):
      try file.size == original.size && file.sha256() == original.sha256()
    case (.missing, .missing): true
    case (.unreadable(let error), _), (_, .unreadable(let error)): throw error
    case (.file, .missing), (.missing, .file): false
    }
  }
}
