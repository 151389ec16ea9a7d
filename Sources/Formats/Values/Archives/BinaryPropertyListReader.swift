/// Reads `bplist00`: a header, objects, a table of their offsets, and a trailer of 32 bytes.
///
/// Every object is read once and kept, so that a list whose containers are shared costs no more
/// than its bytes. What it would hold once unfolded is counted too, since code that walks the
/// value pays for that.
struct BinaryPropertyListReader {
  static let magic = Array("bplist00".utf8)

  private let bytes: [UInt8]
  private let objectCount: Int
  let top: Int
  private let offsetSize: Int
  private let referenceSize: Int
  private let table: Int
  private var objects: [Int: (value: PropertyListValue, weight: Int)] = [:]
  /// What each object is and where its content stands; `nil` where nobody asks.
  private(set) var nodes: [Int: PropertyListNode]?
  private var open: Set<Int> = []
  /// Bytes of content still allowed: a sound file has no object inside another.
  private var budget: Int
  private let maximumWeight: Int

  /// - Parameter notesNodes: whether ``nodes`` are noted while it reads.
  init(_ bytes: [UInt8], notesNodes: Bool = false) throws(CoreDataError) {
    nodes = notesNodes ? [:] : nil
    guard bytes.count >= 8 + 1 + 1 + 32, bytes.starts(with: Self.magic) else {
      throw Self.error("the binary property list is cut short")
    }
    self.bytes = bytes
    let trailer = bytes.count - 32
    offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else {
      throw Self.error("the binary property list's trailer is damaged")
    }
    let count = Self.unsigned(bytes, at: trailer + 8, size: 8)
    let top = Self.unsigned(bytes, at: trailer + 16, size: 8)
    let table = Self.unsigned(bytes, at: trailer + 24, size: 8)
    let limit = UInt64(trailer)
    // Each object takes at least an entry of the table, so the count is bounded by the bytes.
    guard count > 0, count <= limit, top < count, table >= 8, table <= limit,
      count * UInt64(offsetSize) <= limit - table
    else { throw Self.error("the binary property list's trailer is damaged") }
    objectCount = Int(count)
    self.top = Int(top)
    self.table = Int(table)
    budget = bytes.count
    maximumWeight = 1_000_000 + (bytes.count < 1 << 40 ? bytes.count * 16 : bytes.count)
  }

  mutating func read() throws(CoreDataError) -> PropertyListValue {
    try object(top, depth: 0).value
  }

  /// One object with all that is in it, read by itself: nothing of it is kept.
  mutating func object(alone index: Int) throws(CoreDataError) -> PropertyListValue {
    try weighed(alone: index).value
  }

  /// The same with what it holds once unfolded: values, and every 64 bytes of their content.
  mutating func weighed(
    alone index: Int
  ) throws(CoreDataError) -> (value: PropertyListValue, weight: Int) {
    (objects, open, budget) = ([:], [], bytes.count)
    defer { objects = [:] }
    return try object(index, depth: 0)
  }

  /// The number of the object that the list consists of.
  var root: Int { top }

  /// Numbers of the values of a dictionary, which are not read.
  mutating func places(inDictionary index: Int) throws(CoreDataError) -> [String: Int] {
    let (offset, marker) = try marker(of: index)
    guard marker >> 4 == 0xD else { throw Self.error("a dictionary was expected") }
    budget = bytes.count
    let content = try sized(at: offset, unit: referenceSize * 2)
    let half = content.count / 2
    var places: [String: Int] = [:]
    for position in stride(
      from: content.lowerBound, to: content.lowerBound + half, by: referenceSize)
    {
      guard case .string(let name) = try object(alone: reference(at: position)) else {
        throw Self.error("a dictionary's key is not a string")
      }
      places[name] = try reference(at: position + half)
    }
    return places
  }

  /// Numbers of the elements of an array, which are not read.
  mutating func places(inArray index: Int) throws(CoreDataError) -> [Int] {
    let list = try list(at: index)
    var places: [Int] = []
    places.reserveCapacity(list.count)
    for element in 0..<list.count { places.append(try place(of: element, in: list)) }
    return places
  }

  /// Where the elements of an array stand: for one of millions, whose numbers would take as much memory as the file.
  struct List {
    fileprivate let start: Int
    let count: Int
  }

  /// An array, each of whose elements is an object of the list.
  mutating func list(at index: Int) throws(CoreDataError) -> List {
    let (offset, marker) = try marker(of: index)
    guard marker >> 4 == 0xA else { throw Self.error("an array was expected") }
    budget = bytes.count
    let content = try sized(at: offset, unit: referenceSize)
    let list = List(start: content.lowerBound, count: content.count / referenceSize)
    for element in 0..<list.count { _ = try place(of: element, in: list) }
    return list
  }

  /// The number of an element's object.
  func place(of element: Int, in list: List) throws(CoreDataError) -> Int {
    guard (0..<list.count).contains(element) else { throw Self.error("an array ends before") }
    return try reference(at: list.start + element * referenceSize)
  }

