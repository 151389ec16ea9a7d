import Files
import ManagedModel
import ManagedStore
import Migration
import SQLite
import Salvage

/// What is wrong with the main file, determined from its header, its size and samples of it.
///
/// What an own reader of pages knows besides is to be added here: findings of what is known.
struct FileLayer {
  let place: StorePlace
  let facts: FileFacts
  let log: WriteAheadLog
  /// Whether the store cannot be opened, or not be read whole.
  let isDamaged: Bool

  /// The findings, and whether anything of the store can be read by whatever means.
  func findings() throws -> (all: [Finding], isReadable: Bool) {
    if facts.size == 0 { return emptyMain() }
    if let shift = try facts.shift() {
      // SQLite asks no more of a database than its header.
      let isDatabase = facts.hasMagic && facts.statedPageSize != nil && facts.hasFractions
      let error = isDatabase ? (ErrorMeaning.Domain.sqlite, 11) : nil
      return ([Finding(.shifted, shift.sentence, error: error, in: place)], true)
    }
    if try facts.isSavedAsText() {
      return ([finding(.savedAsText, SalvageSource.savedAsText)], true)
    }
    guard facts.hasMagic else { return try noMagic() }
    guard facts.head.count == 100 else {
      return (
        [
          finding(
            .cutOff, "The file is cut off within its header: \(facts.size) bytes.",
            count: nil)
        ], log.frames > 0
      )
    }
    guard let pageSize = facts.statedPageSize, facts.hasFractions else {
      let shown = try facts.shownPageSize()
      return (
        [finding(.header, "The header has values that are invalid in SQLite.")],
        shown != nil || log.frames > 0
      )
    }
    // Some leave the header readable, so that a system knows what the file is.
    if isDamaged, facts.isNoise, try facts.shownPageSize() == nil {
      return ([encrypted("behind the header")], false)
    }
    return (try hidden(pageSize) + sizes(pageSize), true)
  }

  /// What is wrong with the first page while the -wal has a whole one: as long as that is there.
  private func hidden(_ pageSize: Int) throws -> [Finding] {
    guard log.frames > 0, !isDamaged else { return [] }
    func note(_ kind: FindingKind, _ what: String) -> Finding {
      Finding(
        kind, "\(what); the -wal has a complete first page, which is used as long as it is there.",
        severity: .note, in: place)
    }
    if !facts.hasFirstTree {
      return [note(.schemaGone, "The list of tables in the main file is gone")]
    }
    if let real = try facts.shownPageSize(), real != pageSize {
      return [
        note(.pageSize, "The header says that pages have \(pageSize) bytes; they have \(real)")
      ]
    }
    let whole = facts.size / pageSize
    guard let pages = facts.statedPages, pages < whole || max(whole, log.pages) < pages else {
      return []
    }
    return [note(.pageCount, "The header counts \(pages) pages; the file has \(whole)")]
  }

  private func finding(_ kind: FindingKind, _ sentence: String, count: Int? = nil) -> Finding {
    Finding(kind, sentence, count: count, in: place)
  }

  private func encrypted(_ place: String) -> Finding {
    finding(
      .encrypted,
      "The file looks encrypted: its bytes \(place) are as evenly distributed as random ones.")
  }

  private func emptyMain() -> (all: [Finding], isReadable: Bool) {
    let frames = log.frames + (log.unapplied?.frames ?? 0)
    let sentence =
      frames > 0
      ? "The main file has 0 bytes; its -wal holds \(log.frames) whole frames of \(frames)."
      : "The main file has 0 bytes, and there is no -wal with valid frames."
    var found = Finding(
      .emptyMain, sentence, count: frames, in: place, remedy: frames > 0 ? nil : Remedy.none)
    if frames == 0 { found.advice = StoreBackup.adviceWhereEmpty(place.path) }
    return ([found], frames > 0)
  }

  private func noMagic() throws -> (all: [Finding], isReadable: Bool) {
    let shown = try facts.shownPageSize()
    if shown == nil, !facts.hasFractions, StoreFiles.known(facts.head) != nil {
      return ([], log.frames > 0)
    }
    if facts.isNoise, shown == nil || !facts.hasFractions {
      return ([encrypted("from the first on")], false)
    }
    let isZero = facts.head.allSatisfy { $0 == 0 }
    // Of a small file, or of one that is gone but for its end, a single page shows it.
    let pageSize = try shown ?? facts.pageSizeOfAnyTree()
    guard facts.hasFractions || pageSize != nil else {
      guard log.frames > 0 else { return ([], false) }
      return (
        [
          finding(
            .header,
            "The main file is overwritten from its beginning; its -wal holds \(log.frames) whole frames."
          )
        ], true
      )
    }
    let what =
      facts.hasFractions
      ? "The first 16 bytes, by which SQLite recognises its files, are overwritten; the rest of the header is there."
      : isZero
        ? "The header is all zeros. Pages of \(pageSize ?? 4096) bytes follow it."
        : "The header is overwritten. Pages of \(pageSize ?? 4096) bytes follow it."
    return ([finding(.header, what)], true)
  }

