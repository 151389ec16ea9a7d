import Comparison
import Files
import ManagedStore

/// Follows what other programs save in a store.
///
///     let watch = try StoreWatch(path: "Recipes.sqlite")
///     while true {
///       watch.wait(milliseconds: 100)
///       for save in try watch.look() { print(save.counts, save.changes) }
///       for notice in watch.notices { print(notice.sentence) }
///     }
///
/// Nothing is written to the store or its folder, and no lock is held. A private copy keeps what the store held at
/// the last look. One caller at a time.
public final class StoreWatch {
  /// The path as it was given.
  public let path: String
  /// What else the last ``look()`` noticed, in order; what lasts is noticed once.
  public private(set) var notices: [WatchNotice] = []

  private let request: WatchRequest
  private let model: Model?
  private let fallback: (StoreMetadata) -> Model?
  private let isCancelled: () -> Bool
  private let files: WatchedFiles
  private var baseline: Baseline
  private var presence: WatchedFiles.Presence
  /// What the files were when they were last read.
  private var state: StoreState
  private var failure: CoreDataError?

  /// Begins with the store as it is now.
  ///
  /// - Parameters:
  ///   - path: the store; a link is followed once, now.
  ///   - model: reads the store with this model instead of the one in it.
  ///   - fallback: finds a model for a store without one, as for ``Store``.
  ///   - isCancelled: asked now and then in long work.
  /// - Throws: ``CoreDataError`` where the store cannot be read or copied, and of kind usage for an entity or a
  ///   predicate that does not fit the store.
  public init(
    path: String, request: WatchRequest = WatchRequest(), model: Model? = nil,
    fallback: @escaping (StoreMetadata) -> Model? = { _ in nil },
    isCancelled: @escaping () -> Bool = { false }
  ) throws {
    (self.path, self.request, self.model) = (path, request, model)
    (self.fallback, self.isCancelled) = (fallback, isCancelled)
    files = WatchedFiles(StoreFiles(path: FileSystem.canonical(path)))
    presence = files.presence
    do {
      baseline = try Baseline(of: files, model: model, fallback: fallback)
    } catch let error as CoreDataError {
      throw error.at(path: path, insteadOf: files.names.path)
    }
    state = baseline.state
    try Self.check(request, baseline.store)
  }

  private static func check(_ request: WatchRequest, _ store: Store) throws {
    for entity in request.entities { _ = try store.columns(of: entity) }
    guard let predicate = request.predicate else { return }
    for entity in request.entities { _ = try RowFilter(predicate, entity: entity, store: store) }
  }

  /// The store as it was at the last look: a private copy, which may be read until the next one.
  package var store: Store { baseline.store }

  // MARK: Looking

  /// What was saved since the last look, oldest first; empty where nothing was.
  ///
  /// A store that cannot be read now, or is gone, is no error: ``notices`` says so once, and later looks find it
  /// when it is back.
  ///
  /// - Throws: ``CoreDataError`` where the private copy cannot be written or read, or when cancelled.
  public func look() throws -> [ObservedSave] {
    notices = []
    guard isPresent() else { return [] }
    do {
      try files.refresh()
      let now = try StoreState(files)
      guard now != state else { return [] }
      let save = try compareAll()
      state = baseline.state
      failure = nil
      return save.count > 0 ? [save] : []
    } catch let error as CoreDataError where error.kind != .cancelled && error.kind != .usage {
      if failure != error { notices.append(.unreadable(error)) }
      failure = error
      return []
    }
  }

  /// Whether a store has the name, with what is to be said of it.
  private func isPresent() -> Bool {
    let now = files.presence
    defer { presence = now }
    switch (presence, now) {
    case (.missing, .missing), (.link, .link): return false
    case (_, .missing):
      notices.append(.gone)
      return false
    case (_, .link):
      notices.append(.link)
      return false
    case (.missing, .file), (.link, .file):
      notices.append(.back)
    case (.file(let former), .file(let owner)):
      if former != owner { notices.append(.owner(from: former, to: owner)) }
    }
    return true
  }

  /// Compares all objects with the store as it is now, which becomes the baseline.
  private func compareAll() throws -> ObservedSave {
    let present = try Baseline(of: files, model: model, fallback: fallback)
    var comparing = ComparisonRequest()
    comparing.entities = request.entities
    comparing.predicate = request.predicate
    comparing.limit = request.limit
    comparing.ignoresBookkeeping = true
    let comparison = try StoreComparison(
      baseline.store, present.store, comparing, isCancelled: isCancelled)
    var save = ObservedSave(time: CoreDataDate.now, saves: nil)
    save.isWhole = true
    let summary = try comparison.run { change in
      if save.changes.count < request.limit { save.changes.append(change) }
    }
    save.counts = summary.entities.filter { $0.count > 0 }
    baseline = present
    return save
  }

  // MARK: Waiting

  /// Waits until something may have been saved, at most that long.
  public func wait(milliseconds: Int) {
    usleep(UInt32(clamping: max(0, milliseconds) * 1000))
  }
}
