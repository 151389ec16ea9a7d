extension MainFile {
  /// The share of sampled pages that begin as pages of tables and indexes do, at places where only
  /// pages of exactly that size begin.
  package func share(ofPagesOf pageSize: Int) throws -> Double {
    let pages = size / pageSize
    guard pages > 1 else { return 0 }
    // Odd places: a larger page would be in its middle there.
    let places = Array(stride(from: 1, to: pages, by: max(2, pages / 128 * 2)).prefix(128))
    var found = 0
    for page in places {
      if Self.isTreePage(try read(at: page * pageSize, count: 8), pageSize) { found += 1 }
    }
    return places.isEmpty ? 0 : Double(found) / Double(places.count)
  }

  /// Whether a page that begins so can be one of a table or an index: its kind, first free block,
  /// number of cells, start of their content, and bytes lost between them.
  private static func isTreePage(_ head: [UInt8], _ pageSize: Int) -> Bool {
    guard head.count == 8, TreePage.Kind(rawValue: head[0]) != nil else { return false }
    let stated = BigEndian.half(head, 5)
    let content = stated == 0 ? 65_536 : stated
    return BigEndian.half(head, 1) < pageSize && content <= pageSize
      && 8 + 2 * BigEndian.half(head, 3) <= content && head[7] <= 60
  }

  /// The page size that the file itself shows; `nil` where it shows none.
  ///
  /// A file of larger pages has beginnings at its own odd places alone, one of smaller pages also at
  /// theirs: the smallest size with enough of them is the one.
  package func shownPageSize() throws -> Int? {
    let shares = try PageSize.all.map { (size: $0, share: try share(ofPagesOf: $0)) }
    guard let best = shares.map(\.share).max(), best >= 0.2 else { return nil }
    return shares.first { $0.share >= best / 2 }?.size
  }

  /// Whether the file was opened as text and saved: each byte that was no text became the three bytes
  /// EF BF BD, and what it was is lost.
  package func isSavedAsText() throws -> Bool {
    let bytes = try read(at: 0, count: 65_536)
    var count = 0
    for index in bytes.indices.dropLast(2)
    where bytes[index] == 0xEF && bytes[index + 1] == 0xBF && bytes[index + 2] == 0xBD {
      count += 1
    }
    // A text of these has no page of a tree among them.
    return try count > 64 && count * 3 > bytes.count / 200 && shownPageSize() == nil
  }
}
