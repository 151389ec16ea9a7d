import Salvage

/// What the rows of a table tell of the columns that their values stand in, place by place of a record.
///
/// Kinds and ranges are counted of all rows; of a few the values themselves are kept.
struct ColumnEvidence: Sendable {
  /// What a place holds in the rows of one entity.
  struct Place: Sendable, Equatable {
    /// Rows that are long enough to have it.
    var rows = 0
    var integers = 0
    var reals = 0
    var texts = 0
    var blobs = 0
    /// The range of the integers.
    var least = Int64.max
    var greatest = Int64.min
    /// Numbers that are a day between 1900 and 2100, or the first or last that an app asks for.
    var days = 0
    /// Texts with a colon, as each address has.
    var addresses = 0
    /// Texts with an @, as each address of mail has.
    var mails = 0
    /// Blobs of 16 bytes.
    var identifiers = 0
    /// Blobs that begin as an archive does.
    var archives = 0
    /// Blobs that begin as the values that may lie in files beside the store.
    var marked = 0

    var values: Int { integers + reals + texts + blobs }
  }

  /// A value that is kept of a row: enough to compare it with another.
  enum Value: Sendable, Equatable {
    case none
    case integer(Int64)
    /// What tells a real, a text or a blob from others, and whether few rows share it.
    case digest(UInt64, isTelling: Bool)
  }

  /// A row of the sample.
  struct Row: Sendable {
    var key: Int64
    var values: [Value]

    /// What stands in a place; nothing where the row ends before it.
    func value(_ place: Int) -> Value { place < values.count ? values[place] : .none }
  }

  /// How many rows there are.
  private(set) var rows = 0
  /// What the places hold, by Z_ENT.
  private(set) var places: [Int64: [Place]] = [:]
  /// How many rows have so many values.
  private(set) var lengths: [Int: Int] = [:]
  /// Some of the rows, spread over all.
  private(set) var sample: [Row] = []

  private static let sampleSize = 160
  private var random: UInt64 = 0x5DEE_CE66_D021

  /// Takes a row into account, whose Z_ENT is known.
  mutating func add(_ key: Int64, number: Int64, _ record: borrowing Record) {
    rows += 1
    lengths[record.count, default: 0] += 1
    var own = places.removeValue(forKey: number) ?? []
    while own.count < record.count { own.append(Place()) }
    for place in 0..<record.count { own[place].add(record, place) }
    places[number] = own
    let slot: Int
    if sample.count < Self.sampleSize {
      slot = sample.count
    } else {
      // Each row has the same chance to stay.
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      slot = Int(random >> 33) % rows
      guard slot < Self.sampleSize else { return }
    }
    let row = Row(key: key, values: (0..<record.count).map { Value(record, $0) })
    if slot == sample.count { sample.append(row) } else { sample[slot] = row }
  }

  /// Whether any row holds something in a place.
  func isLive(_ place: Int) -> Bool {
    places.values.contains { place < $0.count && $0[place].values > 0 }
  }
}

extension ColumnEvidence.Place {
  fileprivate mutating func add(_ record: borrowing Record, _ place: Int) {
    rows += 1
    switch record.kind(place) {
    case .integer:
      integers += 1
      guard let number = record.integer(place) else { break }
      least = min(least, number)
      greatest = max(greatest, number)
      if Self.isDay(Double(number)) { days += 1 }
    case .real:
      reals += 1
      if case .real(let number) = record.value(place), Self.isDay(number) { days += 1 }
    case .text:
      texts += 1
      if record.content(place)?.contains(UInt8(ascii: ":")) != false { addresses += 1 }
      if record.content(place)?.contains(UInt8(ascii: "@")) == true { mails += 1 }
    case .blob:
      blobs += 1
      guard let bytes = record.content(place) else {
        // Too long to be all there: a mark is not ruled out, a UUID is.
        archives += 1
        marked += 1
        break
      }
      if bytes.count == 16 { identifiers += 1 }
      if bytes.starts(with: Array("bplist".utf8)) || bytes.starts(with: [4, 11])
        || bytes.starts(with: Array("<?xml".utf8))
      {
        archives += 1
      }
      if bytes.first == 1 || bytes.first == 2 { marked += 1 }
    case .null, nil: break
    }
  }

  /// Seconds from 2001 that an app would save as a date.
  private static func isDay(_ seconds: Double) -> Bool {
    (-3.2e9...3.2e9).contains(seconds) || seconds == -63_114_076_800
      || seconds == 64_092_211_200 || seconds == -62_135_769_600
  }
}

extension ColumnEvidence.Value {
  /// The value of a record's column.
  init(_ record: borrowing Record, _ column: Int) {
    if let number = record.integer(column) {
      self = .integer(number)
      return
    }
    switch record.value(column) {
    case .real(let number): self = .digest(Self.mix(1, [number.bitPattern]), isTelling: true)
    case .text(let bytes): self = .digest(Self.mix(2, bytes), isTelling: bytes.count >= 4)
    case .blob(let bytes): self = .digest(Self.mix(3, bytes), isTelling: bytes.count >= 4)
    case .integer(let number): self = .integer(number)
    case .null, nil: self = record.kind(column) == .null ? .none : .digest(0, isTelling: false)
    }
  }

  private static func mix<T: FixedWidthInteger>(_ kind: UInt64, _ values: [T]) -> UInt64 {
    values.reduce(0xCBF2_9CE4_8422_2325 ^ kind) {
      ($0 ^ UInt64(truncatingIfNeeded: $1)) &* 0x0000_0100_0000_01B3
    }
  }
}
