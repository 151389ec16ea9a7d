import ManagedModel
import ManagedStore
import SQLite
import Salvage

/// What shows that objects were deleted: keys that were given out and are in no row, pages that are free and
/// hold rows, changes in history. Nothing is wrong with a store that has them.
struct DeletionCheck {
  let place: StorePlace
  let store: Store

  private static let mostNamed = 3

  func findings() throws -> [Finding] {
    // What cannot be read is not deleted, and what half of a save took away is not yet.
    guard store.damage?.concernsFile != true,
      !store.strays.contains(where: { $0.kind == .journal && store.isNeeded($0) })
    else { return [] }
    let keys = try unusedKeys()
    guard store.damage?.concernsFile != true else { return [] }
    let unused = keys.reduce(0) { $0 + $1.count }
    let (pages, changes) = (try freePages(), try deletions())
    var sentences: [String] = []
    if unused > 0 {
      let named = keys.prefix(Self.mostNamed).map { "\($0.entity) \($0.count)" }
        .joined(separator: ", ")
      sentences.append(
        "\(NumberText.counted(unused, "key that was given out is", plural: "keys that were given out are")) no longer in use (\(named)\(keys.count > Self.mostNamed ? " …" : "")): deleted, or never saved."
      )
    }
    if changes > 0 {
      sentences.append("History lists \(NumberText.counted(changes, "deletion")).")
    }
    if pages > 0 {
      sentences.append(
        "\(NumberText.counted(pages, "free page holds", plural: "free pages hold")) rows that were deleted or moved."
      )
    }
    guard !sentences.isEmpty else { return [] }
    return [
      Finding(
        .deletions, sentences.joined(separator: " "), entity: keys.first?.entity,
        count: unused > 0 ? unused : nil, in: place,
        remedy: store.modelSource == .raw ? .undeleteByModel : nil)
    ]
  }

  /// Of each hierarchy how many keys up to the last one are in no row, the most first.
  private func unusedKeys() throws -> [(entity: String, count: Int)] {
    guard store.database.contains("Z_PRIMARYKEY") else { return [] }
    let tables = Dictionary(
      store.entityTables.filter(\.isWholeTable).map { ($0.entity, $0.table) }
    ) { first, _ in first }
    return try store.entityNumbers().compactMap { number in
      guard number.parent == 0, let entity = number.entity, let table = tables[entity],
        store.database.contains(table)
      else { return nil }
      let last = max(number.maximum, number.greatestKey ?? 0)
      guard last > 0 else { return nil }
      let count = try store.reading {
        try store.connection.value("SELECT count(*) FROM \(quoted(table)) NOT INDEXED")?.integer
      }
      let unused = last - (count ?? last)
      return unused > 0 ? (entity, Int(unused)) : nil
    }.sorted { ($1.count, $0.entity) < ($0.count, $1.entity) }
  }

  /// How many pages are free and look like pages of a table's rows.
  private func freePages() throws -> Int {
    let count = try store.reading { try store.connection.value("PRAGMA freelist_count")?.integer }
    guard count ?? 0 > 0 else { return 0 }
    let image = try DatabaseImage(
      path: store.files.path, log: store.files.walPath, journal: store.files.journalPath)
    return try image.freePagesOfRows()
  }

  /// How many deletions history still has.
  private func deletions() throws -> Int {
    guard store.database.columns(of: "ACHANGE").contains("ZCHANGETYPE") else { return 0 }
    return try store.reading {
      Int(
        try store.connection.value("SELECT count(*) FROM ACHANGE WHERE ZCHANGETYPE = 2")?.integer
          ?? 0)
    }
  }
}
