import ManagedModel
import ManagedStore
import Mapping
import SQLite

/// How the rows of history follow a step: which bits of ZCOLUMNS, and which tombstones, become which.
///
/// Core Data decodes the bitmaps by the old model and encodes them by the new one, by the names of properties, so
/// that a renamed property's bit is lost (migration-2 §5). Here a renamed property keeps its bit.
struct HistoryFollowing {
  /// One entity whose objects go on with their keys.
  struct Follower {
    /// Z_ENT before.
    let number: Int64
    /// Names of the entity before and after.
    let (source, destination): (String, String)
    let before: ChangedProperties
    let after: ChangedProperties
    /// For each bit afterwards, the bits before that set it.
    let origins: [[Int]]
    /// For each tombstone column afterwards, the column whose value it takes.
    let tombstones: [Int?]
    /// Tombstone columns that the entity used before.
    let tombstoneCount: Int

    /// Whether every bit stays where it is.
    var keepsBits: Bool {
      origins.count == before.order.count && origins.indices.allSatisfy { origins[$0] == [$0] }
    }

    /// Whether every tombstone stays where it is.
    var keepsTombstones: Bool {
      tombstones.count == tombstoneCount
        && tombstones.indices.allSatisfy { tombstones[$0] == $0 }
    }

    /// The bitmap of the same properties; `nil` for one that was not written for the entity's properties.
    func bitmap(after bitmap: [UInt8]) -> [UInt8]? {
      guard let places = before.places(in: bitmap) else { return nil }
      let set = Set(places)
      return after.bitmap(of: origins.indices.filter { !set.isDisjoint(with: origins[$0]) })
    }
  }

  let followers: [Follower]
  /// Tombstone columns that ACHANGE has afterwards.
  let tombstoneCount: Int
  /// Of them, those that it does not have before.
  let addedColumns: [String]

  /// The name of the SQL function that gives a bitmap of an entity, by its number before, as it is afterwards.
  static let function = "strata_bitmap"