  /// How the size fits what the header says of it.
  private func sizes(_ pageSize: Int) throws -> [Finding] {
    guard let pages = facts.statedPages, facts.size != pages * pageSize else { return [] }
    // A -wal that is applied says how many there are.
    if log.frames > 0, !isDamaged { return [] }
    if let real = try facts.shownPageSize(), real != pageSize,
      try facts.share(ofPagesOf: real) > 2 * facts.share(ofPagesOf: pageSize)
        || pages * real == facts.size
    {
      return [
        finding(
          .pageSize, "The header says that pages have \(pageSize) bytes; they have \(real).")
      ]
    }
    let whole = facts.size / pageSize
    if facts.size > pages * pageSize {
      // SQLite lets what stands behind the last page be.
      guard isDamaged else { return [] }
      guard whole > pages else {
        let more = facts.size - pages * pageSize
        return [
          finding(
            .pageCount,
            "The file has \(NumberText.counted(more, "byte")) more than the \(NumberText.counted(pages, "page")) that its header counts."
          )
        ]
      }
      return [
        finding(
          .pageCount, "The header counts \(pages) pages; the file has \(whole).",
          count: whole - pages)
      ]
    }
    if facts.size % pageSize == 0, reachesNoFurther() {
      return [
        finding(
          .pageCount,
          "The header counts \(pages) pages; the file has \(whole), and every table ends within them.",
          count: pages - whole)
      ]
    }
    return [
      finding(
        .cutOff,
        "The file has \(NumberText.grouped(facts.size)) bytes of \(NumberText.grouped(pages * pageSize)): the last \(NumberText.grouped(pages - whole)) of \(NumberText.grouped(pages)) pages are missing.",
        count: pages - whole)
    ]
  }

  /// Whether every table can be read to its end in the pages that are there.
  private func reachesNoFurther() -> Bool {
    // SQLite would read the file as it is.
    guard !facts.isRolledBack else { return false }
    do {
      let connection = try Connection(
        path: FileSystem.canonical(place.path), mode: .immutable, isDefensive: false)
      // SQLite reads a file that is shorter than its header says only for who may mend the schema,
      // which a defensive connection may not; an immutable one writes nothing.
      try connection.execute("PRAGMA writable_schema = ON")
      let names = try connection.tableNames()
      for name in names {
        _ = try connection.value("SELECT count(*) FROM \(quoted(name)) NOT INDEXED")
      }
      return !names.isEmpty
    } catch {
      return false
    }
  }
}

/// What the header of a store's file, its size and a few samples of it say, without SQLite: as they are once
/// a save that was not finished is rolled back.
struct FileFacts {
  /// Bytes of the main file, once it is rolled back.
  let size: Int
  /// The first hundred bytes, or fewer.
  let head: [UInt8]
  /// How evenly the sampled bytes are spread: 8 bits a byte for what is encrypted or packed.
  let entropy: Double
  /// The kind of page that the first one is.
  private let firstKind: UInt8?
  private let file: MainFile
  private let path: String

  init(_ path: String) throws {
    self.path = path
    // A -journal that cannot be read is a finding of its own.
    file = try (try? MainFile(path, journal: path + "-journal")) ?? MainFile(path, journal: nil)
    size = file.size
    head = try file.read(at: 0, count: 100)
    firstKind = try file.read(at: 100, count: 1).first
    var counts = [Int](repeating: 0, count: 256)
    for offset in [0, size / 2, size - 8192] {
      for byte in try file.read(at: max(0, offset), count: 8192) { counts[Int(byte)] += 1 }
    }
    entropy = Self.entropy(counts)
  }

  private static func entropy(_ counts: [Int]) -> Double {
    let total = Double(counts.reduce(0, +))
    guard total > 0 else { return 0 }
    return counts.reduce(0) { sum, count in
      guard count > 0 else { return sum }
      let part = Double(count) / total
      return sum - part * Self.binaryLogarithm(part)
    }
  }

