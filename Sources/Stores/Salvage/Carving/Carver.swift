/// Finds rows in room that is no longer in use, by what rows of the tables look like.
///
/// A row that is whole vouches for itself: the size before its key is that of its header's types. Of one
/// whose beginning was overwritten the types must be those of a table's columns, its Z_ENT one of the
/// table's, and it must lie where a block of free room begins.
struct Carver: ~Copyable {
  private let shapes: [RowShape]
  private let fewest: [Int]
  private let byNumber: [Int64: Int]
  private let usable: Int
  private let encoding: FileHeader.Encoding
  private var record = Record()

  /// - Parameters:
  ///   - shapes: those of tables of entities; others are passed over.
  ///   - fewest: for each how many values its rows have at least.
  init(_ shapes: [RowShape], fewest: [Int], usable: Int, encoding: FileHeader.Encoding) {
    self.shapes = shapes
    self.fewest = fewest
    self.usable = usable
    self.encoding = encoding
    var byNumber: [Int64: Int] = [:]
    for (index, shape) in shapes.enumerated() {
      for number in shape.numbers { byNumber[number] = index }
    }
    self.byNumber = byNumber
  }

  /// The rows in a range of a page, from low to high, none over another.
  ///
  /// - Parameter likely: the shapes that rows without their beginning may have, the likeliest first.
  mutating func rows(in range: Range<Int>, of bytes: [UInt8], likely: [Int]) -> [CarvedRow] {
    let range = range.clamped(to: 0..<min(bytes.count, usable))
    var found: [CarvedRow] = []
    var place = range.lowerBound
    while place + 3 <= range.upperBound {
      // Most bytes are zeros, and four of them begin neither kind of row.
      let zeros = Self.zeros(place..<range.upperBound, bytes)
      if zeros > 3 { place += zeros - 3 }
      if let row = headless(at: place, range, bytes, likely) { found.append(row) }
      if let row = whole(place, range, bytes) { found.append(row) }
      place += 1
    }
    // What begins at a higher place was written later than what reaches into it; values inside a row
    // that vouches for itself are its own.
    found.sort { $0.range.lowerBound > $1.range.lowerBound }
    let starts = Set(found.lazy.filter { $0.key != nil }.map(\.range.lowerBound))
    // Of a list of cells two entries in a row look like the head of a block.
    found.removeAll {
      let start = $0.range.lowerBound
      return $0.key == nil && starts.contains(BigEndian.half(bytes, start))
        && starts.contains(BigEndian.half(bytes, start + 2))
    }
    let ends = RowEnds(found, in: range)
    let wholes = found.filter { $0.key != nil && $0.end <= range.upperBound }
    var limit = range.upperBound
    var next = 0
    var result: [CarvedRow] = []
    var cut: [CarvedRow] = []
    for row in found {
      guard row.end <= limit else {
        cut.append(row)
        continue
      }
      if row.key == nil {
        while next < wholes.count, wholes[next].range.lowerBound > row.range.lowerBound {
          next += 1
        }
        if next < wholes.count, wholes[next].range.upperBound >= row.range.upperBound { continue }
        // The bytes before a row that is whole can look like those of a block.
        if next > 0, wholes[next - 1].range.overlaps(row.range),
          wholes[next - 1].range.upperBound == row.range.upperBound
        {
          continue
        }
      }
      limit = row.range.lowerBound
      result.append(row)
      // Of a row without its beginning, zeros may have taken the place of all types but the first.
      if !ends.explain(row, bytes) || row.key == nil && !hasValues(row) {
        result[result.count - 1].ending = .doubtful
      }
    }
    return insert(cut, into: result.reversed(), before: range.upperBound)
  }

  /// How many zeros a range begins with.
  private static func zeros(_ range: Range<Int>, _ bytes: [UInt8]) -> Int {
    var end = range.lowerBound
    while end < range.upperBound, bytes[end] == 0 { end += 1 }
    return end - range.lowerBound
  }

  /// Adds rows whose last bytes are another's, as far as they are there, where no other begins.
  private mutating func insert(
    _ cut: [CarvedRow], into rows: [CarvedRow], before end: Int
  ) -> [CarvedRow] {
    var rows = rows
    for var row in cut {
      let start = row.range.lowerBound
      let behind = rows.partitioningIndex { $0.range.lowerBound >= start }
      let bound = behind < rows.count ? rows[behind].range.lowerBound : end
      // Behind the payload may stand the number of the page that the rest is on.
      let last = row.range.upperBound
      let lost = max(0, (row.size > row.payload.count ? min(last, row.end - 4) : last) - bound)
      guard bound > start, behind == 0 || rows[behind - 1].range.upperBound <= start,
        lost < row.payload.count
      else { continue }
      row.payload.removeLast(lost)
      (row.range, row.overflow, row.ending) = (start..<bound, 0, .overwritten)
      guard hasValues(row), shape(of: record) == row.shape, record.isPresent(2) else { continue }
      rows.insert(row, at: behind)
    }
    return rows
  }

