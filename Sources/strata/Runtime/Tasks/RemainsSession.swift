import Dispatch
import Files
import Interface
import ManagedModel
import ManagedStore
import Rescue

/// The owner of what was found of deleted objects: a private store that goes away with it.
actor RemainsSession {
  private let executor = QueueExecutor("strata.undelete")
  private var undeletion: Undeletion?

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Looks through a store.
  ///
  /// - Returns: where the rows are, and all that was found, once the store that they are in is open.
  func search(
    _ path: String, model: Model?, progress: @escaping (Double) -> Void
  ) throws -> (StoreSource.Remains, @Sendable (StoreSummary) -> Remains) {
    undeletion = nil
    let found = try Undeletion(
      of: path, model: model, isCancelled: { Task.isCancelled }, progress: progress)
    undeletion = found
    let entities = found.entities.map {
      Remains.Entity(
        name: $0.name, deleted: $0.deleted, older: $0.older, partial: $0.partial,
        unsaved: $0.unsaved, lost: $0.lost)
    }
    let (isWiped, notes) = (found.isWiped, found.notes)
    return (
      StoreSource.Remains(path: found.store.files.path, model: found.store.model),
      { Remains(entities: entities, isWiped: isWiped, notes: notes, store: $0) }
    )
  }

  /// Where rows come from.
  func sources(of rows: [ObjectID]) throws -> [ObjectID: RecoveredRowSource] {
    try Task.checkCancellation()
    guard let undeletion else { return [:] }
    var sources: [ObjectID: RecoveredRowSource] = [:]
    for row in rows {
      sources[row] = try undeletion.origin(of: row).map { RecoveredRowSource($0, of: row) }
    }
    return sources
  }

  /// Writes a store in which some of them are back.
  func restore(
    _ order: RestoreOrder, progress: @escaping (Double) -> Void
  ) throws -> Restoration.Report {
    guard let undeletion else {
      throw CoreDataError(.failed, "what was found is gone; search for it again")
    }
    let choice: Restoration.Choice =
      switch order.choice {
      case .all(let entity): .all(entity: entity)
      case .only(let object): .only([object])
      case .matching(let filter): .matching(filter)
      }
    return try Restoration(undeletion).run(
      choice, output: order.output, isCancelled: { Task.isCancelled }, progress: progress)
  }

  /// Lets go of what was found.
  func close() { undeletion = nil }
}

extension RecoveredRowSource {
  fileprivate init(_ origin: RowOrigin, of row: ObjectID) {
    var words: [String] = []
    switch (origin.certainty, origin.key) {
    case (.certain, let key?):
      // Its own key was not free where it is shown.
      if key != row.key { words.append("key p\(key)") }
    case (_, let key?):
      words.append((key == row.key ? "key " : "key p\(key) ") + origin.certainty.rawValue)
    case (_, nil): words.append("key unknown")
    }
    words.append(origin.place)
    if origin.isLost { words.append("may be lost, not deleted") }
    if !origin.isWhole { words.append("in part") }
    if !origin.source.isSaved { words.append("never saved") }
    self.init(isDeleted: origin.isOfDeleted, text: words.joined(separator: ", "))
  }
}
