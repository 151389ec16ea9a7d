import Dispatch
import Files
import Interface
import JSON
import ManagedModel
import ManagedStore
import ModelSearch
import Rescue
import Synchronization

/// What screen 5 asks for.
extension EffectPerformer {
  /// - Returns: whether it was one of its effects.
  func performRescue(_ effect: Effect) -> Bool {
    switch effect {
    case .diagnose(let id): diagnose(id)
    case .rescue(let id, .salvage(let order)): salvage(id, order)
    case .rescue, .readRemains, .sources: break
    default: return false
    }
    return true
  }

  /// Why a store does not open, where it is one to which something happened.
  ///
  /// - Throws: `error` where it is something else altogether.
  func unopened(after error: CoreDataError) async throws -> Answer {
    guard let condition = try? await condition(), condition.isOfStore else { throw error }
    return .unopened(error, condition)
  }

  private func condition() async throws -> StoreCondition {
    let (path, model) = (path, try await givenModel())
    let named = model == nil ? nil : source.model
    return try await Self.onQueue("strata.doctor") {
      StoreCondition(
        try Diagnosis(of: path, model: model, modelName: named) { Task.isCancelled })
    }
  }

  /// The model that `--model` named, where the store has none of its own: the version that made it, as
  /// far as that can be told.
  private func givenModel() async throws -> Model? {
    guard let named = source.model else { return nil }
    if let read = try? await pages.ask({ ($0.modelSource, $0.model) }) {
      return read.0 == .file ? read.1 : nil
    }
    return try ModelReference(named).load().model
  }

  private func diagnose(_ id: TaskID) {
    start(id) { [self] in
      mailbox.post(.answer(id, .diagnosed(try await condition())))
      do {
        return .held(try await survey.holdings())
      } catch let error as CoreDataError where error.kind != .cancelled {
        // What is wrong was told.
        return .held(nil)
      }
    }
  }

  private func salvage(_ id: TaskID, _ order: SalvageOrder) {
    let path = path
    running.withLock { _ = $0.rescues.insert(id) }
    start(id) { [self] in
      defer { running.withLock { _ = $0.rescues.remove(id) } }
      var options = StoreSalvage.Options()
      options.model = try await givenModel()
      if let named = order.model { options.model = try ModelReference(named).load().model }
      return .rescued(
        try await Self.onQueue("strata.salvage") { [options] in
          let start = ContinuousClock.now
          let report = try StoreSalvage.run(
            path: path, output: order.output, options: options,
            isCancelled: { Task.isCancelled },
            progress: { [mailbox] fraction in
              let elapsed = (ContinuousClock.now - start) / .seconds(1)
              mailbox.post(
                .answer(id, .rescuing(.single("reading pages", fraction, elapsed: elapsed))))
            })
          return .salvaged(report, seconds: (ContinuousClock.now - start) / .seconds(1))
        })
    }
  }
}

extension StoreSession {
  /// What can be had of each entity, the file being looked at whole first where it is not large.
  func holdings() throws -> [EntityHolding] {
    try Task.checkCancellation()
    let store = try opened()
    try store.inspect(upTo: Store.readingCheckSize)
    let counts = try store.counts()
    var holdings: [String: EntityHolding] = [:]
    for (entity, count) in counts {
      // What has none and can have none says nothing.
      if count == 0, store.model.entity(named: entity)?.isAbstract == true { continue }
      holdings[entity] = EntityHolding(entity: entity, live: count)
    }
    for hole in store.damage?.holes ?? [] {
      let tables = store.entityTables.filter { $0.table == hole.table }
      guard let root = (tables.first(where: \.isWholeTable) ?? tables.first)?.entity else {
        continue
      }
      func lose(_ count: Int?, of entity: String) {
        holdings[entity, default: EntityHolding(entity: entity, live: counts[entity] ?? 0)]
          .lose(count)
      }
      guard let known = hole.counts else {
        lose(hole.width, of: root)
        continue
      }
      for (number, count) in known {
        lose(count, of: number.flatMap { store.entityNames[$0] } ?? root)
      }
    }
    return Array(holdings.values)
  }
}

extension FileDamage.Hole {
  /// How many keys lie in it; `nil` where its end is not known.
  fileprivate var width: Int? {
    guard let last, last >= first else { return nil }
    let (width, isPast) = last.subtractingReportingOverflow(first)
    return isPast || width >= .max ? nil : Int(width) + 1
  }
}

extension WrittenReceipt {
  /// As the command line writes it.
  var json: [UInt8] {
    switch self {
    case .migration(let receipt): JSONWriter.line { $0.receipt(receipt) }
    case .rescue(.salvaged(let report, _)): JSONWriter.line { $0.salvage(report) }
    }
  }
}
