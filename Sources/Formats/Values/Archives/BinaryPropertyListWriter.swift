/// Writes `bplist00` the way Apple's does: objects in the order they are met, equal scalars once.
struct BinaryPropertyListWriter {
  /// An object with its references already numbered.
  private enum Item {
    case scalar(PropertyListValue)
    case array([Int])
    case dictionary(keys: [Int], values: [Int])
  }

  private struct Scalar: Hashable {
    var tag: UInt8
    var bytes: [UInt8]
  }

  private var items: [Item] = []
  private var strings: [String: Int] = [:]
  private var scalars: [Scalar: Int] = [:]

  mutating func write(_ value: PropertyListValue) -> [UInt8] {
    let top = number(value)
    let referenceSize = Self.size(of: UInt64(items.count))
    var bytes = BinaryPropertyListReader.magic
    var offsets: [Int] = []
    for item in items {
      offsets.append(bytes.count)
      switch item {
      case .scalar(let value): Self.append(value, to: &bytes)
      case .array(let references):
        Self.append(marker: 0xA0, count: references.count, to: &bytes)
        for reference in references {
          Self.append(UInt64(reference), size: referenceSize, to: &bytes)
        }
      case .dictionary(let keys, let values):
        Self.append(marker: 0xD0, count: keys.count, to: &bytes)
        for reference in keys + values {
          Self.append(UInt64(reference), size: referenceSize, to: &bytes)
        }
      }
    }
    let table = bytes.count
    let offsetSize = Self.size(of: UInt64(table))
    for offset in offsets { Self.append(UInt64(offset), size: offsetSize, to: &bytes) }
    bytes.append(contentsOf: [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)])
    Self.append(UInt64(items.count), size: 8, to: &bytes)
    Self.append(UInt64(top), size: 8, to: &bytes)
    Self.append(UInt64(table), size: 8, to: &bytes)
    return bytes
  }

  private mutating func number(_ value: PropertyListValue) -> Int {
    switch value {
    case .array(let values):
      let index = items.count
      items.append(.array([]))
      items[index] = .array(values.map { number($0) })
      return index
    case .dictionary(let values):
      let index = items.count
      items.append(.array([]))
      let pairs = values.sortedByBytes(\.key)
      let keys = pairs.map { number(.string($0.key)) }
      items[index] = .dictionary(keys: keys, values: pairs.map { number($0.value) })
      return index
    case .string(let text):
      if let known = strings[text], case .scalar(.string(let same)) = items[known],
        same.utf8.elementsEqual(text.utf8)
      {
        return known
      }
      strings[text] = items.count
    default:
      var bytes: [UInt8] = []
      Self.append(value, to: &bytes)
      let key = Scalar(tag: bytes.first ?? 0, bytes: bytes)
      if let known = scalars[key] { return known }
      scalars[key] = items.count
    }
    items.append(.scalar(value))
    return items.count - 1
  }

  private static func append(_ value: PropertyListValue, to bytes: inout [UInt8]) {
    switch value {
    case .null, .array, .dictionary: bytes.append(0x00)
    case .boolean(let value): bytes.append(value ? 0x09 : 0x08)
    case .integer(let value): append(integer: value, to: &bytes)
    case .real(let value):
      bytes.append(0x23)
      append(value.bitPattern, size: 8, to: &bytes)
    case .date(let value):
      bytes.append(0x33)
      append(value.bitPattern, size: 8, to: &bytes)
    case .data(let value):
      append(marker: 0x40, count: value.count, to: &bytes)
      bytes.append(contentsOf: value)
    case .string(let text):
      if text.utf8.allSatisfy({ $0 < 0x80 }) {
        append(marker: 0x50, count: text.utf8.count, to: &bytes)
        bytes.append(contentsOf: text.utf8)
      } else {
        append(marker: 0x60, count: text.utf16.count, to: &bytes)
        for unit in text.utf16 { append(UInt64(unit), size: 2, to: &bytes) }
      }
    case .uid(let value):
      let number = UInt64(clamping: value)
      let size = size(of: number)
      bytes.append(0x80 | UInt8(size - 1))
      append(number, size: size, to: &bytes)
    }
  }

  private static func append(integer value: Int64, to bytes: inout [UInt8]) {
    // Negative numbers always take eight bytes: shorter ones are read as unsigned.
    let size = value < 0 ? 8 : size(of: UInt64(value))
    bytes.append(0x10 | UInt8(size.trailingZeroBitCount))
    append(UInt64(bitPattern: value), size: size, to: &bytes)
  }

  private static func append(marker: UInt8, count: Int, to bytes: inout [UInt8]) {
    if count < 15 {
      bytes.append(marker | UInt8(count))
    } else {
      bytes.append(marker | 15)
      append(integer: Int64(count), to: &bytes)
    }
  }

  private static func append(_ value: UInt64, size: Int, to bytes: inout [UInt8]) {
    for shift in stride(from: (size - 1) * 8, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
    }
  }

  /// 1, 2, 4 or 8 bytes.
  private static func size(of value: UInt64) -> Int {
    value < 1 << 8 ? 1 : value < 1 << 16 ? 2 : value < 1 << 32 ? 4 : 8
  }
}
