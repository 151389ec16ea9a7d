/// A binary property list of which the end is gone, and with it the table that says where its objects are.
///
/// Its writer numbers objects as it meets them, and writes them in that order, so that the n-th from the start is
/// number n. The list that it consists of is number 0.
struct BinaryPropertyListRemains {
  private let bytes: [UInt8]
  private let referenceSize: Int
  private var offsets: [Int] = []
  /// Where the last whole object ends.
  private var end = BinaryPropertyListReader.magic.count
  /// The greatest number that an object refers to.
  private var greatest = 0

  /// - Returns: `nil` where no object is whole.
  init?(_ bytes: [UInt8], referenceSize: Int) {
    guard bytes.starts(with: BinaryPropertyListReader.magic) else { return nil }
    self.bytes = bytes
    self.referenceSize = referenceSize
    while let next = objectEnd(at: end) {
      offsets.append(end)
      end = next
    }
    guard !offsets.isEmpty else { return nil }
  }

  /// The list with a table of the objects that are left: an object that is gone is outside the file.
  var mended: [UInt8] {
    // A number that no file of this size has is damage.
    let count = max(offsets.count, min(greatest, bytes.count) + 1)
    var result = Array(bytes[..<end])
    result.reserveCapacity(end + count * 8 + 32)
    func append(_ value: Int) {
      for shift in stride(from: 56, through: 0, by: -8) {
        result.append(UInt8(truncatingIfNeeded: value >> shift))
      }
    }
    for index in 0..<count { append(index < offsets.count ? offsets[index] : 0) }
    result += [0, 0, 0, 0, 0, 0, 8, UInt8(referenceSize)]
    append(count)
    append(0)
    append(end)
    return result
  }

  /// Where the object ends that begins at a place; `nil` where it is cut off, or is none.
  private mutating func objectEnd(at start: Int) -> Int? {
    guard start < bytes.count else { return nil }
    let (kind, low) = (bytes[start] >> 4, Int(bytes[start] & 15))
    var content = start + 1
    var length: Int
    switch kind {
    case 0x0: length = 0
    case 0x1 where low <= 4, 0x2 where low <= 3: length = 1 << low
    case 0x3 where low == 3: length = 8
    case 0x8: length = low + 1
    case 0x4, 0x5, 0x6, 0x7, 0xA, 0xB, 0xC, 0xD:
      var count = low
      if low == 15 {
        guard content < bytes.count, bytes[content] >> 4 == 1, bytes[content] & 15 <= 3 else {
          return nil
        }
        let size = 1 << Int(bytes[content] & 15)
        guard content + 1 + size <= bytes.count else { return nil }
        let value = bytes[content + 1..<content + 1 + size].reduce(0) { $0 << 8 | UInt64($1) }
        guard value <= UInt64(bytes.count) else { return nil }
        count = Int(value)
        content += 1 + size
      }
      let unit =
        switch kind {
        case 0x4, 0x5, 0x7: 1
        case 0x6: 2
        case 0xD: 2 * referenceSize
        default: referenceSize
        }
      length = count * unit
      guard length <= bytes.count - content else { return nil }
      if kind >= 0xA { note(references: content..<content + length) }
    default: return nil
    }
    guard length <= bytes.count - content else { return nil }
    return content + length
  }

  private mutating func note(references: Range<Int>) {
    for place in stride(from: references.lowerBound, to: references.upperBound, by: referenceSize) {
      let number = bytes[place..<place + referenceSize].reduce(0) { $0 << 8 | Int($1) }
      greatest = max(greatest, number)
    }
  }
}
