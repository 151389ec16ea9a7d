import Files
import Interface
import ManagedModel

/// How the store is seen, kept at the end and now and then, and shown again the next time.
struct SessionKeeping {
  /// How often what has changed is kept.
  private static let interval = Duration.seconds(30)

  /// `nil` where nothing is to be kept.
  private let folder: SessionFolder?
  private let isFresh: Bool
  /// Where the store is for whoever opened it, where that is not where it is read.
  private let place: String?
  /// What was kept last, and when.
  private var kept: SavedSession?
  private var keptAt = ContinuousClock.now
  /// Whether a key was pressed since.
  var hasActed = false

  /// - Parameters:
  ///   - isFresh: whether to begin as if the store had not been looked at before.
  ///   - place: what a private copy is a copy of.
  init(_ folder: SessionFolder?, isFresh: Bool, place: String? = nil) {
    self.place = place
    self.folder = folder
    self.isFresh = isFresh
  }

  /// How the store was left.
  func session(of store: StoreSummary) -> SavedSession? {
    isFresh ? nil : folder?.session(uuid: store.uuid, path: place ?? store.path)
  }

  /// Milliseconds until what changed is to be kept; -1 where nothing did.
  var untilKept: Int {
    guard folder != nil, hasActed else { return -1 }
    let left = Self.interval - (ContinuousClock.now - keptAt)
    return max(0, Int(left.components.seconds) * 1000 + 10)
  }

  mutating func keep(_ state: State, isLast: Bool) {
    guard let folder, let store = state.ownStore,
      isLast || hasActed && ContinuousClock.now - keptAt >= Self.interval
    else { return }
    hasActed = false
    keptAt = .now
    let session = state.saved
    guard session != kept else { return }
    kept = session
    let record = SessionFolder.Record(
      path: place ?? store.path, uuid: store.uuid, model: state.modelName ?? "",
      opened: CoreDataDate.now,
      session: session)
    if isLast {
      folder.keep(record)
    } else {
      Task { await SessionFolder.keep(record, in: folder) }
    }
  }
}
