import ManagedModel
import ManagedStore
import SQLite

/// What becomes of persistent history, and of CloudKit mirroring's own tables.
extension PlanNotes {
  func history(_ schemas: StepSchemas) throws -> [String] {
    guard let history = try store.history() else { return [] }
    var notes = [
      "The store keeps history (\(NumberText.counted(history.transactions, "transaction")), \(NumberText.counted(history.changes, "change"))): its rows stay and follow the new entity IDs and properties. An empty transaction is added that records the model which the store had."
    ]
    let added = schemas.addedTombstones.count
    if added > 0, isAtHand {
      notes.append(
        "History gets \(NumberText.counted(added, "more column")) for values of deleted objects: the new model preserves more of them."
      )
    }
    return try notes + changesThatGo() + valuesThatGo()
  }

  /// Whether the store is of the version that the step begins at: its rows are what the step finds.
  private var isAtHand: Bool {
    let own = store.model.versionHashes
    return own == source.versionHashes.filter { own[$0.key] != nil }
  }

  /// Changes of entities that go, and what Core Data would do about them.
  private func changesThatGo() throws -> [String] {
    let gone = mapping.entityMappings.filter { $0.destination == nil }.compactMap(\.source)
    let numbers = gone.compactMap { store.table(of: $0)?.entityID }
    let columns = store.database.columns(of: "ACHANGE")
    guard !numbers.isEmpty, columns.contains("ZENTITY") else { return [] }
    let rows = "FROM ACHANGE WHERE ZENTITY IN (\(numbers.list))"
    let count = try store.number("SELECT count(*) \(rows)")
    guard count > 0 else { return [] }
    var note =
      "\(NumberText.counted(count, "change")) in the history \(count == 1 ? "is" : "are") of removed entities (\(gone.sorted().joined(separator: ", "))): \(count == 1 ? "it is" : "they are") removed too; all others stay."
    if columns.contains("ZTRANSACTIONID") {
      let last = try store.number("SELECT max(ZTRANSACTIONID) \(rows)")
      let before = try store.number("SELECT count(*) FROM ATRANSACTION WHERE Z_PK <= \(last)")
      note +=
        " Core Data’s own migration deletes more by default: the \(NumberText.counted(before, "transaction")) up to the last of these changes, with all they hold."
    }
    return [note]
  }

  /// Values of deleted objects that the new model does not keep.
  private func valuesThatGo() throws -> [String] {
    let columns = store.database.columns(of: "ACHANGE")
    guard isAtHand, columns.isSuperset(of: ["ZENTITY", "ZCHANGETYPE"]) else { return [] }
    var (values, names) = (0, [String]())
    for entityMapping in mapping.entityMappings {
      guard let from = entityMapping.source, let to = entityMapping.destination,
        let number = store.table(of: from)?.entityID
      else { continue }
      let kept = destination.tombstoneAttributes(of: to).compactMap {
        entityMapping.attribute(named: $0)?.source
      }
      for (place, name) in source.tombstoneAttributes(of: from).enumerated()
      where !kept.contains(name) && columns.contains(Tombstones.column(place)) {
        let count = try store.number(
          """
          SELECT count(*) FROM ACHANGE WHERE ZENTITY = \(number)
          AND ZCHANGETYPE = \(HistoryChange.Kind.delete.rawValue)
          AND \(Tombstones.column(place)) IS NOT NULL
          """)
        if count > 0 {
          values += count
          names.append("\(from).\(name)")
        }
      }
    }
    guard values > 0 else { return [] }
    return [
      "History kept \(NumberText.counted(values, "value")) of deleted objects that the new model does not preserve (\(names.joined(separator: ", "))): \(values == 1 ? "it is" : "they are") removed, as in Core Data’s own migration."
    ]
  }

  func mirroring(_ schemas: StepSchemas) throws -> [String] {
    guard let cloud = try store.cloudKit() else { return [] }
    let waiting = [
      (cloud.pendingUploads, "record", "to be uploaded"),
      (cloud.pendingDeletes, "record", "to be deleted in iCloud"),
      (cloud.pendingLinks, "link", "to be uploaded"),
      (cloud.unanalysedTransactions, "transaction", "to be analysed"),
      (cloud.analysedChanges, "change", "to become a record"),
    ].filter { $0.0 > 0 }.map { count, noun, rest in
      "\(NumberText.counted(count, noun)) \(count == 1 ? "waits" : "wait") \(rest)"
    }
    var notes = [
      "The store is mirrored to CloudKit"
        + (waiting.isEmpty
          ? ", and nothing is waiting to be uploaded" : ": " + waiting.joined(separator: ", "))
        + ". Mirroring must be off while it is migrated."
    ]
    notes += [
      MirroredRenaming.sentence(mapping.renamings(from: source, to: destination)),
      isAtHand ? try mirroredRows(schemas) : nil,
    ].compactMap { $0 }
    if isAtHand, schemas.needsZoneFetch {
      notes.append(
        "The metadata make the mirroring fetch everything again, because tables or entity IDs change; Core Data’s own migration does so too."
      )
    }
    return notes
  }

  /// How many of the mirroring's own rows are deleted, and get other entity numbers.
  private func mirroredRows(_ schemas: StepSchemas) throws -> String? {
    let removed = schemas.removedNumbers
    let moved = schemas.renumbering.filter { $0.old != $0.new }.map(\.old)
    var (deleted, renumbered) = (0, 0)
    for table in schemas.numberedMirrorTables {
      let rows = "SELECT count(*) FROM \(quoted(table)) WHERE ZENTITYID IN"
      deleted += try store.number("\(rows) (\(removed.list))")
      renumbered += try store.number("\(rows) (\(moved.list))")
    }
    let links = try schemas.mirroredLinks.reduce((gone: 0, renamed: 0)) { sum, link in
      let rows = try store.reading {
        try store.connection.number(
          """
          SELECT count(*) FROM ANSCKMIRROREDRELATIONSHIP
          WHERE ZCDENTITYNAME = ? AND ZRELATIONSHIPNAME = ?
          """, [.text(link.entity), .text(link.relationship)])
      }
      return link.now == nil ? (sum.gone + rows, sum.renamed) : (sum.gone, sum.renamed + rows)
    }
    let parts = [
      (deleted, "row", "of removed entities", "deleted"),
      (renumbered, "row", nil, "renumbered"),
      (links.gone, "link", "of removed relationships", "deleted"),
      (links.renamed, "link", nil, "renamed"),
    ].filter { $0.0 > 0 }.map { count, noun, rest, verb in
      [NumberText.counted(count, noun), rest, count == 1 ? "is" : "are", verb].compactMap { $0 }
        .joined(separator: " ")
    }
    guard !parts.isEmpty else { return nil }
    return "In the mirroring’s own tables \(parts.joined(separator: ", "))."
  }
}
