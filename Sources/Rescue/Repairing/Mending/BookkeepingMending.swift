import ManagedModel
import ManagedStore
import Migration

/// Metadata, model cache, entity numbers and counters: the machine is the one that completes what was
/// salvaged.
struct BookkeepingMending {
  let work: RepairWork

  func run() throws {
    let bookkeeping = SalvagedBookkeeping(work.connection)
    let kinds = work.kinds
    func note(_ kind: FindingKind, _ changes: [SalvagedBookkeeping.Change]) throws {
      for change in changes { try work.note(change.noted(kind)) }
    }
    let asked: Set<FindingKind> = [.metadata, .modelCache, .primaryKey, .entityNumbers]
    guard !kinds.isDisjoint(with: asked) else { return }
    for change in try bookkeeping.completeTables() {
      guard case .table(let name) = change.place else { continue }
      let kind: FindingKind =
        name == "Z_METADATA" ? .metadata : name == "Z_MODELCACHE" ? .modelCache : .primaryKey
      try note(kind, [change])
    }
    if let model = work.model {
      if kinds.contains(.modelCache) {
        try note(
          .modelCache, bookkeeping.completeModelCache(with: model, replacesOther: isRight(model)))
      }
      if kinds.contains(.metadata) {
        try note(.metadata, bookkeeping.completeMetadata(with: model))
      }
    }
    let schema = work.source.schema
    // Without a model nobody tells what belongs there; which key is the greatest, the tables tell.
    let isRaw = work.source.modelSource == .raw
    if kinds.contains(.entityNumbers) || kinds.contains(.primaryKey), !isRaw {
      let kind: FindingKind = kinds.contains(.entityNumbers) ? .entityNumbers : .primaryKey
      try note(kind, bookkeeping.completeNumbers(schema))
    }
    if kinds.contains(.entityNumbers), !isRaw {
      try note(.entityNumbers, bookkeeping.correctNumbers(schema))
    }
    if kinds.contains(.primaryKey) || kinds.contains(.entityNumbers) {
      try note(.primaryKey, bookkeeping.raiseMaxima(schema))
    }
  }

  /// Whether a model is the one that the metadata tells of.
  private func isRight(_ model: Model) -> Bool {
    work.source.flaws.metadata == nil
      && model.versionHashes == work.source.metadata.versionHashes
  }
}

extension RepairWork {
  /// The model that made the store; `nil` where nobody knows it.
  var model: Model? { source.modelSource == .raw ? options.model : source.wholeModel }
}

extension SalvagedBookkeeping.Change {
  fileprivate func noted(_ kind: FindingKind) -> RepairChange {
    let (entity, property): (String?, String?) =
      switch place {
      case .table(let name): (name, nil)
      case .modelCache: ("Z_MODELCACHE", "Z_CONTENT")
      case .metadata(let keepsUUID): ("Z_METADATA", keepsUUID ? "Z_PLIST" : "Z_UUID")
      case .number(let entity): (entity, "Z_ENT")
      case .parent(let entity): (entity, "Z_SUPER")
      case .maximum(let entity): (entity, "Z_MAX")
      }
    return RepairChange(
      kind: kind.rawValue, entity: entity, property: property, old: old, new: new)
  }
}
