import Commands
import Comparison
import ExportText
import Files
import Interface
import ManagedModel
import ManagedStore
import Merging

/// What other programs saved, and what is different in another file.
extension EffectPerformer {
  /// Objects of each entity that are listed with their values.
  private static let most = 1_000

  /// Opens the store again for what another program saved.
  ///
  /// A store that takes long to open, such as a large one that is copied for it, is opened less often.
  func refresh(_ id: TaskID) {
    start(id) { [self] in
      if let (end, took) = running.withLock({ $0.refreshed }) {
        try await Task.sleep(until: end + took * 2)
      }
      let start = ContinuousClock.now
      // Counts go on with the handle that they have.
      Task { await surveys.close() }
      let summary = try await openBetweenWrites(attempts: 400)
      let end = ContinuousClock.now
      running.withLock {
        $0.isSnapshot = summary.access == .snapshot
        $0.refreshed = (end, end - start)
      }
      return .opened(summary)
    }
  }

  /// Opens the store when no program is writing pages; a commit waits for the disk, which may take long.
  func openBetweenWrites(attempts: Int) async throws -> StoreSummary {
    for _ in 1..<attempts {
      do {
        return try await pages.open()
      } catch let error as CoreDataError where error.kind == .failed {
        // A program is writing pages at this moment.
        try await Task.sleep(for: .milliseconds(25))
      }
    }
    return try await pages.open()
  }

  /// Compares another file, as it was before, with the store.
  func compare(_ id: TaskID, with path: String) {
    start(id) { [source, mailbox] in
      try await Self.onQueue("strata.comparison") {
        let a = try StoreSource(path: path, model: source.model).openAnyhow()
        let b = try StoreSource(path: source.path, model: source.model).openAnyhow()
        var request = ComparisonRequest()
        request.limit = Self.most
        let comparison = try StoreComparison(a, b, request, isCancelled: { Task.isCancelled })
        var changes: [ObjectChange] = []
        let summary = try SecondsCount.run(
          "comparing", post: { mailbox.post(.answer(id, .doing($0))) }
        ) { _ in try comparison.run { changes.append($0) } }
        return Answer.differs(
          StoreDifferences(
            path: path, counts: summary.entities, changes: changes,
            notes: comparison.notes + summary.notes))
      }
    }
  }

  /// Makes one store of the open one and another, or finds out what that would be.
  func merge(_ id: TaskID, _ order: MergeOrder) {
    rescue(id) { [source, mailbox] in
      try await Self.onQueue("strata.merge") {
        func store(_ path: String) throws -> Store {
          try StoreSource(path: path, model: source.model).open()
        }
        let (own, other) = (try store(source.path), try store(order.other))
        let (old, new) = order.isOtherNewer ? (own, other) : (other, own)
        var options = MergeOptions()
        options.matches = try MergeOrder.words(order.matches).map(CompareCommand.match)
        options.preferences = try MergeOrder.words(order.preferences).map(MergeCommand.preference)
        options.entities = order.entityNames
        options.keepsDeleted = order.keepsDeleted
        let base = try order.base.isEmpty ? nil : store(order.base)
        let report = try SecondsCount.run(
          "reading both stores", post: { mailbox.post(.answer(id, .doing($0))) }
        ) { next in
          try StoreMerge.run(
            old, new, base: base, options: options,
            to: order.output.isEmpty ? nil : order.output, isCancelled: { Task.isCancelled },
            progress: next)
        }
        return Answer.merged(report)
      }
    }
  }

  /// Writes changes down.
  func write(_ id: TaskID, _ file: ChangesFile) {
    start(id) { [path] in
      try ExportPlace.check(file.path, besides: [path])
      guard file.replaces || FileSystem.status(file.path) == nil else {
        throw CoreDataError(
          .refused, "The file exists: Enter again replaces it.", path: file.path)
      }
      let pending = try PendingFile(for: file.path)
      var bytes: [UInt8] = []
      let console = Console(out: { bytes += $0 }, err: { _ in })
      var writer = ChangeWriter(
        RowFormat(rawValue: file.format.rawValue) ?? .csv, console, isWhole: true)
      try writer.write(file.changes)
      try pending.append(bytes)
      try pending.finish(replacing: file.replaces)
      return .written(path: file.path)
    }
  }
}

extension StoreComparison {
  /// What a person should know of how objects and models were paired, as sentences.
  fileprivate var notes: [String] {
    pairings.filter(\.isGrownApart).map {
      "! \($0.entity) may have grown apart: \(NumberText.counted($0.splitKeys, "key")) of different objects"
    } + model.renamed.map { "renamed: \($0.from) → \($0.to)" }
      + model.added.map { "only in the store: \($0)" }
      + model.removed.map { "only in the other file: \($0)" } + model.notes
  }
}

extension ComparisonSummary {
  /// What differs beside the objects, as sentences.
  fileprivate var notes: [String] {
    bookkeeping.map { "\($0.part): \($0.message)" + ($0.count > 0 ? " (\($0.count))" : "") }
      + (unreadableValues > 0
        ? ["! \(NumberText.counted(unreadableValues, "value")) could not be read"] : [])
  }
}
