import ManagedModel
import ManagedStore
import Migration
import SQLite

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
    let places: [(kind: FindingKind, table: String)] = [
      (.metadata, "Z_METADATA"), (.modelCache, "Z_MODELCACHE"), (.primaryKey, "Z_PRIMARYKEY"),
    ]
    for (kind, table) in places where kinds.contains(kind) {
      try note(kind, bookkeeping.completeTables([table]))
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
    // Without a model nothing shows what belongs there; which key is the greatest, the tables show.
    let isRaw = work.source.modelSource == .raw
    if kinds.contains(.entityNumbers), !isRaw {
      let made = try bookkeeping.completeNumbers(schema)
      try note(.entityNumbers, made)
      try note(.entityNumbers, bookkeeping.correctNumbers(schema))
      try note(
        .entityNumbers, bookkeeping.raiseMaxima(schema, of: Set(made.compactMap(\.entity))))
    }
    if kinds.contains(.primaryKey) {
      // There, all of them are missing.
      if !kinds.contains(.entityNumbers), !isRaw, try hasNoNumbers() {
        try note(.primaryKey, bookkeeping.completeNumbers(schema))
      }
      try note(.primaryKey, bookkeeping.raiseMaxima(schema))
    }
  }

  private func hasNoNumbers() throws -> Bool {
    try work.connection.value(
      "SELECT 1 FROM main.Z_PRIMARYKEY WHERE Z_ENT < \(EntityNumbering.firstReserved) LIMIT 1")
      == nil
  }

  /// Whether a model is the one that the metadata names.
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
  fileprivate var entity: String? {
    if case .number(let entity) = place { entity } else { nil }
  }

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
