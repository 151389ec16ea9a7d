import Files

/// The main file of a database as SQLite finds it: where a rollback journal says that a transaction was not
/// finished, with the pages restored and the size that it had before.
///
/// Nothing is written: what is restored is read from the journal.
package final class MainFile: Sendable {
  /// Bytes of the main file, once it is rolled back.
  package let size: Int
  /// The journal beside it, whether it is rolled back or not; `nil` where there is none.
  package let journal: RollbackJournal?
  /// How its bytes were moved, where they are read as they were; `nil` for a file that is read as it is.
  package let shift: ByteShift?
  private let file: OpenFile
  private let moved: ByteShift.Reading?
  /// Bytes of the file as it is that are not cut off.
  private let kept: Int
  /// The pages that are restored; `nil` where none is.
  private let applied: RollbackJournal?

  private static let mostZeros = 1 << 28

  /// Opens a main file.
  ///
  /// - Parameters:
  ///   - journal: where its rollback journal would be; `nil` to read the file as it is.
  ///   - isRealigned: whether bytes that were moved on the way are read where they should stand. No journal
  ///     is rolled back then.
  /// - Throws: `CoreDataError` where a file cannot be read.
  package init(_ path: String, journal journalPath: String?, isRealigned: Bool = false) throws {
    file = try OpenFile(path)
    moved = isRealigned ? try ByteShift.reading(of: file) : nil
    shift = moved?.shift
    if let moved {
      journal = nil
      (size, kept, applied) = (moved.size, moved.size, nil)
      return
    }
    var journal: RollbackJournal?
    if let journalPath, try FileSystem.present(journalPath)?.kind == .file {
      journal = try RollbackJournal(path: journalPath, main: file)
    }
    self.journal = journal
    guard let journal, journal.state == .hot else {
      (size, kept, applied) = (file.size, file.size, nil)
      return
    }
    applied = journal
    let page = journal.pageSize
    kept = min(file.size, journal.initialPages * page)
    // SQLite makes the file as long as it was. Pages far beyond all that is there would be zeros.
    let most = (file.size + journal.pages * page) * 64 + Self.mostZeros
    let initial = min(journal.initialPages * page, most)
    let last = (journal.places.keys.filter { $0 * page <= most }.max() ?? 0) * page
    // A part of the last page is left as it is.
    size = max(kept + page <= initial ? initial : kept, last)
  }

  /// The bytes from `offset` on: `count` of them, or fewer where the file ends.
  package func read(at offset: Int, count: Int) throws -> [UInt8] {
    guard let applied else {
      return try moved?.read(file, at: offset, count: count)
        ?? file.read(at: offset, count: count)
    }
    guard offset >= 0, count > 0, offset < size else { return [] }
    let count = min(count, size - offset)
    let page = applied.pageSize
    let first = offset / page + 1
    if let place = applied.places[first], offset % page + count <= page {
      return try applied.read(at: place + offset % page, count: count)
    }
    var bytes = try file.read(at: offset, count: min(count, kept - offset))
    if bytes.count < count { bytes += repeatElement(0, count: count - bytes.count) }
    for number in first...((offset + count - 1) / page + 1) {
      guard let place = applied.places[number] else { continue }
      let start = max(offset, (number - 1) * page)
      let end = min(offset + count, number * page)
      let saved = try applied.read(at: place + start - (number - 1) * page, count: end - start)
      bytes.replaceSubrange(start - offset..<start - offset + saved.count, with: saved)
    }
    return bytes
  }

  /// Reads the bytes from `offset` on into memory: as many as fit, or fewer where the file ends.
  package func read(at offset: Int, into memory: UnsafeMutableRawBufferPointer) throws -> Int {
    guard applied != nil || moved != nil else { return try file.read(at: offset, into: memory) }
    let bytes = try read(at: offset, count: memory.count)
    memory.copyBytes(from: bytes)
    return bytes.count
  }
}
