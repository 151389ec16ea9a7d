import ManagedModel
import Salvage
import StoreTables

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

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
  /// Which of the first 64 places hold something together, a bit for each.
  private var patterns: Set<UInt64> = []
  private static let mostPatterns = 1_000
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
    guard patterns.count < Self.mostPatterns else { return }
    var pattern: UInt64 = 0
    for place in 0..<min(64, record.count) where record.kind(place) != .null {
      pattern |= 1 << UInt64(place)
    }
    patterns.insert(pattern)
  }

  /// Whether any row holds something in one place and nothing in another; false beyond the first 64.
  func hasValue(at place: Int, without other: Int) -> Bool {
    guard (0..<64).contains(place), (0..<64).contains(other) else { return false }
    return patterns.contains {
      $0 & (1 << UInt64(place)) != 0 && $0 & (1 << UInt64(other)) == 0
    }
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

/// What a column's values can be, by the model.
struct ColumnTraits: Sendable {
  /// The entities' numbers that may hold something in it.
  private var holders: Set<Int64> = []
  /// Which kinds of values.
  private let kind: RowShape.Column
  /// The range of whole numbers.
  private var range: ClosedRange<Int64>?
  /// The only values there are; empty for all.
  private var only: Set<Int64> = []
  private var isAddress = false
  private var isIdentifier = false
  private var mayLieOutside = false
  /// What a migration that adds it writes into all rows of the table, those of other entities too.
  private var filling: Int64?

  /// Those of a column of a table of the schema.
  init(_ column: StoreSchema.Column, of table: StoreSchema.Table, in schema: StoreSchema) {
    let model = schema.model
    kind = .init(declared: column.type)
    holders = Set(
      model.subtree(of: table.root).filter { column.content.isHeld(by: $0, in: model) }
        .compactMap { schema.numbers[$0] })
    let (entity, name) = column.content.property
    switch column.content {
    case .toOne, .owner: range = 1...Int64.max
    case .toOneEntity:
      let destination = model.relationship(named: name, of: entity)?.destination
      only = Set(
        (destination.map(model.subtree(of:)) ?? []).compactMap { schema.numbers[$0] })
    case .toOneOrder, .ownerOrder: break
    case .attribute:
      if let attribute = model.entity(named: entity)?.storedAttribute(named: name) {
        take(attribute)
      }
    }
  }

  private mutating func take(_ attribute: Attribute) {
    filling =
      switch attribute.defaultValue {
      case .integer(let number): number
      case .boolean(let flag): flag ? 1 : 0
      default: nil
      }
    mayLieOutside = attribute.allowsExternalBinaryDataStorage
    switch attribute.type {
    case .boolean: range = 0...1
    case .integer16: range = Int64(Int16.min)...Int64(Int16.max)
    case .integer32: range = Int64(Int32.min)...Int64(Int32.max)
    case .uri: isAddress = true
    case .uuid: isIdentifier = true
    default: break
    }
  }

  /// How many values of a place of the records cannot be values of the column, and how many there are.
  func misfits(_ place: Int, _ evidence: ColumnEvidence) -> (wrong: Int, of: Int) {
    var (wrong, all) = (0, 0)
    for (number, places) in evidence.places where place < places.count {
      let found = places[place]
      all += found.values
      wrong += holders.contains(number) || isFilled(found) ? self.wrong(found) : found.values
    }
    return (wrong, all)
  }

  /// Whether what a place holds of an entity that has not the column is what a migration put there.
  private func isFilled(_ found: ColumnEvidence.Place) -> Bool {
    guard let filling else { return false }
    return found.integers == found.values && found.least == filling && found.greatest == filling
  }

  /// How many values of a place cannot be values of the column.
  private func wrong(_ found: ColumnEvidence.Place) -> Int {
    switch kind {
    case .integer:
      let others = found.values - found.integers
      guard found.integers > 0 else { return others }
      let isBeyond = range.map { found.least < $0.lowerBound || found.greatest > $0.upperBound }
      let isOther =
        !only.isEmpty && !(only.contains(found.least) && only.contains(found.greatest))
      return isBeyond == true || isOther ? found.values : others
    case .number: return found.values - found.integers - found.reals
    case .text: return found.values - (isAddress ? found.addresses : found.texts)
    case .blob:
      let fitting =
        mayLieOutside ? found.marked : isIdentifier ? found.identifiers : found.blobs
      return found.values - fitting
    case .key, .any: return 0
    }
  }
}

/// Texts of CREATE TABLE that are still in a file, wherever they stand: in pages that are free, behind the
/// cells of others, in older frames of a log.
///
/// Each is of a time: a table may have been rebuilt since.
struct SchemaRemnants {
  /// The columns of each text, by table.
  private var columns: [String: [[String]]] = [:]

  private static let mark = Array("CREATE TABLE ".utf8)
  /// Longer than any that Core Data writes in a page.
  private static let longest = 32_768
  /// More texts of a table than that are no history of it.
  private static let most = 64

  /// None.
  init() {}

  /// Looks for texts of tables.
  init(_ image: DatabaseImage, of tables: Set<String>) throws {
    guard !tables.isEmpty else { return }
    for number in 1...max(1, image.pageCount) {
      guard let page = try image.page(number) else { continue }
      take(page.bytes, tables)
      if case .frame = page.origin { take(try image.mainPage(number), tables) }
    }
  }

  /// Takes the texts in a page.
  mutating func take(_ bytes: [UInt8], _ tables: Set<String>) {
    for next in Self.places(of: Self.mark, in: bytes) {
      let text = bytes[(next + Self.mark.count)...].prefix(Self.longest)
        .prefix { $0 >= 0x20 && $0 < 0x7F }
      guard let (name, columns) = Self.read(String(decoding: text, as: UTF8.self)),
        tables.contains(name), self.columns[name]?.contains(columns) != true,
        self.columns[name]?.count ?? 0 < Self.most
      else { continue }
      self.columns[name, default: []].append(columns)
    }
  }

  /// Where bytes stand among others, with any behind them.
  private static func places(of mark: [UInt8], in bytes: [UInt8]) -> [Int] {
    bytes.withUnsafeBytes { bytes in
      var places: [Int] = []
      guard let base = bytes.baseAddress, let first = mark.first else { return places }
      var from = 0
      // Most pages hold none: their bytes are not looked at one by one.
      while from + mark.count < bytes.count,
        let place = memchr(base + from, Int32(first), bytes.count - mark.count - from)
      {
        if memcmp(place, mark, mark.count) == 0 { places.append(UnsafeRawPointer(place) - base) }
        from = UnsafeRawPointer(place) - base + 1
      }
      return places
    }
  }

  /// The name and the columns behind Z_OPT of `ZNAME ( Z_PK INTEGER PRIMARY KEY, … )`, with what ALTER
  /// TABLE put there; `nil` where the text ends before its last parenthesis, or is of no entity.
  static func read(_ text: String) -> (name: String, columns: [String])? {
    guard let open = text.firstIndex(of: "("), let close = text.firstIndex(of: ")"), open < close
    else { return nil }
    func plain(_ word: Substring) -> String { String(word.filter { $0 != "\"" && $0 != " " }) }
    let columns = text[text.index(after: open)..<close].split(separator: ",").map { column in
      plain(column.drop { $0 == " " }.prefix { $0 != " " })
    }
    guard columns.count > 2, columns[0] == "Z_PK", columns[1] == "Z_ENT", columns[2] == "Z_OPT"
    else { return nil }
    return (plain(text[..<open]), Array(columns.dropFirst(3)))
  }

  /// The orders of a table's columns in the texts that name all of them and no other.
  func orders(of table: StoreSchema.Table) -> [[Int]] {
    let places = Dictionary(table.columns.enumerated().map { ($1.name, $0) }) { first, _ in first }
    return (columns[table.name] ?? []).compactMap { names in
      let order = names.compactMap { places[$0] }
      return order.count == names.count && Set(order).count == table.columns.count
        && order.count == table.columns.count ? order : nil
    }
  }
}

/// Determines by the rows of a store which version of a model made it, where its metadata is gone.
package struct VersionFit: Sendable, Equatable {
  /// The versions whose tables its rows fit best, by their places; those that make the same tables all fit
  /// alike.
  package private(set) var best: [Int] = []

  /// Compares versions; none is the best where no rows show any.
  package init(
    of versions: [Model], _ source: SalvageSource, isCancelled: () -> Bool = { false }
  ) throws {
    let names = Set(
      try source.entityNumbers().filter { $0.number < EntityNumbering.firstReserved }.map(\.name))
    var fits: [LostColumns.Fit] = []
    var rows = 0
    for model in versions {
      let schema = try source.schema(for: model)
      let columns = try LostColumns(
        source, schema, tables: schema.tables, looksForTexts: false, isCancelled: isCancelled)
      var fit = try columns.fit(isCancelled: isCancelled)
      if !names.isEmpty {
        fit.contradictions += names.symmetricDifference(model.entities.map(\.name)).count
      }
      fits.append(fit)
      rows = max(rows, columns.rows)
    }
    guard rows > 0 || !names.isEmpty, let least = fits.min() else { return }
    best = fits.indices.filter { fits[$0] == least }
  }
}
