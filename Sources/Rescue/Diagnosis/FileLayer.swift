import Files
import ManagedModel
import ManagedStore
import SQLite

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
    if let shift = try facts.shift() { return ([finding(.shifted, shift.sentence)], true) }
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
      .encrypted, "The bytes are spread as evenly as those of an encrypted file, \(place).")
  }

  private func emptyMain() -> (all: [Finding], isReadable: Bool) {
    let frames = log.frames + (log.unapplied?.frames ?? 0)
    let sentence =
      frames > 0
      ? "The main file has 0 bytes; its -wal holds \(log.frames) whole frames of \(frames)."
      : "The main file has 0 bytes, and there is no -wal with valid frames."
    var found = Finding(
      .emptyMain, sentence, count: frames, in: place, remedy: frames > 0 ? nil : Remedy.none)
    if frames == 0 { found.advice = "Use another copy of the store, together with its -wal." }
    return ([found], frames > 0)
  }

  private func noMagic() throws -> (all: [Finding], isReadable: Bool) {
    let shown = try facts.shownPageSize()
    if shown == nil, !facts.hasFractions, StoreFiles.known(facts.head) != nil {
      return ([], log.frames > 0)
    }
    if facts.isNoise, shown == nil || !facts.hasFractions {
      return ([encrypted("from the first one on")], false)
    }
    let isZero = facts.head.allSatisfy { $0 == 0 }
    guard facts.hasFractions || shown != nil else {
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
        ? "The header is all zeros. Pages of \(shown ?? 4096) bytes follow it."
        : "The header is overwritten. Pages of \(shown ?? 4096) bytes follow it."
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
        "The file has \(facts.size) bytes of \(pages * pageSize): the last \(pages - whole) of \(pages) pages are missing.",
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
      let names = try connection.rows(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
      ).compactMap { $0.first?.text }
      for name in names {
        _ = try connection.value("SELECT count(*) FROM \(quoted(name)) NOT INDEXED")
      }
      return !names.isEmpty
    } catch {
      return false
    }
  }
}