  /// The number that an object is as a reference of a keyed archive; `nil` for any other object, which is not read.
  mutating func reference(alone index: Int) throws(CoreDataError) -> Int? {
    let (offset, marker) = try marker(of: index)
    budget = bytes.count
    guard marker >> 4 == 0x8, case .uid(let uid) = try decode(at: offset, as: index, depth: 0).value
    else { return nil }
    return uid
  }

  private func marker(of index: Int) throws(CoreDataError) -> (offset: Int, marker: UInt8) {
    guard (0..<objectCount).contains(index) else { throw Self.error("a reference has no object") }
    let offset = Self.unsigned(bytes, at: table + index * offsetSize, size: offsetSize)
    guard offset >= 8, offset < UInt64(table) else {
      throw Self.error("an object is outside the file")
    }
    return (Int(offset), bytes[Int(offset)])
  }

  private mutating func object(
    _ index: Int, depth: Int
  ) throws(CoreDataError) -> (value: PropertyListValue, weight: Int) {
    let place = try marker(of: index)
    if nodes == nil, Self.isSmall(place.marker) { return try small(at: place.offset, as: index) }
    if let known = objects[index] { return known }
    guard depth < PropertyList.maximumDepth else { throw Self.error("nested too deeply") }
    guard open.insert(index).inserted else {
      throw Self.error("a container of the binary property list contains itself")
    }
    defer { open.remove(index) }
    let result = try decode(at: place.offset, as: index, depth: depth)
    guard result.weight <= maximumWeight else {
      throw Self.error("unfolded, the property list would be too large")
    }
    objects[index] = result
    return result
  }

  /// Whether an object is no container and has less than fifteen bytes, or units: to keep it costs more than to read it
  /// again.
  private static func isSmall(_ marker: UInt8) -> Bool {
    switch marker >> 4 {
    case 0x0...0x3, 0x8: true
    case 0x4...0x7: marker & 15 < 15
    default: false
    }
  }

  /// A small object, which counts once for each reference to it, but not as content.
  private mutating func small(
    at offset: Int, as index: Int
  ) throws(CoreDataError) -> (value: PropertyListValue, weight: Int) {
    let allowed = budget
    defer { budget = allowed }
    return try decode(at: offset, as: index, depth: 0)
  }

