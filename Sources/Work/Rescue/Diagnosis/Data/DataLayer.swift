import Files
import ManagedModel
import ManagedStore
import Migration
import SQLite
import Synchronization

/// What is wrong with the objects themselves: every rule of the model against every row, in one pass
/// over the rows of each entity.
struct DataLayer {
  let place: StorePlace
  let store: Store

  /// Each by itself, so that one which fails leaves the others.
  var checks: [() throws -> [Finding]] {
    // Without a model, nothing shows what columns mean.
    guard store.modelSource != .raw else { return [] }
    let rules = RowRules(place: place, store: store)
    let tables = store.entityTables.filter { store.database.contains($0.table) }
    return tables.map { table in { try rules.findings(of: table) } } + [
      PredicateCheck(place: place, store: store).findings,
      EntityCheck(place: place, store: store).findings,
      LinkChecks(place: place, store: store).findings,
      OrderCheck(place: place, store: store).findings,
      UniquenessCheck(place: place, store: store).findings,
      ExternalCheck(place: place, store: store).findings,
    ]
  }
}

/// Checks of a large store's objects, shared by two threads: one of its own looks at the store through
/// another handle, and the thread that asks for the findings helps with those that are left.
///
/// A check that could not be made has no findings here: the caller then makes it itself.
final class ChecksAhead: Sendable {
  private let tasks: SharedTasks
  private let found = Mutex<[Int: [Finding]]>([:])

  /// Smaller stores are looked at before another handle is open.
  private static let leastBytes = 16 << 20
  /// Kilobytes that each of the two handles keeps of the file, and sorts in.
  private static let cacheOfOne = 4_000

  /// Begins with the checks of a store that nobody writes to, and that is whole.
  ///
  /// - Returns: `nil` for any other, and for a small one.
  init?(of store: Store, _ place: StorePlace, count: Int) {
    guard store.connection.isImmutable, store.damage == nil, store.modelSource != .raw,
      FileSystem.status(store.files.path)?.size ?? 0 > Self.leastBytes
    else { return nil }
    tasks = SharedTasks(count: count)
    let (path, files, entities) = (store.path, store.files, store.entityTables.map(\.entity))
    let model = store.modelSource == .store ? nil : store.wholeModel
    tasks.begin { [self] in
      guard let twin = try? Store(path: path, files: files, model: model, isLenient: true),
        twin.connection.isImmutable, twin.entityTables.map(\.entity) == entities
      else { return }
      twin.trustAsInspected()
      Store.setCache(of: twin.connection, kilobytes: Self.cacheOfOne)
      twin.connection.onProgress { self.tasks.isStopped }
      work(on: twin, place)
    }
  }

  /// Helps until nothing is left; the findings of each check that was carried out.
  func findings(helpedBy store: Store, _ place: StorePlace) -> [Int: [Finding]] {
    Store.setCache(of: store.connection, kilobytes: Self.cacheOfOne)
    defer { Store.setCache(of: store.connection, kilobytes: Store.cacheSize) }
    work(on: store, place)
    tasks.wait { if store.connection.shouldStop { tasks.stop() } }
    return found.withLock(\.self)
  }

  private func work(on store: Store, _ place: StorePlace) {
    let checks = DataLayer(place: place, store: store).checks
    guard checks.count == tasks.count else { return }
    while let next = tasks.take() {
      guard let findings = try? store.translating(checks[next]) else {
        if store.connection.shouldStop { return }
        continue
      }
      // What was read of a damaged file is not what the other reads.
      guard store.damage == nil else { return }
      found.withLock { $0[next] = findings }
    }
  }
}

/// Rows of which history says that they are of another entity: Core Data never changes an object's.
struct EntityCheck {
  let place: StorePlace
  let store: Store

  func findings() throws -> [Finding] {
    guard
      Set(["ZENTITY", "ZENTITYPK"]).isSubset(of: store.database.columns(of: "ACHANGE"))
    else { return [] }
    return try store.entityTables.compactMap { table in
      guard table.isWholeTable, table.numbers.count > 1, store.database.contains(table.table)
      else { return nil }
      let numbers = table.numbers.list
      let rows = """
        FROM ACHANGE c CROSS JOIN \(quoted(table.table)) t ON t.Z_PK = c.ZENTITYPK
        WHERE c.ZENTITY IN (\(numbers)) AND t.Z_ENT IN (\(numbers)) AND c.ZENTITY <> t.Z_ENT
        """
      let (count, first) = try store.counted(
        "SELECT count(DISTINCT t.Z_PK) \(rows)",
        "SELECT DISTINCT t.Z_PK, t.Z_ENT \(rows) ORDER BY 1 LIMIT 5")
      guard count > 0 else { return nil }
      let objects = first.compactMap { store.id($0, else: table.entity) }
      return Finding(
        .entityWrong,
        "\(count) objects of \(table.table) are of another entity than history says.",
        entity: table.entity, count: Int(count),
        first: objects.map(\.description), in: place,
        remedy: .objects(objects, of: table.entity))
    }
  }
}

