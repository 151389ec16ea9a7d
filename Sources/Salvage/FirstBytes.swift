/// The first byte of each page of a file, read many pages at a time: whoever walks the trees of a database
/// asks for those of nearly all.
struct FirstBytes {
  private static let bytesAtOnce = 262_144

  private var bytes: [UInt8] = []
  private var isRead: [Bool] = []

  /// The first byte of a page; `nil` where the file does not reach there.
  mutating func byte(of page: Int, in file: MainFile, pageSize: Int) throws -> UInt8? {
    let offset = (page - 1) * pageSize
    guard offset >= 0, offset < file.size else { return nil }
    let pages = max(1, Self.bytesAtOnce / pageSize)
    let block = (page - 1) / pages
    if bytes.isEmpty {
      bytes = Array(repeating: 0, count: (file.size + pageSize - 1) / pageSize)
      isRead = Array(repeating: false, count: bytes.count / pages + 1)
    }
    if !isRead[block] {
      let first = block * pages
      // A place that the disk cannot read is no error of the pages beside it.
      guard let read = try? file.read(at: first * pageSize, count: pages * pageSize),
        read.count >= min(pages * pageSize, file.size - first * pageSize)
      else { return try file.read(at: offset, count: 1).first }
      for (index, place) in stride(from: 0, to: read.count, by: pageSize).enumerated()
      where first + index < bytes.count {
        bytes[first + index] = read[place]
      }
      isRead[block] = true
    }
    return bytes[page - 1]
  }
}