  private mutating func decode(
    at offset: Int, as index: Int, depth: Int
  ) throws(CoreDataError) -> (value: PropertyListValue, weight: Int) {
    let marker = bytes[offset]
    let low = Int(marker & 15)
    switch marker >> 4 {
    case 0x0:
      switch low {
      case 0, 15: return (.null, 1)
      case 8: return (.boolean(false), 1)
      case 9: return (.boolean(true), 1)
      default: throw Self.unknown(marker, at: offset)
      }
    case 0x1:
      let value = try integer(at: offset + 1, power: low)
      nodes?[index] = .integer(offset + 1..<offset + 1 + 1 << low)
      return (value, 1)
    case 0x2:
      let content = try take(offset + 1, count: low <= 3 ? 1 << low : 0)
      nodes?[index] = .real(content)
      switch content.count {
      case 4:
        let bits = UInt32(truncatingIfNeeded: Self.unsigned(bytes, at: content.lowerBound, size: 4))
        return (.real(Double(Float(bitPattern: bits))), 1)
      case 8: return (.real(double(at: content.lowerBound)), 1)
      default: throw Self.unknown(marker, at: offset)
      }
    case 0x3:
      guard low == 3 else { throw Self.unknown(marker, at: offset) }
      let content = try take(offset + 1, count: 8)
      nodes?[index] = .date(content)
      return (.date(double(at: content.lowerBound)), 1)
    case 0x4:
      let content = try sized(at: offset, unit: 1)
      nodes?[index] = .data(content)
      return (.data(Array(bytes[content])), 1 + content.count / 64)
    case 0x5, 0x7:
      // ASCII as Apple writes it; UTF-8 reads the same and forgives more.
      let content = try sized(at: offset, unit: 1)
      nodes?[index] = .utf8(content)
      return (.string(String(decoding: bytes[content], as: UTF8.self)), 1 + content.count / 64)
    case 0x6:
      let content = try sized(at: offset, unit: 2)
      nodes?[index] = .utf16(content)
      var units: [UInt16] = []
      units.reserveCapacity(content.count / 2)
      for index in stride(from: content.lowerBound, to: content.upperBound, by: 2) {
        units.append(UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1]))
      }
      return (.string(String(decoding: units, as: UTF16.self)), 1 + content.count / 64)
    case 0x8:
      let content = try take(offset + 1, count: low + 1)
      guard content.count <= 8,
        let uid = Int(
          exactly: Self.unsigned(bytes, at: content.lowerBound, size: content.count))
      else { throw Self.unknown(marker, at: offset) }
      return (.uid(uid), 1)
    case 0xA, 0xB, 0xC: return try array(at: offset, as: index, depth: depth)
    case 0xD: return try dictionary(at: offset, as: index, depth: depth)
    default: throw Self.unknown(marker, at: offset)
    }
  }

  private mutating func array(
    at offset: Int, as index: Int, depth: Int
  ) throws(CoreDataError) -> (value: PropertyListValue, weight: Int) {
    let content = try sized(at: offset, unit: referenceSize)
    var values: [PropertyListValue] = []
    var references: [Int] = []
    var weight = 1
    for position in stride(from: content.lowerBound, to: content.upperBound, by: referenceSize) {
      let reference = try reference(at: position)
      let (value, size) = try object(reference, depth: depth + 1)
      values.append(value)
      if nodes != nil { references.append(reference) }
      weight += size
      guard weight <= maximumWeight else { break }
    }
    nodes?[index] = .array(references)
    return (.array(values), weight)
  }

  private mutating func dictionary(
    at offset: Int, as index: Int, depth: Int
  ) throws(CoreDataError) -> (value: PropertyListValue, weight: Int) {
    let content = try sized(at: offset, unit: referenceSize * 2)
    let half = content.count / 2
    var values: [String: PropertyListValue] = [:]
    var entries: [PropertyListNode.Entry] = []
    var weight = 1
    for position in stride(
      from: content.lowerBound, to: content.lowerBound + half, by: referenceSize)
    {
      let (own, other) = try (reference(at: position), reference(at: position + half))
      let key = try object(own, depth: depth + 1)
      guard case .string(let name) = key.value else {
        throw Self.error("a dictionary's key is not a string")
      }
      let (value, size) = try object(other, depth: depth + 1)
      values[name] = value
      if nodes != nil { entries.append(.init(name: name, key: own, value: other)) }
      weight += size + key.weight
      guard weight <= maximumWeight else { break }
    }
    nodes?[index] = .dictionary(entries)
    return (.dictionary(values), weight)
  }

  private mutating func integer(
    at offset: Int, power: Int
  ) throws(CoreDataError) -> PropertyListValue {
    guard power <= 4 else { throw Self.error("an integer has more than 128 bits") }
    let content = try take(offset, count: 1 << power)
    guard content.count == 16 else {
      let value = Self.unsigned(bytes, at: content.lowerBound, size: content.count)
      // One to four bytes are unsigned, eight are signed.
      return .integer(Int64(bitPattern: value))
    }
    // Sixteen bytes are how Apple writes a UInt64 above Int64.max.
    let high = Self.unsigned(bytes, at: content.lowerBound, size: 8)
    let low = Self.unsigned(bytes, at: content.lowerBound + 8, size: 8)
    let signed = Int64(bitPattern: low)
    if (high == 0 && signed >= 0) || (high == .max && signed < 0) { return .integer(signed) }
    return .real(Double(Int64(bitPattern: high)) * 0x1p64 + Double(low))
  }

  /// The content of an object whose marker's low half, or an integer after it, is its count.
  private mutating func sized(at offset: Int, unit: Int) throws(CoreDataError) -> Range<Int> {
    var start = offset + 1
    var count = UInt64(bytes[offset] & 15)
    if count == 15 {
      guard start < table, bytes[start] >> 4 == 1, bytes[start] & 15 <= 3 else {
        throw Self.error("an object's length is damaged")
      }
      let content = try take(start + 1, count: 1 << Int(bytes[start] & 15))
      count = Self.unsigned(bytes, at: content.lowerBound, size: content.count)
      start = content.upperBound
    }
    guard count <= UInt64(bytes.count) else { throw Self.error("an object is cut short") }
    return try take(start, count: Int(count) * unit)
  }

  /// Claims bytes of content.
  private mutating func take(_ start: Int, count: Int) throws(CoreDataError) -> Range<Int> {
    guard count >= 0, start <= table, count <= table - start else {
      throw Self.error("an object is cut short")
    }
    budget -= count
    guard budget >= 0 else { throw Self.error("objects overlap") }
    return start..<(start + count)
  }

  private func reference(at offset: Int) throws(CoreDataError) -> Int {
    let value = Self.unsigned(bytes, at: offset, size: referenceSize)
    guard value < UInt64(objectCount) else { throw Self.error("a reference has no object") }
    return Int(value)
  }

  private func double(at offset: Int) -> Double {
    Double(bitPattern: Self.unsigned(bytes, at: offset, size: 8))
  }

  /// Big-endian; the caller has checked the bounds.
  private static func unsigned(_ bytes: [UInt8], at offset: Int, size: Int) -> UInt64 {
    var value: UInt64 = 0
    for index in offset..<(offset + size) { value = value << 8 | UInt64(bytes[index]) }
    return value
  }

  private static func unknown(_ marker: UInt8, at offset: Int) -> CoreDataError {
    error("an object of unknown type 0x\(ByteText.hex([marker])) at byte \(offset)")
  }

  private static func error(_ message: String) -> CoreDataError {
    CoreDataError(.unreadable, message)
  }
}