/// Files of external data that are missing, that nobody names, or that are empty.
struct ExternalCheck {
  let place: StorePlace
  let store: Store

  func findings() throws -> [Finding] {
    let (files, report) = try store.externalFiles(limit: .max)
    var found: [Finding] = []
    func add(_ kind: FindingKind, _ files: [ExternalFile], _ sentence: String) {
      guard !files.isEmpty else { return }
      found.append(
        Finding(
          kind, sentence, entity: files.first?.object?.entity, property: files.first?.property,
          count: files.count,
          first: files.prefix(5).map { $0.object?.description ?? $0.name }, in: place))
    }
    let missing = files.filter { $0.state == .missing }
    let named = files.filter { $0.state != .orphaned }
    let folder = FileSystem.name(of: store.files.supportFolder)
    add(
      .externalMissing, missing,
      "\(missing.count) of \(named.count) files of external data are missing from the hidden folder \(folder)."
    )
    let unreadable = files.filter { $0.state == .unreadable }
    add(
      .externalUnreadable, unreadable,
      "\(unreadable.count) of \(named.count) files of external data are in the hidden folder \(folder) and cannot be read: \(report.unreadable.first?.reason ?? "")."
    )
    // That there is no model is a finding of its own.
    if let reason = report.unlisted, store.modelSource != .raw {
      found.append(
        Finding(
          .unchecked,
          "The folder of external data cannot be listed (\(reason)): whether it has unreferenced files is unknown.",
          in: place))
    }
    let empty = files.filter { $0.state == .referenced && $0.bytes == 0 }
    add(
      .externalSize, empty,
      "\(NumberText.counted(empty.count, "file of external data has", plural: "files of external data have")) 0 bytes."
    )
    var orphaned = files.filter { $0.state == .orphaned }
    if !orphaned.isEmpty {
      // A backup's files are in the same folder, and stay there.
      let sharing = SupportSharing(of: store.files.path)
      orphaned.removeAll { sharing.isNamed($0.name) }
    }
    add(
      .externalOrphaned, orphaned,
      "\(NumberText.counted(orphaned.count, "file of external data is", plural: "files of external data are")) unreferenced."
    )
    return found
  }
}

extension Store {
  /// How many there are, and the first few of them, which are looked for only where there are any.
  func counted(_ count: String, _ first: String) throws -> (count: Int64, first: [[Value]]) {
    try reading {
      let number = try connection.value(count)?.integer ?? 0
      return (number, number > 0 ? try connection.rows(first) : [])
    }
  }
}

/// Objects that are equal in what a uniqueness constraint says must differ.
struct UniquenessCheck {
  let place: StorePlace
  let store: Store

  func findings() throws -> [Finding] {
    try store.model.entities.flatMap { entity in
      try entity.uniquenessConstraints.compactMap { try finding($0, of: entity.name) }
    }
  }

  private func finding(_ constraint: [String], of entity: String) throws -> Finding? {
    let columns = constraint.compactMap { store.schema.column(of: $0, in: entity) }
    guard columns.count == constraint.count, !columns.isEmpty,
      let table = store.table(of: entity),
      Set(columns).isSubset(of: store.database.columns(of: table.table))
    else { return nil }
    let keys = columns.map { quoted($0) }
    let found = try store.reading {
      // By the table, not by the index that should have kept them apart.
      try Duplicates(
        of: """
          SELECT Z_PK, \(keys.map { "+\($0) AS \($0)" }.joined(separator: ", "))
          FROM \(quoted(table.table)) NOT INDEXED WHERE Z_ENT IN (\(table.numbers.list))
          """, by: keys, entity: entity, on: store.connection)
    }
    guard let found else { return nil }
    let names = constraint.joined(separator: ", ")
    return Finding(
      .uniqueness,
      "\(found.rows.count) objects of \(entity) have equal values of \(names), in \(NumberText.counted(found.groups, "group")).",
      entity: entity, property: names, count: found.rows.count,
      first: found.rows.first.map(\.description), in: place)
  }
}
