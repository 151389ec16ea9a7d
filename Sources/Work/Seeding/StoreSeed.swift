import Dispatch
import ExampleValues
import ManagedModel
import ManagedStore
import Synchronization

/// What became of a seeding.
package struct SeedReport: Sendable, Equatable {
  /// Where the store is.
  package var path: String
  /// Its identity.
  package var uuid: String
  /// Objects of exactly each concrete entity, in the order of the entities' numbers.
  package var entities: [(name: String, objects: Int)] = []
  /// Files of large values.
  package var externalFiles = 0
  /// What was added as edge cases, as sentences.
  package var edgeCases: [String] = []
  /// What the model asks for and could not be followed, as sentences.
  package var notes: [String] = []
  /// Objects in all.
  package var objects: Int { entities.reduce(0) { $0 + $1.objects } }

  /// Whether both say the same.
  package static func == (one: SeedReport, other: SeedReport) -> Bool {
    one.path == other.path && one.uuid == other.uuid
      && one.entities.elementsEqual(other.entities, by: ==)
      && one.externalFiles == other.externalFiles && one.edgeCases == other.edgeCases
      && one.notes == other.notes
  }
}

/// Fills a new store of any model with objects that could be an app's.
///
/// Values follow the names and types of properties and the model's rules; links follow its
/// relationships. Every value and every link is worked out of the seed and the object's key, so that
/// nothing is remembered: a store of any size takes the same memory, and the same seed gives the same
/// store everywhere.
package enum StoreSeed {
  /// Objects between two questions whether to go on.
  private static let step = 2000

  /// Makes a store.
  ///
  /// - Parameters:
  ///   - path: where nothing may be.
  ///   - progress: called with how many objects are written, and how many there will be.
  /// - Throws: ``CoreDataError`` where a file is there, none can be written, or it was cancelled;
  ///   nothing is left behind then.
  package static func write(
    to path: String, model: Model, options: SeedOptions = SeedOptions(),
    isCancelled: () -> Bool = { false }, progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> SeedReport {
    try NewStorePlace.require(path)
    try EntityNumbering.requireRoom(for: model, path: path)
    let scene = try SeedScene(model, options)
    let total = scene.plan.parts.reduce(0) { $0 + $1.keys.count }
    let writer = try StoreWriter(
      creating: path, model: model, uuid: identity(of: model, options.seed))
    let makers = scene.plan.parts.filter { $0.keys.count > 0 }.map { ObjectMaker($0, scene) }
    let supply = RowSupply(makers)
    supply.start()
    defer { supply.stop() }
    var batch = RowSupply.Batch()
    var done = 0
    for maker in makers {
      let form = try writer.form(
        of: maker.part.entity, attributes: maker.attributeNames, links: maker.linkNames,
        toManys: maker.toManyNames)
      let end = done + maker.part.keys.count
      while done < end {
        supply.advance(&batch)
        for row in batch.rows.prefix(batch.count) {
          if done % step == 0 {
            progress(done, total)
            guard !isCancelled() else {
              throw CoreDataError(
                .cancelled, code: .migrationCancelled, "cancelled", path: path,
                hint: "Nothing was left of the new store.")
            }
          }
          try writer.insert(form, row)
          done += 1
        }
      }
    }
    progress(done, total)
    var report = SeedReport(path: path, uuid: writer.uuid)
    report.entities = makers.map { ($0.part.entity, $0.part.keys.count) }
    report.notes = scene.notes
    if options.hasEdgeCases {
      report.edgeCases = scene.edgeCases
      report.edgeCases += try writer.addOrphans(of: model)
    }
    try writer.finish()
    report.externalFiles = writer.externalCount
    return report
  }

  /// The same model and seed have the same identity.
  private static func identity(of model: Model, _ seed: UInt64) -> String {
    var random = SeededGenerator(
      seed: SeededGenerator.seed(seed, "identity", model.versionChecksum))
    return UUIDText.text(random.uuid())
  }
}

extension SeedScene {
  /// What the edge cases are, as sentences.
  fileprivate var edgeCases: [String] {
    var told = [
      "the first \(EdgeCase.allCases.count) objects of each entity: missing values where allowed, empty, smallest, largest, emoji and right-to-left text, infinite and not-a-number dates and numbers, empty to-manys"
    ]
    told += huge.sorted().map { "ten megabytes of text in \($0)" }
    for link in links where link.pair.form == .child {
      guard case .child(let maker) = link.maker, let depth = maker.chainLength else { continue }
      told.append("\(link.pair.from.name): a chain of \(depth) objects")
    }
    return told
  }
}

extension StoreWriter {
  /// Files that no object names, where the model has external data.
  ///
  /// - Returns: what was done, as sentences.
  fileprivate func addOrphans(of model: Model) throws -> [String] {
    guard
      model.entities.contains(where: {
        $0.attributes.contains(where: \.allowsExternalBinaryDataStorage)
      })
    else { return [] }
    for number in 1...2 { try addUnnamedFile([UInt8](repeating: 0x2E, count: 64), number: number) }
    return ["two files of external data that no object references"]
  }
}

/// The rows of a store in the order in which they are written, made on a thread of their own while
/// those before them are written.
///
/// A few batches go round between the two: what is made ahead takes little memory, and is freed where
/// it was made. Which of the two is faster changes nothing, as each row is worked out of its place.
final class RowSupply: Sendable {
  /// Rows that follow each other, of one entity.
  struct Batch: Sendable {
    fileprivate(set) var count = 0
    private(set) var rows: [RowForm.Row] = []

    /// Makes as many of an entity's rows as one batch holds, from a place on.
    fileprivate mutating func fill(_ maker: ObjectMaker, from first: Int) {
      let room = min(RowSupply.mostRows, maker.part.keys.count - first)
      var bytes = 0
      count = 0
      while count < room, bytes < RowSupply.mostBytes {
        if count == rows.count { rows.append(RowForm.Row()) }
        maker.make(first + count, in: &rows[count])
        bytes += rows[count].bytes
        count += 1
      }
    }
  }

  private struct Ring {
    var empty = [Batch](repeating: Batch(), count: 3)
    var full: [Batch] = []
    var isStopped = false
  }

  private let makers: [ObjectMaker]
  private let ring = Mutex(Ring())
  private let emptied = DispatchSemaphore(value: 0)
  private let filled = DispatchSemaphore(value: 0)

  fileprivate static let mostRows = 256
  /// Texts and bytes from which on a batch is full.
  fileprivate static let mostBytes = 1 << 20

  init(_ makers: [ObjectMaker]) { self.makers = makers }

  /// Begins to make them; to be called once.
  func start() {
    DispatchQueue(label: "strata.seeding").async { @Sendable [self] in
      for maker in makers {
        var first = 0
        while first < maker.part.keys.count {
          guard var batch = empty() else { return }
          batch.fill(maker, from: first)
          first += batch.count
          ring.withLock { $0.full.append(batch) }
          filled.signal()
        }
      }
    }
  }

  /// Puts the rows that come next in the place of those that are written, which are refilled; waits
  /// for them. Asked for once more than there are, it would wait for ever.
  func advance(_ batch: inout Batch) {
    filled.wait()
    ring.withLock { ring in
      var next = ring.full.removeFirst()
      swap(&batch, &next)
      ring.empty.append(next)
    }
    emptied.signal()
  }

  /// Nothing more is asked for.
  func stop() {
    ring.withLock { $0.isStopped = true }
    emptied.signal()
  }

  private func empty() -> Batch? {
    while true {
      let (batch, isStopped) = ring.withLock { ring in
        (ring.isStopped ? nil : ring.empty.popLast(), ring.isStopped)
      }
      if batch != nil || isStopped { return batch }
      emptied.wait()
    }
  }
}

extension RowForm.Row {
  /// What its texts and bytes take.
  fileprivate var bytes: Int {
    attributes.reduce(0) { bytes, value in
      switch value {
      case .string(let text), .uri(let text), .decimal(let text): bytes + text.utf8.count
      case .bytes(let content): bytes + content.count
      default: bytes
      }
    }
  }
}
