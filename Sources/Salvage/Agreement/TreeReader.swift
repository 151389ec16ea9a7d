/// Reads pages of trees, and payloads, of a database that is taken for whole: whatever is not as it should
/// be ends it.
final class TreeReader {
  /// A tree that is not as it should be, or not one that is read here.
  struct Untold: Error {}

  /// Most pages that lie above each other.
  static let mostLevels = 24

  private let image: DatabaseImage
  private let isCancelled: () -> Bool
  /// Pages that may still be read: more than there are only circles have.
  private var budget: Int
  /// The page that was read last, and one that holds more of a payload.
  private let memory: UnsafeMutableRawBufferPointer
  private let more: UnsafeMutableRawBufferPointer

  /// Of a database whose pages do not change meanwhile.
  init(_ image: DatabaseImage, isCancelled: @escaping () -> Bool) {
    self.image = image
    self.isCancelled = isCancelled
    budget = image.pageCount
    memory = .allocate(byteCount: image.pageSize, alignment: 16)
    more = .allocate(byteCount: image.pageSize, alignment: 16)
  }

  deinit {
    memory.deallocate()
    more.deallocate()
  }

  /// Begins with another tree.
  func begin() { budget = image.pageCount }

  /// Reads a page of a tree, which is good until another one is read.
  func page(_ number: Int, _ depth: Int) throws -> RawPage {
    guard depth < Self.mostLevels else { throw Untold() }
    try read(number, into: memory)
    guard
      let page = RawPage(UnsafeRawBufferPointer(memory), number: number, usable: image.usable)
    else { throw Untold() }
    return page
  }

  private func read(_ number: Int, into memory: UnsafeMutableRawBufferPointer) throws {
    budget -= 1
    guard budget >= 0, budget % 256 != 0 || !isCancelled(),
      try image.read(number, into: memory)
    else { throw Untold() }
  }

  /// Reads a row of a leaf, and answers its key. What is all in the page is good as long as that is.
  @inline(__always)
  func row(of page: RawPage, _ number: Int, into record: inout RecordView) throws -> Int64 {
    guard let offset = page.cell(number),
      let cell = Cell(page.bytes, at: offset, present: page.usable, usable: page.usable)
    else { throw Untold() }
    try payload(of: page, cell.start, cell.local, of: cell.size, cell.overflow, into: &record)
    return cell.key
  }

  /// Reads an entry of an index, likewise.
  @inline(__always)
  func entry(of page: RawPage, _ number: Int, into record: inout RecordView) throws {
    guard var start = page.cell(number) else { throw Untold() }
    if page.kind == .indexInterior { start += 4 }
    guard let size = Varint.read(page.bytes, at: &start, before: page.usable), size > 0,
      size <= Cell.mostBytes
    else { throw Untold() }
    let local = Cell.localOfIndex(Int(size), usable: page.usable)
    let isLong = local < Int(size)
    guard start + local + (isLong ? 4 : 0) <= page.usable else { throw Untold() }
    let overflow = isLong ? BigEndian.word(page.bytes, start + local) : 0
    try payload(of: page, start, local, of: Int(size), overflow, into: &record)
  }

  /// Takes a payload, with what of it is on other pages.
  @inline(__always)
  private func payload(
    of page: RawPage, _ start: Int, _ local: Int, of size: Int, _ overflow: Int,
    into record: inout RecordView
  ) throws {
    let here = UnsafeRawBufferPointer(rebasing: page.bytes[start..<start + local])
    guard local == size ? record.read(here) : try isRead(here, overflow, of: size, into: &record)
    else { throw Untold() }
  }

  private func isRead(
    _ here: UnsafeRawBufferPointer, _ overflow: Int, of size: Int, into record: inout RecordView
  ) throws -> Bool {
    let most = image.usable - 4
    guard size / most <= image.pageCount else { return false }
    let payload = record.room(for: size)
    payload.copyMemory(from: here)
    var (taken, next) = (here.count, overflow)
    while taken < size {
      try read(next, into: more)
      let part = min(size - taken, most)
      UnsafeMutableRawBufferPointer(rebasing: payload[taken..<taken + part]).copyMemory(
        from: UnsafeRawBufferPointer(rebasing: more[4..<4 + part]))
      taken += part
      next = BigEndian.word(UnsafeRawBufferPointer(more), 0)
    }
    return record.read(UnsafeRawBufferPointer(payload))
  }
}
