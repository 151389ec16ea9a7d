import ManagedModel
import Salvage

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
