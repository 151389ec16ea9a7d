/// A row that was found in room that is no longer in use.
struct CarvedRow {
  /// What is known of a row's last bytes.
  enum Ending: Sendable {
    /// It ends where something else begins.
    case sound
    /// Nothing begins where it ends, so that a later row may have been written over its last bytes.
    case doubtful
    /// Another row stands in place of its last bytes.
    case overwritten
  }

  /// What is left of a key whose first bytes were overwritten.
  struct KeyHint: Sendable, Equatable {
    /// Bytes that the key takes in the cell.
    var length: Int
    /// Its last bits, as far as they are left.
    var low: Int64
    /// How many these are.
    var bits: Int

    /// Whether a key takes so many bytes, and ends in these bits.
    func fits(_ key: Int64) -> Bool {
      guard key > 0 else { return false }
      let significant = Int64.bitWidth - key.leadingZeroBitCount
      return (significant + 6) / 7 == length && key & ((1 << bits) - 1) == low
    }
  }

  /// Which of the shapes it has.
  var shape: Int
  /// The cell in the page, as far as nothing else was written over it.
  var range: Range<Int>
  /// Its key, where the cell still has it.
  var key: Int64?
  /// What is left of it where not.
  var hint: KeyHint?
  /// The record, with a header that is whole.
  var payload: [UInt8]
  /// Bytes that the record has; more than the payload where the rest is on other pages.
  var size: Int
  /// The first page of the rest; 0 where all is here.
  var overflow: Int
  /// Where the cell ended; behind the end of its range where that is another's now.
  var end: Int
  /// Where the block of free room ends that begins with it; `nil` where it begins none.
  var blockEnd: Int?
  /// What is known of its last bytes.
  var ending = Ending.sound
}

/// What shows that rows in a range of a page are there to their ends.
///
/// A row was written where another thing ended, and another stood behind it. What was written since begins anywhere:
/// where it begins inside a row, that row's last bytes are its own, and they may look like the values that were there.
struct RowEnds {
  private let range: Range<Int>
  private let starts: Set<Int>
  private let blockEnds: Set<Int>

  /// - Parameter rows: all that looks like a row in the range.
  init(_ rows: [CarvedRow], in range: Range<Int>) {
    self.range = range
    starts = Set(rows.map(\.range.lowerBound)).union([range.upperBound])
    blockEnds = Set(rows.compactMap(\.blockEnd)).union([range.upperBound])
  }

  /// Whether something begins where a row ends, and no block of free room begins inside it.
  func explain(_ row: CarvedRow, _ bytes: [UInt8]) -> Bool {
    guard !(row.range.lowerBound + 1..<row.end).contains(where: { isBlock(at: $0, bytes) }) else {
      return false
    }
    // SQLite leaves up to three bytes between cells.
    return (0...3).contains { starts.contains(row.end + $0) || isCell(at: row.end + $0, bytes) }
      || isWiped(from: row.end, bytes)
  }

  /// Whether a cell begins there whose size is that of its values, of whatever table.
  private func isCell(at place: Int, _ bytes: [UInt8]) -> Bool {
    guard let (size, key) = Varint.read(bytes, place), size < UInt64(bytes.count),
      let (_, header) = Varint.read(bytes, key), header < range.upperBound
    else { return false }
    var columns = 0
    let stated = bytes.withUnsafeBytes { bytes in
      Record.parse(UnsafeRawBufferPointer(rebasing: bytes[header..<range.upperBound])) { _ in
        columns += 1
      }
    }
    return columns > 2 && stated == Int(size)
  }

  /// Whether the head of a block of free room stands there that ends where another does.
  private func isBlock(at place: Int, _ bytes: [UInt8]) -> Bool {
    guard place + 4 <= bytes.count else { return false }
    let (next, size) = (BigEndian.half(bytes, place), BigEndian.half(bytes, place + 2))
    return size >= 4 && blockEnds.contains(place + size) && (next == 0 || next >= place + size)
  }

  /// Whether zeros begin there, or a block of them.
  private func isWiped(from place: Int, _ bytes: [UInt8]) -> Bool {
    func areZeros(_ first: Int, _ end: Int) -> Bool {
      let end = min(end, range.upperBound)
      return first < end && !bytes[first..<end].contains { $0 != 0 }
    }
    if areZeros(place, place + 8) { return true }
    guard place + 4 < range.upperBound else { return false }
    let (next, size) = (BigEndian.half(bytes, place), BigEndian.half(bytes, place + 2))
    return size > 4 && (next == 0 || next > place)
      && areZeros(place + 4, min(place + 12, place + size))
  }
}
