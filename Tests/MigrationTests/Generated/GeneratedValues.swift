import ManagedModel
import ManagedStore
import TestSupport

/// Values of every type: few enough that they repeat, odd enough that a wrong turn shows.
enum GeneratedValues {
  static let types: [AttributeType] = [
    .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date,
    .binary, .uuid, .uri, .transformable,
  ]

  /// Those that become one another.
  static let numbers: [AttributeType] = [
    .boolean, .integer16, .integer32, .integer64, .float, .double, .decimal,
  ]

  /// - Parameter isSmall: whole numbers of 0 and 1 only, which fit every width.
  static func value(
    of type: AttributeType, isSmall: Bool, using generator: inout SeededGenerator
  ) -> AttributeValue {
    func pick<T>(_ items: [T]) -> T { items[Int.random(in: 0..<items.count, using: &generator)] }
    switch type {
    case .integer16:
      return .integer(isSmall ? pick([0, 1]) : pick([0, 1, -1, 42, 32767, -32768]))
    case .integer32:
      return .integer(
        isSmall ? pick([0, 1]) : pick([0, 7, 70_000, 2_147_483_647, -2_147_483_648]))
    case .integer64:
      return .integer(isSmall ? pick([0, 1]) : pick([0, 5, 1 << 40, .max, .min]))
    case .boolean:
      return .boolean(pick([true, false]))
    case .decimal:
      return .decimal(pick(["0", "1.5", "-12.25", "1000000", "0.1", "123456789.125", "0.0000001"]))
    case .double:
      return .double(pick([0, 1.5, -2.25, 1e300, 0.1]))
    case .float:
      return .double(pick([0, 1.5, -0.125, 3.25]))
    case .date:
      return .date(pick([0, 86400, 700_000_000.123456, -1e9]))
    case .string:
      return .string(pick(strings))
    case .uri:
      return .uri(
        pick(["https://example.com/%C3%A4?x=1#y", "", "x-coredata://A/B/p1", "file:///tmp/a%20b"]))
    case .uuid:
      return .uuid([UInt8](repeating: pick([0, 1, 127, 255]), count: 16))
    case .binary, .transformable:
      return .bytes(pick(blobs))
    case .undefined, .objectID, .composite:
      return .null
    }
  }

  /// One that no other object has, for data that a constraint may be laid over.
  static func unique(of type: AttributeType, number: Int) -> AttributeValue? {
    switch type {
    case .string: .string("no. \(number)")
    case .integer16, .integer32, .integer64: .integer(Int64(number))
    case .uri: .uri("https://example.com/\(number)")
    case .date: .date(Double(number) * 0.5)
    case .uuid:
      .uuid([UInt8](repeating: 0, count: 14) + [UInt8(number >> 8 & 255), UInt8(number & 255)])
    default: nil
    }
  }

  /// Above the size from which bytes may lie in a file of their own.
  static func large(number: Int) -> AttributeValue {
    .bytes(
      [UInt8](
        repeating: UInt8(truncatingIfNeeded: number),
        count: StoreWriter.externalThreshold + 1 + number % 50))
  }

  /// The same letter composed and decomposed: equal for Swift, not for SQLite.
  private static let strings = [
    "", "Ann", "O'Hara", "\u{E9}", "e\u{301}", "日本語", "🧑‍🚀", "a\nb", "NULL", "1", "1.0", "x'00'",
    String(repeating: "long ", count: 60),
  ]

  /// Some begin as the marks of columns do that may refer to a file.
  private static let blobs: [[UInt8]] = [
    [], [0], [1], [1, 2, 3], [2, 65, 66, 0], [255, 254, 0, 1], [UInt8](repeating: 9, count: 300),
  ]
}
