import Files

/// Pages of a file that are read before they are asked for, where one after the other is: a call for each
/// would take as long as what is done with it.
struct ReadAhead {
  // Larger memory is had from the system each time.
  private static let bytesAtOnce = 65_536

  private var bytes: [UInt8] = []
  /// The first page of those that were read.
  private var first = 1
  /// The page that was asked for last.
  private var last = 0

  /// A page, as much as is there of it.
  mutating func page(_ number: Int, of file: OpenFile, pageSize: Int) throws -> [UInt8] {
    defer { last = number }
    if number < first || number > first + (bytes.count - 1) / pageSize || bytes.isEmpty {
      let pages = number == last + 1 ? max(1, Self.bytesAtOnce / pageSize) : 1
      // A place that the disk cannot read is no error of the pages before it.
      guard pages > 1,
        let read = try? file.read(at: (number - 1) * pageSize, count: pages * pageSize),
        !read.isEmpty
      else { return try file.read(at: (number - 1) * pageSize, count: pageSize) }
      (bytes, first) = (read, number)
    }
    let start = (number - first) * pageSize
    return Array(bytes[start..<min(bytes.count, start + pageSize)])
  }
}