  /// Whether a row has any value besides its key, its entity and how often it was saved; its record is read.
  private mutating func hasValues(_ row: CarvedRow) -> Bool {
    guard record.read(row.payload, 0..<row.payload.count) else { return false }
    return (3..<max(3, record.count)).contains {
      record.isPresent($0) && record.kind($0) != .null
    }
  }

  /// All shapes, those of which the types say the most first.
  var all: [Int] {
    shapes.indices.filter { !shapes[$0].numbers.isEmpty }
      .sorted { shapes[$0].columns.count > shapes[$1].columns.count }
  }

  /// The shape that a record is of; `nil` for none.
  func shape(of record: borrowing Record) -> Int? {
    guard let number = record.integer(1), let shape = byNumber[number],
      shapes[shape].fits(record), isText(record)
    else { return nil }
    return shape
  }

  /// Whether texts that are there are texts, and numbers are numbers.
  private func isText(_ record: borrowing Record) -> Bool {
    for column in 0..<record.count where record.isPresent(column) {
      switch record.kind(column) {
      case .text where encoding == .utf8: if record.isGarbled(column) { return false }
      case .real:
        guard record.real(column).isFinite else { return false }
      default: break
      }
    }
    return true
  }

  /// A row that is all there, whose types begin at a place: with the null of its key.
  private mutating func whole(_ place: Int, _ range: Range<Int>, _ bytes: [UInt8]) -> CarvedRow? {
    guard bytes[place] == 0, place >= range.lowerBound + 3, Self.isInteger(bytes[place + 1]),
      Self.isInteger(bytes[place + 2]), bytes[place - 1] < 0x80
    else { return nil }
    var cut: CarvedRow?
    for length in 1...2 {
      let header = place - length
      guard header > range.lowerBound + 1, (bytes[header] >= 0x80) == (length == 2),
        record.read(bytes, header..<range.upperBound), let shape = shape(of: record)
      else { continue }
      let size = record.stated
      // Behind the size stands the key, of which all bytes but the last go on.
      var key = header - 1
      guard bytes[key] < 0x80 else { continue }
      while key > range.lowerBound, header - key < 9, bytes[key - 1] >= 0x80 { key -= 1 }
      // The size's own last byte does not go on, its others do.
      let start = key - Varint.length(UInt64(size))
      guard start >= range.lowerBound, let (stated, end) = Varint.read(bytes, start), end == key,
        stated == UInt64(size), let (number, _) = Varint.read(bytes, key),
        let row = row(
          shape, size, start: start, header: header, key: Int64(bitPattern: number), hint: nil,
          record: Array(bytes[header..<range.upperBound]), range, bytes)
      else { continue }
      if row.end <= range.upperBound { return row }
      cut = cut ?? row
    }
    return cut
  }

  /// A row whose first four bytes are those of a block of free room.
  private mutating func headless(
    at start: Int, _ range: Range<Int>, _ bytes: [UInt8], _ likely: [Int]
  ) -> CarvedRow? {
    guard start + 6 <= range.upperBound else { return nil }
    let next = BigEndian.half(bytes, start)
    let block = BigEndian.half(bytes, start + 2)
    guard block >= 8, start + block <= usable, next == 0 || next > start && next < usable else {
      return nil
    }
    var cut: CarvedRow?
    for place in start + 3...start + 13 {
      guard place + 3 < range.upperBound else { break }
      // The null of the key may be the last byte that was overwritten.
      guard place < start + 4 || bytes[place] == 0, Self.isInteger(bytes[place + 1]),
        Self.isInteger(bytes[place + 2])
      else { continue }
      for length in 1...2 {
        for shape in likely {
          guard
            let row = headless(
              shape, start: start, types: place, header: place - length, block, range, bytes)
          else { continue }
          if row.end <= range.upperBound { return row }
          cut = cut ?? row
        }
      }
    }
    return cut
  }

  /// A row of a shape, if its types, of which the first is at `types`, are those of the columns.
  private mutating func headless(
    _ shape: Int, start: Int, types: Int, header: Int, _ block: Int, _ range: Range<Int>,
    _ bytes: [UInt8]
  ) -> CarvedRow? {
    let length = types - header
    guard header > start + 1, let all = self.types(of: shape, types, range, bytes) else {
      return nil
    }
    let isStated = header >= start + 4
    var cut: CarvedRow?
    for (count, type) in all.enumerated().reversed() where count >= 2 {
      let headerSize = type.end - header
      guard (headerSize < 128) == (length == 1) else { continue }
      if isStated {
        guard let (stated, end) = Varint.read(bytes, header), end == types,
          stated == UInt64(headerSize)
        else { continue }
      } else if count + 1 < shapes[shape].columns.count {
        // A row that is older than its table's last columns must end where the block does.
        guard count + 1 >= fewest[shape], type.end + type.size == start + block else { continue }
      }
      let size = headerSize + type.size
      let keyLength = header - start - Varint.length(UInt64(size))
      guard (1...9).contains(keyLength) else { continue }
      guard let hint = Self.hint(bytes[header - keyLength..<header], from: start + 4) else {
        continue
      }
      var payload = Varint.bytes(UInt64(headerSize))
      payload.append(0)
      payload += bytes[types + 1..<range.upperBound]
      guard record.read(payload, 0..<min(payload.count, size)), self.shape(of: record) == shape,
        shapes[shape].namesObjects(record),
        // Z_OPT counts the saves of an object.
        record.integer(2) ?? 0 >= 0,
        let row = row(
          shape, size, start: start, header: header, key: nil, hint: hint, record: payload, range,
          bytes, block: start + block),
        row.end <= start + block
      else { continue }
      if row.end <= range.upperBound { return row }
      cut = cut ?? row
    }
    return cut
  }

