import ManagedModel
import Salvage

/// What a column's values can be, by the model.
struct ColumnTraits: Sendable {
  /// The entities' numbers that may hold something in it.
  var holders: Set<Int64> = []
  /// Which kinds of values.
  var kind: RowShape.Column
  /// The range of whole numbers.
  var range: ClosedRange<Int64>?
  /// Z_ENT that the values are keys of; empty where they are none.
  var destinations: Set<Int64> = []
  /// The only values there are; empty for all.
  var only: Set<Int64> = []
  var isMandatory = false
  var isDate = false
  var isAddress = false
  var isIdentifier = false
  var isArchive = false
  var mayLieOutside = false
  /// What a migration that adds it writes into all rows of the table, those of other entities too.
  var filling: Int64?
  /// Whether an index begins with it.
  var isIndexed = false
  /// Whether it holds a position in an ordered relationship.
  var isOrder = false
  /// The property's name, in small letters.
  private var name = ""

  /// Those of a column of a table of the schema.
  init(_ column: StoreSchema.Column, of table: StoreSchema.Table, in schema: StoreSchema) {
    let model = schema.model
    kind = .init(declared: column.type)
    isOrder = column.content.isOrder
    holders = Set(
      model.subtree(of: table.root).filter { column.content.isHeld(by: $0, in: model) }
        .compactMap { schema.numbers[$0] })
    let (entity, name) = column.content.property
    self.name = name.lowercased()
    func numbers(below entity: String) -> Set<Int64> {
      Set(model.subtree(of: entity).compactMap { schema.numbers[$0] })
    }
    switch column.content {
    case .toOne:
      let destination = model.relationship(named: name, of: entity)?.destination
      destinations = destination.map(numbers(below:)) ?? []
      range = 1...Int64.max
      isMandatory = model.relationship(named: name, of: entity)?.isOptional == false
    case .owner:
      destinations = numbers(below: entity)
      range = 1...Int64.max
    case .toOneEntity:
      let destination = model.relationship(named: name, of: entity)?.destination
      only = destination.map(numbers(below:)) ?? []
    case .toOneOrder, .ownerOrder: break
    case .attribute:
      if let attribute = model.entity(named: entity)?.storedAttribute(named: name) {
        take(attribute)
      }
    }
  }

  private mutating func take(_ attribute: Attribute) {
    isMandatory = !attribute.isOptional
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
    case .date: isDate = true
    case .uri: isAddress = true
    case .uuid: isIdentifier = true
    case .transformable: isArchive = true
    default: break
    }
  }
}

extension ColumnTraits {
  /// How well what a place holds can be values of the column: 0 where nothing speaks against it.
  ///
  /// - Parameters:
  ///   - keys: the keys of objects, by Z_ENT.
  ///   - isIndexed: whether an index is there that begins with the values of the place.
  func score(
    _ place: Int, _ evidence: ColumnEvidence, keys: [Int64: KeySet], isIndexed: Bool
  ) -> Double {
    var (rows, values, wrong, odd) = (0, 0, 0, 0.0)
    var days = 0
    var (wholes, bits) = (0, 0)
    for (number, places) in evidence.places where place < places.count {
      let found = places[place]
      rows += holders.contains(number) ? found.rows : 0
      values += found.values
      wrong += holders.contains(number) || isFilled(found) ? self.wrong(found) : found.values
      days += found.days
      wholes += found.integers
      if found.integers > 0, found.least >= 0, found.greatest <= 1 { bits += found.integers }
    }
    var score = 0.0
    if values > 0 {
      score -= Self.most * min(1, Double(wrong) / Double(values) * 5)
      if isDate {
        // A moment is seldom a whole second, and never a flag.
        odd += 6 * Double(values - days) / Double(values)
        if values > 2, wholes == values { odd += bits == wholes ? 4 : 1 }
      } else if kind == .number, values > 2, bits == values {
        odd += 1
      }
      odd += strangers(place, evidence, keys)
      if isIndexed, !self.isIndexed { odd += 8 }
    }
    if isMandatory, rows > 0 {
      odd += 4 * Double(max(0, rows - values)) / Double(rows)
    }
    return score - min(odd, Self.most / 2)
  }

  /// What speaks for a column by its name alone: enough to choose between two that fit alike, and too
  /// little to be sure.
  func hint(_ place: Int, _ evidence: ColumnEvidence) -> Double {
    var (rows, mails, addresses, identifiers) = (0, 0, 0, 0)
    for (number, places) in evidence.places where place < places.count {
      if holders.contains(number) { rows += places[place].rows }
      mails += places[place].mails
      addresses += places[place].addresses
      identifiers += places[place].identifiers
    }
    guard rows > 0 else { return 0 }
    let found: Int
    if name.contains("mail") {
      found = mails
    } else if kind == .text, name.contains("url") || name.contains("uri") {
      found = addresses
    } else if kind == .blob, name.contains("identifier") || name.contains("uuid") {
      found = identifiers
    } else {
      return 0
    }
    return 2 * min(1, Double(found) / Double(rows))
  }

  /// What a place counts in which hardly a value can be one of the column.
  static let most = 40.0

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
        if mayLieOutside {
          found.marked
        } else if isIdentifier {
          found.identifiers
        } else if isArchive {
          // A transformer of the app's own may write anything, but hardly 16 bytes each time.
          found.identifiers == found.blobs ? 0 : found.blobs
        } else {
          found.blobs
        }
      return found.values - fitting
    case .key, .any: return 0
    }
  }

  /// What keys of a place count that are no objects of the destination.
  private func strangers(
    _ place: Int, _ evidence: ColumnEvidence, _ keys: [Int64: KeySet]
  ) -> Double {
    guard !destinations.isEmpty else { return 0 }
    var (all, known) = (0, 0)
    for row in evidence.sample {
      guard case .integer(let key) = row.value(place) else { continue }
      all += 1
      if destinations.contains(where: { keys[$0]?.contains(key) == true }) { known += 1 }
    }
    return all == 0 ? 0 : 5 * Double(all - known) / Double(all)
  }
}