  /// - Returns: `nil` where the store keeps no history.
  init?(_ schemas: StepSchemas) {
    let columns = schemas.store.database.columns(of: "ACHANGE")
    guard schemas.store.hasHistory,
      columns.isSuperset(of: ["Z_PK", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID"])
    else { return nil }
    let before = ModelWalk(schemas.sourceModel, numbers: schemas.store.schema.numbers)
    let after = ModelWalk(schemas.destinationModel, numbers: schemas.destination.numbers)
    followers = schemas.followers.compactMap { entityMapping, number, _ in
      guard let from = entityMapping.source, let to = entityMapping.destination else { return nil }
      return Follower(
        entityMapping, number,
        ChangedProperties(before, entity: from, model: schemas.sourceModel),
        ChangedProperties(after, entity: to, model: schemas.destinationModel), schemas)
    }
    addedColumns = schemas.addedTombstones
    tombstoneCount = Tombstones.count(in: columns) + addedColumns.count
  }

  /// Defines the function, before anything runs.
  func define(on connection: Connection) throws {
    let changed = Dictionary(first: followers.filter { !$0.keepsBits }.map { ($0.number, $0) })
    try connection.defineFunction(Self.function, arguments: 2) { arguments in
      guard case .integer(let number) = arguments.first, case .blob(let bitmap) = arguments.last,
        let follower = changed[number]
      else { return arguments.last ?? .null }
      return follower.bitmap(after: bitmap).map { .blob($0) } ?? .null
    }
  }

  /// SQL for what a tombstone column of a row of ACHANGE becomes, by Z_ENT before.
  ///
  /// - Returns: `nil` where the column stays as it is in all rows.
  func tombstone(_ place: Int, in table: String) -> String? {
    func column(_ place: Int) -> String { "\(table).\(Tombstones.column(place))" }
    let changed = followers.filter { !$0.keepsTombstones }
    guard !changed.isEmpty else { return nil }
    let there = tombstoneCount - addedColumns.count
    let cases = changed.map { follower in
      let origin = follower.tombstones.indices.contains(place) ? follower.tombstones[place] : nil
      let value = origin.flatMap { $0 < there ? column($0) : nil } ?? "NULL"
      return "WHEN \(follower.number) THEN \(value)"
    }
    let otherwise = place < there ? column(place) : "NULL"
    return "CASE \(table).ZENTITY \(cases.joined(separator: " ")) ELSE \(otherwise) END"
  }
}

extension StepSchemas {
  /// Columns that history's table of changes needs for the values of deleted objects, and does not have.
  var addedTombstones: [String] {
    let there = Tombstones.count(in: store.database.columns(of: "ACHANGE"))
    return (there..<max(there, Tombstones.count(for: destinationModel))).map(Tombstones.column)
  }
}

extension HistoryFollowing.Follower {
  fileprivate init(
    _ entityMapping: EntityMapping, _ number: Int64, _ before: ChangedProperties,
    _ after: ChangedProperties, _ schemas: StepSchemas
  ) {
    self.number = number
    (source, destination) = (entityMapping.source ?? "", entityMapping.destination ?? "")
    (self.before, self.after) = (before, after)
    let origins = ChangeOrigins(entityMapping, before, after, schemas)
    self.origins = after.order.map(origins.places)
    let kept = schemas.sourceModel.tombstoneAttributes(of: source)
    tombstoneCount = kept.count
    tombstones = schemas.destinationModel.tombstoneAttributes(of: destination).map { name in
      entityMapping.attribute(named: name)?.source.flatMap { kept.firstIndex(of: $0) }
    }
  }
}

/// Which bits before set a bit afterwards.
private struct ChangeOrigins {
  /// What a bit stands for, whichever entity declares it: properties move up and down in a hierarchy.
  private enum Subject: Hashable {
    case attribute(String)
    case toOne(String)
    case toOneEntity(String)
    case toOneOrder(String)
    case toMany(String)
    case owner(entity: String, name: String)
    case ownerOrder(entity: String, name: String)

    init(_ bit: ModelWalk.ChangeBit) {
      switch bit {
      case .toMany(_, let name): self = .toMany(name)
      case .column(let column):
        switch column.content {
        case .attribute(_, let name): self = .attribute(name)
        case .toOne(_, let name): self = .toOne(name)
        case .toOneEntity(_, let name): self = .toOneEntity(name)
        case .toOneOrder(_, let name): self = .toOneOrder(name)
        case .owner(let entity, let name): self = .owner(entity: entity, name: name)
        case .ownerOrder(let entity, let name): self = .ownerOrder(entity: entity, name: name)
        }
      }
    }
  }

  private let mapping: EntityMapping
  private let schemas: StepSchemas
  private let before: [Subject: Int]
  private let after: Set<Subject>

  init(
    _ mapping: EntityMapping, _ before: ChangedProperties, _ after: ChangedProperties,
    _ schemas: StepSchemas
  ) {
    self.mapping = mapping
    self.schemas = schemas
    self.before = Dictionary(
      first: before.order.enumerated().map { (Subject($0.element), $0.offset) })
    self.after = Set(after.order.map(Subject.init))
  }

  func places(_ bit: ModelWalk.ChangeBit) -> [Int] {
    subjects(Subject(bit)).compactMap { before[$0] }
  }

  /// A relationship's key stands for its other columns where these are on one side only.
  private func subjects(_ subject: Subject) -> [Subject] {
    switch subject {
    case .attribute(let name):
      return mapping.attribute(named: name)?.source.map { [.attribute($0)] } ?? []
    case .toOne(let name):
      guard let former = source(of: name) else { return [] }
      return [.toOne(former), .toMany(former)]
        + (after.contains(.toOneEntity(name)) ? [] : [.toOneEntity(former)])
        + (after.contains(.toOneOrder(name)) ? [] : [.toOneOrder(former)])
    case .toOneEntity(let name):
      guard let former = source(of: name) else { return [] }
      return before[.toOneEntity(former)] == nil
        ? [.toOne(former), .toMany(former)] : [.toOneEntity(former)]
    case .toOneOrder(let name):
      return source(of: name).map { [.toOneOrder($0)] } ?? []
    case .toMany(let name):
      guard let former = source(of: name) else { return [] }
      return [.toMany(former), .toOne(former), .toOneEntity(former), .toOneOrder(former)]
    case .owner(let entity, let name):
      return owners(of: name, in: entity).flatMap { owner -> [Subject] in
        let isOrdered = after.contains(.ownerOrder(entity: entity, name: name))
        return [.owner(entity: owner.entity, name: owner.name)]
          + (isOrdered ? [] : [.ownerOrder(entity: owner.entity, name: owner.name)])
      }
    case .ownerOrder(let entity, let name):
      return owners(of: name, in: entity).map { .ownerOrder(entity: $0.entity, name: $0.name) }
    }
  }

  private func source(of relationship: String) -> String? {
    mapping.relationship(named: relationship)?.source
  }

  private func owners(of name: String, in entity: String) -> [(entity: String, name: String)] {
    schemas.mapping.origins(of: name, in: entity, schemas.destinationModel).map { origin in
      let declarer = schemas.sourceModel.declaringEntity(of: origin.name, in: origin.entity)
      return (declarer ?? origin.entity, origin.name)
    }
  }
}
