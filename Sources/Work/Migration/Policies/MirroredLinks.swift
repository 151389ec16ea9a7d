import ManagedStore
import SQLite

/// Statements that set what the mapping says of relationships.
struct CarriedLinks {
  var statements: [Statement]
  /// The to-many that they set, where to-ones give the same.
  var side: MirroredSide?
}

/// Which links of to-manys are not written, since the to-ones at their other side are.
///
/// That holds for as long as all policies concerned leave both sides to the mapping. What turns out
/// not to be given by the other side is owed, and written before anybody could see the difference.
struct MirroredLinks {
  /// Links of a range of objects that were left to mappings that come later.
  struct Owed {
    var links: CarriedLinks
    var range: [Value]
  }

  private let sides: [MirroredSide]
  private let schema: StoreSchema
  private let columns: Set<String>
  private var known: [Place: String?] = [:]
  /// Columns that a policy sets by itself.
  private var byHand: Set<String> = []
  /// Mappings that are done with their relationships, and whether the mapping gave all of them.
  private var done: [String: Bool] = [:]
  private var owed: [Owed] = []

  private struct Place: Hashable {
    var entity: String
    var relationship: String
  }

  init(_ mapped: MappingLayout) throws {
    sides = try mapped.policyMappings.isEmpty ? [] : mapped.mirroredSides()
    schema = mapped.schema
    columns = Set(sides.map(\.column))
  }

  func side(of relationship: String, in mapping: String) -> MirroredSide? {
    sides.first { $0.relationship == relationship && $0.mapping == mapping }
  }

  func isMirrored(_ column: String) -> Bool { columns.contains(column) }

  /// Whether links need not be written now, as the to-ones are or will be.
  mutating func areTold(
    _ links: CarriedLinks, of range: [Value], isPlain: (String) -> Bool
  ) -> Bool {
    guard let side = links.side, !byHand.contains(side.column), isPlain(side.mapping),
      side.tellers.allSatisfy({ isPlain($0) && done[$0] != false })
    else { return false }
    if side.tellers.contains(where: { done[$0] == nil }) {
      owed.append(Owed(links: links, range: range))
    }
    return true
  }

  /// Notes that a mapping is done with its relationships.
  ///
  /// - Returns: what is to be written, since it does not say all of them.
  mutating func finish(_ mapping: String, isCarried: Bool) -> [Owed] {
    done[mapping] = isCarried
    let concerned = take { $0.tellers.contains(mapping) }
    guard isCarried else { return concerned }
    owed += concerned.filter { $0.links.side?.tellers.allSatisfy { done[$0] == true } == false }
    return []
  }

  /// What is to be written before anybody looks at a relationship, or before a policy sets it by
  /// itself.
  mutating func settle(_ relationship: String, of entity: String, isSet: Bool) -> [Owed] {
    guard !columns.isEmpty, let column = column(of: relationship, in: entity) else { return [] }
    if isSet { byHand.insert(column) }
    return owed.isEmpty ? [] : take { $0.column == column }
  }

  /// What is to be written before anything else is associated.
  mutating func settleAll() -> [Owed] { take { _ in true } }

  private mutating func take(_ isMeant: (MirroredSide) -> Bool) -> [Owed] {
    let taken = owed.filter { $0.links.side.map(isMeant) ?? true }
    owed.removeAll { $0.links.side.map(isMeant) ?? true }
    return taken
  }

  private mutating func column(of relationship: String, in entity: String) -> String? {
    let place = Place(entity: entity, relationship: relationship)
    if let column = known[place] { return column }
    let column = schema.linkColumn(of: relationship, in: entity).flatMap {
      columns.contains($0) ? $0 : nil
    }
    known[place] = .some(column)
    return column
  }
}