  /// For each column of a shape where its type ends, and how many bytes the values take up to it;
  /// no further than the types fit. `nil` where the Z_ENT is not the shape's.
  private func types(
    of shape: Int, _ first: Int, _ range: Range<Int>, _ bytes: [UInt8]
  ) -> [(end: Int, size: Int)]? {
    var result: [(end: Int, size: Int)] = [(first + 1, 0)]
    var (place, size) = (first + 1, 0)
    for column in shapes[shape].columns.dropFirst() {
      guard place < range.upperBound, let (type, end) = Varint.read(bytes, place),
        let bytes = Record.size(of: type), column.holds(Record.kind(of: type)),
        size + bytes <= Int(TreeCell.mostBytes)
      else { break }
      place = end
      size += bytes
      result.append((place, size))
    }
    return result.count >= 3 ? result : nil
  }

  /// What is left of a key from a place on.
  private static func hint(_ bytes: ArraySlice<UInt8>, from first: Int) -> CarvedRow.KeyHint? {
    var hint = CarvedRow.KeyHint(length: bytes.count, low: 0, bits: 0)
    for index in bytes.indices where index >= first {
      let isLast = index == bytes.endIndex - 1
      guard (bytes[index] < 0x80) == isLast else { return nil }
      hint.low = hint.low << 7 | Int64(bytes[index] & 0x7F)
      hint.bits += 7
    }
    return hint
  }

  /// A row, as far as it stands within the range; `nil` where it would end behind the page.
  private func row(
    _ shape: Int, _ size: Int, start: Int, header: Int, key: Int64?, hint: CarvedRow.KeyHint?,
    record: [UInt8], _ range: Range<Int>, _ bytes: [UInt8], block: Int? = nil
  ) -> CarvedRow? {
    let local = TreeCell.local(of: size, usable: usable)
    let end = header + local + (local < size ? 4 : 0)
    guard end <= usable, end > range.upperBound || local <= record.count else { return nil }
    let isCut = end > range.upperBound
    return CarvedRow(
      shape: shape, range: start..<min(end, range.upperBound), key: key, hint: hint,
      payload: Array(record.prefix(local)), size: size,
      overflow: local < size && !isCut ? Int(BigEndian.word(bytes, header + local)) : 0, end: end,
      blockEnd: block)
  }

  /// Whether a serial type is a whole number's.
  @inline(__always)
  private static func isInteger(_ type: UInt8) -> Bool { type >= 1 && type <= 9 && type != 7 }
}

/// What rows of a table look like in the file: how many values they have, and of what kinds.
package struct RowShape: Sendable, Equatable {
  /// What a column's values can be.
  package enum Column: Sendable, Equatable {
    /// The row's key, of which the record holds nothing.
    case key
    case integer
    case number
    case text
    case blob
    case any

    /// By the type that the table declares, as Core Data writes it.
    package init(declared type: String) {
      self =
        switch type.uppercased() {
        case "INTEGER": .integer
        case "TIMESTAMP", "FLOAT", "DECIMAL": .number
        case "BLOB": .blob
        case let type where type.hasPrefix("VARCHAR"): .text
        default: .any
        }
    }

    /// Whether a value of that kind can be one; any can be null.
    func holds(_ kind: Record.Kind) -> Bool {
      if kind == .null { return true }
      return switch self {
      case .key: false
      case .integer: kind == .integer
      case .number: kind == .real || kind == .integer
      case .text: kind == .text
      case .blob: kind == .blob
      case .any: true
      }
    }
  }

  /// The columns, in the order of the records.
  package let columns: [Column]
  /// The Z_ENT that its rows have, as their second value; empty for a table that is no entity's.
  package let numbers: Set<Int64>

  /// Columns that name objects: what they hold is above 0.
  package var references: Set<Int> = []

  /// The shape of a table.
  package init(columns: [Column], numbers: Set<Int64>) {
    self.columns = columns
    self.numbers = numbers
  }

  /// Whether a record could be a row: no more columns than the table, of kinds that they hold.
  package func fits(_ record: borrowing Record) -> Bool {
    guard record.count <= columns.count, record.count > 0 else { return false }
    if !numbers.isEmpty {
      guard record.count >= 3, let number = record.integer(1), numbers.contains(number) else {
        return false
      }
    }
    for index in 0..<record.count where !columns[index].holds(record.kind(index)) { return false }
    return true
  }

  /// Whether what a row names can be: looked at where little else vouches for a row.
  func namesObjects(_ record: borrowing Record) -> Bool {
    references.allSatisfy { record.integer($0).map { $0 > 0 } ?? true }
  }
}
