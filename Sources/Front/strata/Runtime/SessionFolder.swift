import Commands
import Containers
import Files
import Interface
import JSON
import ManagedModel

/// Where it is kept how each store was left: a file per store in the state folder, never beside
/// the store. They are also the list of the stores that were looked at lately.
struct SessionFolder: Sendable {
  private static let limit = 200
  private static let fileLimit = 1 << 20

  struct Record: Codable, Sendable, Equatable {
    var path: String
    var uuid: String
    var model: String
    /// Seconds since 2001-01-01 UTC.
    var opened: Double
    var session: SavedSession
  }

  private let folder: String

  /// - Parameter state: strata's state folder.
  init(state: String) {
    folder = state + "/sessions"
  }

  /// The store's identity, and where it is: a copy of a store is looked at for another reason.
  private func file(uuid: String, path: String) -> String {
    let digest = ByteText.hex(
      Digest.sha256(Array((uuid + "\n" + FileSystem.canonical(path)).utf8)).prefix(12))
    return folder + "/\(digest).json"
  }

  /// How a store was left; `nil` where nothing is known, or nothing that can be read.
  func session(uuid: String, path: String) -> SavedSession? {
    record(file(uuid: uuid, path: path)).flatMap { $0.uuid == uuid ? $0.session : nil }
  }

  private func record(_ file: String) -> Record? {
    guard FileSystem.isFile(file), let bytes = try? FileSystem.read(file, limit: Self.fileLimit)
    else { return nil }
    return try? JSONDecoding.value(Record.self, from: bytes)
  }

  /// Keeps it; where the folder cannot be written, nothing is kept, and nobody is troubled.
  func keep(_ record: Record) {
    var record = record
    record.path = FileSystem.canonical(record.path)
    guard let bytes = try? JSONEncoding.bytes(of: record) else { return }
    let path = file(uuid: record.uuid, path: record.path)
    try? FileSystem.makeDirectory(folder, permissions: 0o700)
    try? FileSystem.replace(path, with: bytes)
    for file in files.dropFirst(Self.limit) { FileSystem.remove(file.path) }
  }

  @concurrent static func keep(_ record: Record, in folder: SessionFolder) async {
    folder.keep(record)
  }

  private var files: [(path: String, time: Double)] {
    ((try? FileSystem.list(folder)) ?? []).filter { $0.hasSuffix(".json") }
      .map { folder + "/" + $0 }
      .compactMap { path in FileSystem.modification(path).map { (path, $0) } }
      .sorted { $0.1 > $1.1 }
  }

  /// The recent stores that are still there, the last first.
  func recent(limit: Int = 10) throws -> [RecentStore] {
    var stores: [RecentStore] = []
    // Bytes: Swift takes two spellings of one letter for the same, a file system does not.
    var paths: Set<[UInt8]> = []
    for file in files where stores.count < limit {
      try Task.checkCancellation()
      guard let record = record(file.path), Self.isThere(record.path),
        paths.insert(Array(record.path.utf8)).inserted
      else { continue }
      stores.append(
        RecentStore(path: record.path, opened: LocalTime.ofFile(record.opened), model: record.model)
      )
    }
    return stores
  }

  /// A file, or what a store in a container was put together from.
  private static func isThere(_ path: String) -> Bool {
    if case .inside = StoreLocation(path) { return true }
    return FileSystem.isFile(path)
  }

  /// Off the caller's actor, since a home folder may be on a network.
  @concurrent static func recent(in folder: SessionFolder?) async throws -> [RecentStore] {
    try folder?.recent() ?? []
  }
}

/// How the store is seen, kept at the end and now and then, and shown again the next time.
struct SessionKeeping {
  /// How often what has changed is kept.
  private static let interval = Duration.seconds(30)

  /// `nil` where nothing is to be kept.
  private let folder: SessionFolder?
  private let isFresh: Bool
  /// The path that the store was opened by, if it is read at another.
  private let place: String?
  /// What was kept last, and when.
  private var kept: SavedSession?
  private var keptAt = ContinuousClock.now
  /// Whether a key was pressed since.
  var hasActed = false

  /// - Parameters:
  ///   - isFresh: whether to start without the last session.
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
