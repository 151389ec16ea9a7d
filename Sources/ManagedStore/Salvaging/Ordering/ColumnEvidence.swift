import Salvage

/// What the rows of a table hold, place by place of a record.
struct ColumnEvidence: Sendable {
  /// What a place holds in the rows of one entity.
  struct Place: Sendable, Equatable {
    var integers = 0
    var reals = 0
    var texts = 0
    var blobs = 0
    /// The range of the integers.
    var least = Int64.max
    var greatest = Int64.min
    /// Texts with a colon, as each address has.
    var addresses = 0
    /// Blobs of 16 bytes.
    var identifiers = 0
    /// Blobs that begin as the values that may lie in files beside the store.
    var marked = 0

    var values: Int { integers + reals + texts + blobs }
  }

  /// How many rows there are.
  private(set) var rows = 0
  /// What the places hold, by Z_ENT.
  private(set) var places: [Int64: [Place]] = [:]
  /// How many values the shortest row has, and the longest.
  private(set) var shortest = Int.max
  private(set) var longest = 0

  /// Takes a row into account, whose Z_ENT is known.
  mutating func add(number: Int64, _ record: borrowing Record) {
    rows += 1
    shortest = min(shortest, record.count)
    longest = max(longest, record.count)
    var own = places.removeValue(forKey: number) ?? []
    while own.count < record.count { own.append(Place()) }
    for place in 0..<record.count { own[place].add(record, place) }
    places[number] = own
  }

  /// Whether any row holds something in a place.
  func isLive(_ place: Int) -> Bool {
    places.values.contains { place < $0.count && $0[place].values > 0 }
  }
}

extension ColumnEvidence.Place {
  fileprivate mutating func add(_ record: borrowing Record, _ place: Int) {
    switch record.kind(place) {
    case .integer:
      integers += 1
      guard let number = record.integer(place) else { break }
      least = min(least, number)
      greatest = max(greatest, number)
    case .real: reals += 1
    case .text:
      texts += 1
      if record.content(place)?.contains(UInt8(ascii: ":")) != false { addresses += 1 }
    case .blob:
      blobs += 1
      guard let bytes = record.content(place) else {
        // Too long to be all there: a mark is not ruled out, a UUID is.
        marked += 1
        break
      }
      if bytes.count == 16 { identifiers += 1 }
      if bytes.first == 1 || bytes.first == 2 { marked += 1 }
    case .null: break
    }
  }
}
