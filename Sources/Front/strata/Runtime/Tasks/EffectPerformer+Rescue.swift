import AtomicStores
import Commands
import Dispatch
import Files
import Interface
import JSON
import ManagedModel
import ManagedStore
import Migration
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
    case .rescue(let id, .search(_, let model)): search(id, model)
    case .rescue(let id, .restore(let order)): restore(id, order)
    case .rescue(let id, .repair(let order)): repair(id, order)
    case .rescue(let id, .edit(let order)):
      rescue(id) { [self] in .rescued(.edited(try await edited(order, id))) }
    case .checkEdit(let id, let order):
      start(id) { [self] in .checkedEdit(try await checked(order, id)) }
    case .readRemains(let reads): running.withLock { $0.readsRemains = reads }
    case .sources(let id, let rows):
      start(id) { [remains] in .sources(try await remains.sources(of: rows)) }
    default: return false
    }
    return true
  }

  /// Why a store does not open, where it is one to which something happened.
  ///
  /// - Throws: `error` where it is something else altogether.
  func unopened(after error: CoreDataError) async throws -> Answer {
    if let condition = try? await condition(), condition.isOfStore {
      return .unopened(error, condition)
    }
    // A run that was killed between two renames leaves no file in the store's place.
    let left = StoreLeftovers(of: path)
    guard !left.isEmpty, left.isRecoverable, FileSystem.status(path) == nil else { throw error }
    let findings = Finding.interrupted(left.sentences, of: path)
    return .unopened(
      error, StoreCondition(findings: findings, isReadable: false, isComplete: false))
  }

  private func condition() async throws -> StoreCondition {
    let (path, model) = (path, try await givenModel())
    let named = model == nil ? nil : source.model
    return try await Self.onQueue("strata.doctor") {
      var diagnosis = try Diagnosis(of: path, model: model, modelName: named) { Task.isCancelled }
      diagnosis.takeAtomicStore(at: path, modelName: named)
      return StoreCondition(diagnosis)
    }
  }

  /// The model that `--model` named, where the store has none of its own: the version that made it, as
  /// far as that can be determined.
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
        // What is wrong was reported.
        return .held(nil)
      }
    }
  }

  private func salvage(_ id: TaskID, _ order: SalvageOrder) {
    let path = path
    rescue(id) { [self] in
      var options = StoreSalvage.Options()
      options.log =
        order.ignoresLog ? .none : order.isLogForeign ? .file(StoreFiles(path: path).walPath) : .own
      options.model = try await givenModel()
      options.unread = AtomicCopy.origin(ofCopyAt: path)?.losses
      if let named = order.model { try options.take(ModelReference(named)) }
      return .rescued(
        try await Self.onQueue("strata.salvage") { [options, clock = RescueClock(id, mailbox)] in
          let report = try StoreSalvage.run(
            path: path, output: order.output, options: options,
            isCancelled: { Task.isCancelled }, progress: { clock.tell("reading pages", $0) })
          return .salvaged(report, seconds: clock.seconds)
        })
    }
  }

  private func search(_ id: TaskID, _ named: String?) {
    rescue(id) { [self] in
      let clock = RescueClock(id, mailbox)
      var model = try await givenModel()
      if let named { model = try ModelReference(named).load().model }
      let (place, found) = try await remains.search(path, model: model) {
        clock.tell("reading pages", $0)
      }
      let source = StoreSource(path: path, model: nil, remains: place)
      let pages = StoreSession("remains", source: source)
      var summary = try await pages.open()
      summary.showAsRemains()
      running.withLock { $0.remains = (pages, StoreSession("remains.surveys", source: source)) }
      return .found(found(summary))
    }
  }

  private func restore(_ id: TaskID, _ order: RestoreOrder) {
    rescue(id) { [self] in
      let clock = RescueClock(id, mailbox)
      let report = try await remains.restore(order) { clock.tell("writing the new store", $0) }
      return .rescued(.restored(report, seconds: clock.seconds))
    }
  }

  private func repair(_ id: TaskID, _ order: RepairOrder) {
    let hold = ReaderHold([pages, surveys])
    following.stop()
    rescue(id) { [self] in
      var options = RepairOptions()
      (options.kinds, options.kept, options.isForced) = (order.kinds, order.kept, order.isForced)
      options.model = try await givenModel()
      options.modelName = options.model == nil ? nil : source.model
      return .rescued(
        .repaired(
          try await repairs.run(path, options, hold) { [mailbox] in
            mailbox.post(.answer(id, .rescuing(.parts($0))))
          }))
    }
  }

  /// Work that leaves nothing behind when it is stopped, and is waited for at the end.
  func rescue(_ id: TaskID, _ body: @escaping @Sendable () async throws -> Answer?) {
    running.withLock { _ = $0.rescues.insert(id) }
    start(id) { [self] in
      defer { running.withLock { _ = $0.rescues.remove(id) } }
      return try await body()
    }
  }
}

/// Reports how far a rescue is, with the time that it has taken.
private struct RescueClock: Sendable {
  private let start = ContinuousClock.now
  private let id: TaskID
  private let mailbox: Mailbox

  init(_ id: TaskID, _ mailbox: Mailbox) { (self.id, self.mailbox) = (id, mailbox) }

  var seconds: Double { (ContinuousClock.now - start) / .seconds(1) }

  func tell(_ what: String, _ fraction: Double) {
    mailbox.post(.answer(id, .rescuing(.single(what, fraction, elapsed: seconds))))
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
    for (entity, count) in store.cutRows { holdings[entity]?.damaged += count }
    for table in store.drift.missingTables where !table.isUnused {
      holdings[table.entity, default: EntityHolding(entity: table.entity, live: 0)]
        .lose(table.lastKey.map { Int(clamping: $0) })
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
    if let open = store.damage?.openKeys {
      for (root, entities) in Dictionary(grouping: holdings.keys, by: store.model.root(of:)) {
        var own = entities.compactMap { holdings[$0] }
        own.bound(root: root, to: open[root])
        for holding in own { holdings[holding.entity] = holding }
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

extension EffectPerformer {
  /// Writes a receipt as the command line writes it.
  func write(_ receipt: WrittenReceipt, to file: ReceiptFile) async throws {
    switch receipt {
    case .migration(let receipt): try file.write(JSONWriter.line { $0.receipt(receipt) })
    case .rescue(.salvaged(let report, _)): try file.write(JSONWriter.line { $0.salvage(report) })
    case .rescue(.restored(let report, _)):
      try file.write(JSONWriter.line { $0.restoration(report) })
    case .rescue(.repaired): try await repairs.write(to: file)
    case .rescue(.edited(let receipt)): try file.write(JSONWriter.line { $0.edit(receipt) })
    }
  }
}
