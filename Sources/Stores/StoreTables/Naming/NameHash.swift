/// Core Foundation's hash of a text, over its UTF-16 units.
///
/// The order of Core Data's dictionaries follows from it, and from that order names of tables and
/// columns (store-format-2 §1). Arithmetic wraps around.
enum NameHash {
  /// The hash by which an ordinary dictionary places a key.
  static func ordinary(_ name: String) -> UInt64 {
    withUnits(name, bytes: { longest($0) }, units: { longest($0) })
  }

  /// The hashes by which both kinds of table place a key: for a ``LateTable`` long texts enter by their start, middle
  /// and end, and the bits are mixed once more; for an ``EarlyTable`` fewer units of them enter.
  static func both(_ name: String) -> (late: UInt32, early: UInt32) {
    withUnits(name, bytes: { both(of: $0) }, units: { both(of: $0) })
  }

  /// The bytes of an ASCII text are its units, and need no copy.
  private static func withUnits<Result>(
    _ name: String, bytes: (UnsafeBufferPointer<UInt8>) -> Result,
    units: (UnsafeBufferPointer<UInt16>) -> Result
  ) -> Result {
    let plain = name.utf8.withContiguousStorageIfAvailable { buffer -> Result? in
      buffer.allSatisfy { $0 < 0x80 } ? bytes(buffer) : nil
    }
    return plain.flatMap { $0 } ?? Array(name.utf16).withUnsafeBufferPointer(units)
  }

  private static func both<Unit: FixedWidthInteger & UnsignedInteger>(
    of units: UnsafeBufferPointer<Unit>
  ) -> (late: UInt32, early: UInt32) {
    (mixed(longest(units)), shortest(units))
  }

  /// Of more than 96 units 96 enter.
  private static func longest<
    Unit: FixedWidthInteger & UnsignedInteger, Word: FixedWidthInteger & UnsignedInteger
  >(_ units: UnsafeBufferPointer<Unit>) -> Word {
    let count = units.count
    guard count > 96 else { return finished(sum(units, 0..<count), count) }
    let middle = count / 2 - 16
    let start: Word = sum(units, 0..<32)
    return finished(
      sum(units, count - 32..<count, after: sum(units, middle..<middle + 32, after: start)), count)
  }

  /// Of more than 23 units 24 enter.
  private static func shortest<Unit: FixedWidthInteger & UnsignedInteger>(
    _ units: UnsafeBufferPointer<Unit>
  ) -> UInt32 {
    let count = units.count
    guard count > 23 else { return finished(sum(units, 0..<count), count) }
    return finished(sum(units, count - 16..<count, after: sum(units, 0..<8)), count)
  }

  /// - Parameter before: the sum of the part before, which is a multiple of four long.
  private static func sum<
    Unit: FixedWidthInteger & UnsignedInteger, Word: FixedWidthInteger & UnsignedInteger
  >(_ units: UnsafeBufferPointer<Unit>, _ part: Range<Int>, after before: Word? = nil) -> Word {
    var sum = before ?? Word(truncatingIfNeeded: units.count)
    func unit(_ index: Int) -> Word { Word(truncatingIfNeeded: units[index]) }
    var index = part.lowerBound
    while index + 4 <= part.upperBound {
      let (first, second) = (unit(index) &* 16_974_593, unit(index + 1) &* 66_049)
      let (third, fourth) = (unit(index + 2) &* 257, unit(index + 3))
      sum = sum &* 67_503_105 &+ first &+ second &+ third &+ fourth
      index += 4
    }
    while index < part.upperBound {
      sum = sum &* 257 &+ unit(index)
      index += 1
    }
    return sum
  }

  private static func finished<Word: FixedWidthInteger & UnsignedInteger>(
    _ sum: Word, _ count: Int
  ) -> Word {
    sum &+ (sum &<< Word(truncatingIfNeeded: count & 31))
  }

  private static func mixed(_ hash: UInt32) -> UInt32 {
    var (a, b, c): (UInt32, UInt32, UInt32) = (0x4B61_6E65 &+ hash, 0x4B61_6E65, 1)
    for (right, left, last) in [(13, 8, 13), (12, 16, 5), (3, 10, 15)] as [(UInt32, UInt32, UInt32)]
    {
      a = (a &- b &- c) ^ (c &>> right)
      b = (b &- c &- a) ^ (a &<< left)
      c = (c &- a &- b) ^ (b &>> last)
    }
    return c
  }
}

/// Names of a hierarchy's columns, of which the second and further ones of a kind are numbered.
///
/// The number is kept under the name without it. A numbered name does not count as in use itself:
/// `foo` in two subentities and `foo1` in a third make ZFOO, ZFOO1 and ZFOO1 once more, and Core Data
/// cannot make such a store, either (store-format-2 §2).
struct NumberedNames {
  private var last: [String: Int] = [:]

  /// The name, with a number where it is in use.
  mutating func unused(_ name: String) -> String {
    guard var number = last.updateValue(0, forKey: name) else { return name }
    repeat { number += 1 } while last[name + String(number)] != nil
    last[name] = number
    return name + String(number)
  }
}

extension String {
  /// The name as Core Data writes it in an attribute's column: ASCII letters alone are made upper
  /// case, of names below 512 units (store-format-2 §2).
  var attributeColumnBase: String {
    guard utf16.count < 512 else { return uppercased() }
    return String(
      decoding: utf8.map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) ? $0 - 32 : $0 },
      as: UTF8.self)
  }
}