  /// Of a number between 0 and 1, as exactly as distinguishing noise from text needs.
  private static func binaryLogarithm(_ value: Double) -> Double {
    let exponent = value.exponent
    var (mantissa, result, bit) = (value.significand, Double(exponent), 0.5)
    for _ in 0..<20 {
      mantissa *= mantissa
      if mantissa >= 2 {
        mantissa /= 2
        result += bit
      }
      bit /= 2
    }
    return result
  }

  /// How its bytes were moved on the way; `nil` where nothing shows it.
  func shift() throws -> ByteShift? { try MainFile(path, journal: nil, isRealigned: true).shift }

  /// Whether what is no text became the character that stands for it.
  func isSavedAsText() throws -> Bool { try file.isSavedAsText() }

  /// Whether a -journal is rolled back.
  var isRolledBack: Bool { file.journal?.state == .hot }

  /// What the header says, as far as it can be believed.
  private var header: FileHeader { FileHeader(head) }

  /// Whether it begins as every SQLite file does.
  var hasMagic: Bool { header.isMagic }

  /// The page size as the header states it; `nil` for no possible one.
  var statedPageSize: Int? { header.pageSize }

  /// Pages as the header counts them; `nil` where it says itself that the count is not kept up.
  var statedPages: Int? {
    let header = header
    return header.pages > 0 && header.changeCounter == header.versionValidFor ? header.pages : nil
  }

  /// Whether the three bytes that never vary are as they are in every SQLite file.
  var hasFractions: Bool { head.count >= 24 && Array(head[21..<24]) == [64, 32, 32] }

  /// Whether the header asks for a -wal.
  var isLogged: Bool { head.count >= 20 && head[18] == 2 }

  /// Whether a tree of tables stands behind the header.
  var hasFirstTree: Bool { firstKind.map { $0 == 5 || $0 == 13 } ?? false }

  /// Whether anything but random bytes is there; a small file says too little.
  var isNoise: Bool { size >= 4096 && entropy > 7.9 }

  /// The share of sampled pages that begin as pages of that size do.
  func share(ofPagesOf pageSize: Int) throws -> Double { try file.share(ofPagesOf: pageSize) }

  /// The size of pages of which at least one is a tree's, as salvage would read the file; `nil` where none is.
  func pageSizeOfAnyTree() throws -> Int? {
    let image = try DatabaseImage(path: path, log: nil)
    return image.looksLikeDatabase ? image.pageSize : nil
  }

  /// The page size that the file itself shows; `nil` where it shows none.
  func shownPageSize() throws -> Int? { try file.shownPageSize() }
}

/// What can be determined of a store that does not open though its header and its size are in order.
struct Unopened {
  let place: StorePlace
  let files: StoreFiles
  let log: WriteAheadLog

  func findings() -> [Finding] {
    do {
      try files.check()
      let opened = try files.openForReading(wal: log)
      return try withExtendedLifetime(opened.snapshot) { try findings(opened.connection) }
    } catch let error as SQLiteError where error.isDamage {
      return [gone(error)]
    } catch {
      return []
    }
  }

  private func gone(_ error: SQLiteError) -> Finding {
    Finding(
      .schemaGone, "The list of tables (sqlite_master) cannot be read: \(error.message).", in: place
    )
  }

  private func findings(_ connection: Connection) throws -> [Finding] {
    let names: Set<String>
    do {
      names = Set(
        try connection.rows("SELECT name FROM sqlite_master").compactMap { $0.first?.text })
    } catch let error as SQLiteError where error.isDamage {
      return [gone(error)]
    }
    guard !names.isEmpty else {
      // A database that nothing was put into; of one page there is nothing that could have been lost.
      guard try connection.number("PRAGMA page_count") > 1 else { return [] }
      return [Finding(.schemaGone, "The list of tables (sqlite_master) is empty.", in: place)]
    }
    // A database of somebody else.
    guard names.contains(where: { $0.hasPrefix("Z_") }) else { return [] }
    let own = ["Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE"].filter { !names.contains($0) }
    if own.contains("Z_PRIMARYKEY") {
      return [
        Finding(
          .tableMissing, "Core Data's own tables are missing: \(own.joined(separator: ", ")).",
          count: own.count, first: own, in: place)
      ]
    }
    // Sound, but without a model and without the rows that would name its entities.
    if names.contains("Z_METADATA"),
      (try? connection.number("SELECT count(*) FROM Z_PRIMARYKEY")) == 0
    {
      return [
        Finding(
          .primaryKey, "Z_PRIMARYKEY has no row: no entity of the store is known.", in: place,
          remedy: .repairByModel)
      ]
    }
    return [Finding(.pageUnreadable, "The first pages of the store cannot be read.", in: place)]
  }
}
