import ManagedModel

/// Replaces texts, UUIDs and single numbers by others of their kind, under one key.
///
/// Equal values become equal ones wherever they stand.
package final class Pseudonyms {
  package let hash: KeyedHash
  package let cipher: SymbolCipher
  private let classes = ScalarClasses()
  /// Entities of the model: what of an `x-coredata` URL stays.
  private let entities: Set<String>
  private var known: [[UInt8]: String] = [:]
  private static let mostKnown = 100_000

  /// - Parameter key: 32 random bytes, or what a seed gives.
  package init(key: [UInt8], entities: Set<String> = []) {
    hash = KeyedHash(key: key)
    cipher = SymbolCipher(hash)
    self.entities = entities
  }

  /// The key that follows from a seed.
  package static func key(ofSeed seed: String) -> [UInt8] {
    Digest.sha256(Array("strata anonymize\0".utf8) + Array(seed.utf8))
  }

  /// 32 random bytes.
  package static func randomKey() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }

  // MARK: - Texts

  /// Another text of the same length and shape.
  package func text(_ text: String, _ rules: TextRules? = nil) -> String {
    let bytes = Array(text.utf8)
    if let rules { return rules.replaced(text) { self.plain($0, keeping: $1, allowing: $2) } }
    if let replaced = known[bytes] { return replaced }
    let first = bytes.first { ![9, 10, 13, 32].contains($0) }
    let isStructured =
      bytes.count <= Self.longestStructure && first.map { "{[<".utf8.contains($0) } ?? false
    guard bytes.count <= Self.longestPlain || isStructured else { return long(text, bytes) }
    let replaced = plain(text, keeping: [])
    if bytes.count <= 256 {
      if known.count >= Self.mostKnown { known.removeAll(keepingCapacity: true) }
      known[bytes] = replaced
    }
    return replaced
  }

  /// Longer texts are replaced character by character, by a stream that depends on all of them.
  private static let longestPlain = 1 << 16
  /// The same of JSON and property lists.
  private static let longestStructure = 8 << 20

  private func long(_ text: String, _ bytes: [UInt8]) -> String {
    var stream = KeyedStream(hash, Array("long text".utf8) + Digest.sha256(bytes))
    var random: [UInt8] = []
    var place = 0
    func number() -> Int {
      if place + 2 > random.count { (random, place) = (stream.bytes(1 << 14), 0) }
      defer { place += 2 }
      return Int(random[place]) << 8 | Int(random[place + 1])
    }
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    for scalar in text.unicodeScalars {
      let value = Int(scalar.value)
      switch value {
      case 0x30...0x39: result.append(UInt8(0x30 + (value - 0x30 + number()) % 10))
      case 0x41...0x5A: result.append(UInt8(0x41 + (value - 0x41 + number()) % 26))
      case 0x61...0x7A: result.append(UInt8(0x61 + (value - 0x61 + number()) % 26))
      case 0..<0x80: result.append(UInt8(value))
      default:
        let other = classes.member(scalar).map {
          $0.characters[($0.place + number()) % $0.characters.count]
        }
        result += Array(String(other ?? scalar).utf8)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// - Parameters:
  ///   - kept: places of characters that stay.
  ///   - allowed: the characters that may stand in a place, where these are fewer than the alphabet's.
  private func plain(
    _ text: String, keeping kept: Set<Int>, allowing allowed: [Int: [Unicode.Scalar]] = [:]
  ) -> String {
    let scalars = Array(text.unicodeScalars)
    let uuids = Self.uuids(in: scalars)
    guard !uuids.isEmpty else {
      return TextShape(scalars, classes, keeping: kept, allowing: allowed).replaced(by: cipher)
    }
    var fixed = kept
    for range in uuids { fixed.formUnion(range) }
    if let rest = reference(behind: uuids[0], in: scalars) { fixed.formUnion(rest) }
    let shape = TextShape(scalars, classes, keeping: fixed, allowing: allowed)
    var result = Array(shape.replaced(by: cipher).unicodeScalars)
    for range in uuids where result.count == scalars.count {
      result.replaceSubrange(range, with: uuid(scalars[range]))
    }
    var view = String.UnicodeScalarView()
    view.append(contentsOf: result)
    return String(view)
  }

  /// `/Recipe/p12` behind the store's UUID, which names an object whose key stays.
  private func reference(behind uuid: Range<Int>, in scalars: [Unicode.Scalar]) -> Range<Int>? {
    var head = String.UnicodeScalarView()
    head.append(contentsOf: scalars[..<uuid.lowerBound])
    guard String(head) == "x-coredata://" else { return nil }
    var tail = String.UnicodeScalarView()
    tail.append(contentsOf: scalars[uuid.upperBound...])
    let parts = String(tail).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].isEmpty, entities.contains(String(parts[1])),
      parts[2].first == "p", parts[2].dropFirst().allSatisfy({ $0.isASCII && $0.isNumber })
    else { return nil }
    return uuid.upperBound..<scalars.count
  }

  // MARK: - UUIDs

  private static let uuidLength = 36
  private static let dashes: Set<Int> = [8, 13, 18, 23]

  /// Where UUIDs stand in a text.
  private static func uuids(in scalars: [Unicode.Scalar]) -> [Range<Int>] {
    guard scalars.count >= uuidLength, scalars.contains("-") else { return [] }
    var found: [Range<Int>] = []
    var place = 0
    while place + uuidLength <= scalars.count {
      let isUUID = (0..<uuidLength).allSatisfy { offset in
        let scalar = scalars[place + offset]
        return dashes.contains(offset)
          ? scalar == "-" : TextShape.Alphabet.hex(isUpper: true).place(of: scalar) != nil
      }
      guard isUUID else {
        place += 1
        continue
      }
      found.append(place..<place + uuidLength)
      place += uuidLength
    }
    return found
  }

  private func uuid(_ scalars: ArraySlice<Unicode.Scalar>) -> [Unicode.Scalar] {
    let isLower = scalars.contains { (0x61...0x66).contains($0.value) }
    let digits = scalars.compactMap { TextShape.Alphabet.hex(isUpper: true).place(of: $0) }
    let alphabet = TextShape.Alphabet.hex(isUpper: !isLower)
    var rest = uuid(digits: digits)[...]
    return scalars.map { $0 == "-" ? "-" : alphabet.scalar(rest.popFirst() ?? 0) }
  }

  /// Another UUID of the same version and variant.
  package func uuid(_ bytes: [UInt8]) -> [UInt8] {
    let digits = uuid(digits: bytes.flatMap { [Int($0 >> 4), Int($0 & 15)] })
    return stride(from: 0, to: digits.count - 1, by: 2).map { place -> UInt8 in
      let high = digits[place] << 4
      return UInt8(high | digits[place + 1])
    }
  }

  private func uuid(digits: [Int]) -> [Int] {
    guard digits.count == 32 else { return digits }
    // The version and the variant.
    let fixed: Set<Int> = [12, 16]
    let places = digits.indices.filter { !fixed.contains($0) }
    let replaced = cipher.replaced(
      places.map { digits[$0] }, radices: places.map { _ in 16 },
      context: Array("uuid".utf8) + fixed.sorted().map { UInt8(digits[$0]) })
    var result = digits
    for (place, digit) in zip(places, replaced) { result[place] = digit }
    return result
  }

  // MARK: - Single numbers

  /// Another whole number with as many digits, for numbers without an order, such as those in archives; 0 stays.
  package func integer(_ value: Int64, in range: ClosedRange<Int64>) -> Int64 {
    guard value != 0, value != .min, range.contains(value) else { return value }
    let digits = String(value.magnitude).utf8.map { Int($0) - 0x30 }
    let radices = [9] + digits.dropFirst().map { _ in 10 }
    var symbols = [digits[0] - 1] + digits.dropFirst()
    let context = Array("integer".utf8) + [value < 0 ? 1 : 0]
    // Numbers that do not fit are passed over: the cycle leads to one that does.
    for _ in 0..<1000 {
      symbols = cipher.replaced(symbols, radices: radices, context: context)
      let text = [symbols[0] + 1] + symbols.dropFirst()
      var number: Int64? = 0
      for digit in text {
        number = number.flatMap { number in
          let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
          let (sum, isTooMuch) = product.subtractingReportingOverflow(Int64(digit))
          return isTooLarge || isTooMuch ? nil : sum
        }
      }
      if value > 0 { number = number.flatMap { $0 == .min ? nil : -$0 } }
      if let number, range.contains(number) { return number }
    }
    return value
  }

  /// Another real number of the same magnitude; a whole one stays whole, 0 stays 0.
  package func real(_ value: Double) -> Double {
    guard value.isFinite, value != 0 else { return value }
    if value == value.rounded(.towardZero), abs(value) < 0x1p53 {
      return Double(integer(Int64(value), in: -(1 << 53)...1 << 53))
    }
    var label = Array("real".utf8)
    label.append(number: UInt32(truncatingIfNeeded: value.bitPattern))
    label.append(number: UInt32(truncatingIfNeeded: value.bitPattern >> 32))
    var stream = KeyedStream(hash, label)
    // Of the same power of two, so that nothing overflows.
    let fraction = stream.next() >> 12
    let bits = value.bitPattern & ~0xF_FFFF_FFFF_FFFF | fraction
    return bits == value.bitPattern ? value.nextUp : Double(bitPattern: bits)
  }
}
