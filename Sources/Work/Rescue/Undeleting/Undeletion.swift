import Files
import ManagedModel
import ManagedStore
import Migration
import SQLite

/// Objects that were deleted from a store, and earlier states of objects, as far as anything is left of
/// them: a store of their own in a private folder, which goes away with this.
///
/// The store itself is read page by page, without SQLite, and is as it was afterwards.
package final class Undeletion {
  /// What was found of an entity.
  package struct Entity: Sendable, Equatable {
    /// Its name.
    package var name: String
    /// Objects that are not in the store any more.
    package var deleted = 0
    /// Deleted objects whose key follows from the rows around them.
    package var inferred = 0
    /// Deleted objects whose key nothing shows.
    package var keyless = 0
    /// Deleted objects of which some values are lost.
    package var partial = 0
    /// Deleted objects that were never saved: their save was not finished.
    package var unsaved = 0
    /// Deleted objects that may be earlier states of objects that live, or copies of them.
    package var unsure = 0
    /// Deleted objects of which two rows were found that differ, where nothing shows which was there last.
    package var ambiguous = 0
    /// Deleted objects that stood among rows of another time, such as of before a migration: their values may be
    /// those of then.
    package var former = 0
    /// Of how many of these the entity is not known, since entities had other entity IDs then.
    package var misnumbered = 0
    /// Objects that may be lost, and not deleted, in a state that was found elsewhere; they are not among the
    /// deleted ones.
    package var lost = 0
    /// Earlier states of objects.
    package var older = 0
  }

  /// The store that was looked through.
  package let path: String
  /// The -wal that was read with it; `nil` where none was.
  package let logPath: String?
  /// What was found, as a store.
  package let store: Store
  /// What was found of each entity, by name; those of which nothing was are left out.
  package let entities: [Entity]
  /// Whether deleted rows that were not found were probably wiped: freed blocks and free pages hold zeros, as SQLite
  /// leaves them with secure_delete; `nil` where none is missing, or where no such block was seen.
  package let isWiped: Bool?
  /// What a person should know, as sentences.
  package let notes: [String]
  /// The entities at the top of their hierarchies of which objects may be lost, and not deleted: they are on no page that
  /// can be read.
  package let lossy: [String]
  /// Keys of a table that were given out and are in no row.
  package struct Missed: Sendable, Equatable {
    /// The entity at the top of the table's hierarchy.
    package var entity: String
    /// How many keys there are.
    package var keys: Int
    /// Of how many of them an object was found.
    package var found: Int
    /// How many objects were found without their keys.
    package var keyless: Int

    /// Nothing was found of so many objects at most.
    package var most: Int { keys - found }
    /// Nothing was found of so many at least, if an app saved an object under each key.
    package var least: Int { max(0, most - keyless) }

    /// What a person should know of it.
    package var sentence: String {
      let unread =
        "\(entity): \(NumberText.grouped(keys)) \(keys == 1 ? "key was given out and is" : "keys were given out and are") in no row that can be read"
      let found = [
        found > 0
          ? "\(NumberText.grouped(found)) of them \(found == 1 ? "was" : "were") found" : nil,
        keyless > 0
          ? "\(NumberText.grouped(keyless)) \(keyless == 1 ? "object" : "objects") with \(keyless == 1 ? "an unknown key was" : "unknown keys were") found"
          : nil,
      ].compactMap(\.self).joined(separator: " and ")
      let (fewest, most) = (NumberText.grouped(least), NumberText.grouped(most))
      let range = fewest == most ? most : least > 0 ? "\(fewest) to \(most)" : "at most \(most)"
      // Without a row found, what cannot be recovered is just what was counted.
      return found.isEmpty
        ? unread + ", and nothing was found of \(keys == 1 ? "it" : "them")."
        : "\(unread). \(found): \(range) cannot be recovered."
    }
  }

  /// Of which tables keys are in no row that were not found either.
  package let missed: [Missed]
  /// Of which relationships links were removed that were not found either.
  package let missingLinks: [RemainsCopy.MissingLinks]
  /// Objects that the store no longer has and that a backup beside it does.
  package let kept: [KeptObjects]
  /// Why what was found may never have been in this store, as a clause; `nil` where nothing speaks against it.
  package let distrust: String?

  let model: Model
  let log: SalvageSource.LogChoice
  private let folder: PrivateFolder
  private let origins: Connection
  private let places: [String: Int]

  /// Looks through a store.
  ///
  /// - Parameters:
  ///   - model: what made the store, where the store itself no longer has it.
  ///   - log: which -wal is laid over the main file.
  ///   - progress: called with how much was looked at, from 0 to 1.
  /// - Throws: ``CoreDataError`` where nothing of it can be read, no model is known, or it was
  ///   cancelled.
  package init(
    of path: String, model given: Model? = nil, log: SalvageSource.LogChoice = .own,
    isCancelled: @escaping () -> Bool = { false }, progress: @escaping (Double) -> Void = { _ in }
  ) throws {
    self.path = path
    self.log = log
    let source = try SalvageSource(path: path, log: log)
    guard let model = try given ?? source.model() else {
      throw CoreDataError(
        .unreadable,
        "\(try source.reasonWithoutModel()), and without a model its rows cannot be recognised",
        path: path, advice: "Give the model that made the store with \(.model).")
    }
    self.model = model
    distrust = source.distrust
    logPath = source.logPath
    folder = try PrivateFolder()
    let place = folder.path + "/" + FileSystem.name(of: path)
    try FileSystem.createEmpty(place)
    do {
      let remains = try Connection.stoppingAll(when: isCancelled) {
        try RemainsCopy(
          of: source, at: place, model: model, isCancelled: isCancelled, progress: progress)
      }
      let counts = try remains.counts()
      entities = Self.entities(counts)
      let missed = Self.missed(remains, counts, model)
      isWiped = missed.contains { $0.least > 0 } ? remains.isWiped : nil
      self.missed = missed
      let kept = Connection.stoppingAll(when: isCancelled) {
        KeptObjects.all(of: path, remains, model: model)
      }
      let missingLinks = try Connection.stoppingAll(when: isCancelled) {
        try remains.missingLinks()
      }
      guard !isCancelled() else { throw ProgressMeter.cancelled.at(path: path) }
      (self.kept, self.missingLinks) = (kept, missingLinks)
      let lossy = remains.lossyTables.map { remains.schema.table(named: $0)?.root ?? $0 }.sorted()
      self.lossy = lossy
      let carved = counts.reduce(0) { $0 + ($1.state == .deleted ? $1.carved : 0) }
      notes =
        kept.map(\.sentence) + missed.map(\.sentence) + missingLinks.map(\.sentence)
        + (lossy.isEmpty
          ? []
          : [
            "Objects of \(lossy.joined(separator: ", ")) may be lost instead of deleted: not all of the store can be read. A salvage reports what is lost."
          ]) + source.notes + remains.notes
        + (carved > 0
          ? [
            "\(NumberText.grouped(carved)) of the deleted objects \(carved == 1 ? "was" : "were") found in unallocated space, each in the latest state that is left there: a later one may have been overwritten."
          ] : [])
        + (remains.isComparedInPart
          ? [
            "More rows without a key were found than could be compared with the store: some may be earlier states of objects that still exist."
          ] : [])
        + remains.lost.sorted { $0.key < $1.key }.map { table, keys in
          let name = remains.schema.table(named: table)?.root ?? table
          let first = keys.prefix(5).map { "p\($0)" }.joined(separator: ", ")
          return
            "History records \(NumberText.grouped(keys.count)) deleted \(name) of which nothing was found: \(first)\(keys.count > 5 ? " …" : "")."
        }
      places = Dictionary(remains.tables.enumerated().map { ($1, $0) }) { first, _ in first }
      remains.connection.close()
      // It is read when objects are back, too, which no request to stop undoes.
      origins = try Connection.finishing {
        try Connection(path: place + RemainsCopy.listSuffix, mode: .readOnly)
      }
    } catch let error as SQLiteError {
      throw CoreDataError(sqlite: error, path: path, kind: .failed)
    }
    store = try Store(
      path: place,
      files: StoreFiles(
        path: place, externalDataOf: StoreFiles(path: FileSystem.canonical(path))), model: model)
  }

  /// Compares what was found with the keys that are not in use any more.
  private static func missed(
    _ remains: RemainsCopy, _ counts: [RemainsCopy.Count], _ model: Model
  ) -> [Missed] {
    remains.unused.sorted { $0.key < $1.key }.compactMap { table, unused in
      guard let root = remains.schema.table(named: table)?.root else { return nil }
      let own = counts.filter { $0.state == .deleted && model.root(of: $0.entity) == root }
      let missed = Missed(
        entity: root, keys: unused, found: own.reduce(0) { $0 + $1.keys },
        keyless: own.reduce(0) { $0 + $1.keyless })
      return missed.most > 0 ? missed : nil
    }
  }

  private static func entities(_ counts: [RemainsCopy.Count]) -> [Entity] {
    counts.reduce(into: []) { result, count in
      if result.last?.name != count.entity { result.append(Entity(name: count.entity)) }
      let last = result.count - 1
      switch count.state {
      case .older: result[last].older = count.rows
      case .deleted:
        result[last].deleted = count.rows - count.lost
        result[last].lost = count.lost
        result[last].ambiguous = count.ambiguous
        result[last].inferred = count.inferred
        result[last].keyless = count.keyless
        result[last].partial = count.partial
        result[last].unsaved = count.unsaved
        result[last].unsure = count.unsure
        result[last].former = count.former
        result[last].misnumbered = count.misnumbered
      }
    }
  }

  /// Where a row of ``store`` comes from; `nil` for one that is not there.
  package func origin(of id: ObjectID) throws -> RowOrigin? {
    guard let table = store.entityTables.first(where: { $0.entity == id.entity })?.table,
      let place = places[table]
    else { return nil }
    do {
      let statement = try origins.cached(RowOrigin.query)
      try statement.bind([.integer(Int64(place)), .integer(id.key)])
      defer { statement.reset() }
      return try statement.step() ? RowOrigin(statement.row()) : nil
    } catch let error as SQLiteError {
      throw CoreDataError(sqlite: error, path: path)
    }
  }
}

extension RemainsCopy.MissingLinks {
  /// What is missing, and what of it was found, as a sentence.
  package var sentence: String {
    let isOne = removed == 1
    let ids = NumberText.counted(removed, "row ID")
    let rest = NumberText.grouped(removed - found)
    return
      "\(relationship): \(ids) of the join table \(isOne ? "is" : "are") in no row: \(isOne ? "this link was" : "these links were") deleted with an object, or removed by the app. "
      + (found == 0
        ? "None of them was found: at most \(rest) cannot be recovered."
        : "\(NumberText.grouped(found)) of them \(found == 1 ? "was" : "were") found: at most \(rest) cannot be recovered.")
  }
}
