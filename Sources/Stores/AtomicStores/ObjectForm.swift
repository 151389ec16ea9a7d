import ManagedModel
import SQLite

/// How objects of one entity of the file are read: found once, not for each object.
final class ObjectForm {
  /// An attribute that values of the file are of.
  final class Place {
    let attribute: Attribute

    init(_ attribute: Attribute) { self.attribute = attribute }
  }

  /// The model's name of the entity.
  let entity: String
  /// Places of its to-ones in the list of links.
  let toOnes: [Int]
  private let hasPlaces: Bool
  private let stored: [Attribute]
  private let inPlaces: [Attribute?]
  private var known: [String: Place?] = [:]

  /// - Parameter hasPlaces: whether `#0` is the first place of a binary store, and no name.
  init(_ entity: String, of model: Model, hasPlaces: Bool, toOnes: [Int]) {
    self.entity = entity
    self.toOnes = toOnes
    stored = model.attributes(of: entity).filter(\.isStored)
    inPlaces =
      hasPlaces
      ? BinaryPlaces(of: entity, in: model).attributes.map {
        model.attribute(named: $0, of: entity)
      } : []
    self.hasPlaces = hasPlaces
  }

  /// The attribute that the file has a value of under a name; `nil` where the model has none.
  func place(of written: String) -> Place? {
    if let known = known[written] { return known }
    let place = attribute(written).map(Place.init)
    known[written] = place
    return place
  }

  private func attribute(_ written: String) -> Attribute? {
    if hasPlaces, written.hasPrefix("#"), let place = Int(written.dropFirst()) {
      return inPlaces.indices.contains(place) ? inPlaces[place] : nil
    }
    guard let name = Self.name(of: written, among: stored.map(\.name)) else { return nil }
    return stored.first { $0.name == name }
  }

  /// A property by the name that the file has for it: as it is, else without regard to case.
  static func name(of written: String, among names: [String]) -> String? {
    if names.contains(written) { return written }
    let folded = written.lowercased()
    let found = names.filter { $0.lowercased() == folded }
    return found.count == 1 ? found[0] : nil
  }
}

/// The object that a to-one references, for one owner after the other: by its own side, else by the other's.
///
/// Both sides are read once in the order of the owners, not asked for each of them.
final class TargetCursor {
  struct Target {
    var key: Int64
    /// Its entity's number in the private file.
    var entity: Int
    /// The owner's place in the other side, where that has an order.
    var position: Int?
  }

  private struct Side {
    let rows: Statement
    var owner: Int64 = .min
    var isAtEnd = false

    /// Whether the side has a row of that owner, which the statement is at then.
    mutating func find(_ key: Int64) throws -> Bool {
      while !isAtEnd, owner < key {
        isAtEnd = try !rows.step()
        if !isAtEnd { owner = rows.value(at: 0).integer ?? .min }
      }
      return !isAtEnd && owner == key
    }

    var target: Target? {
      guard let key = rows.value(at: 1).integer, let entity = rows.value(at: 2).integer else {
        return nil
      }
      return Target(
        key: key, entity: Int(entity), position: rows.value(at: 3).integer.map { Int($0) })
    }
  }

  private var own: Side
  private var other: Side?

  /// - Parameters:
  ///   - inverse: the number of the relationship's inverse; `nil` where it has none.
  ///   - hasPositions: whether the inverse is ordered.
  init(
    _ connection: Connection, relationship: Int, inverse: Int?, hasPositions: Bool
  ) throws {
    let place = { (owner: String, target: String) in
      hasPositions
        ? """
        (SELECT min(place) FROM link p WHERE p.relationship = ?2 AND p.destination = \(owner)
          AND p.owner = \(target))
        """ : "NULL"
    }
    let rows = try connection.prepare(
      """
      SELECT e.owner, e.destination, o.entity, \(place("e.owner", "e.destination"))
      FROM link e INDEXED BY linkByOwner LEFT JOIN object o ON o.key = e.destination
      WHERE e.relationship = ?1 ORDER BY e.owner, e.place
      """)
    let numbers: [Value] = [.integer(Int64(relationship)), .integer(Int64(inverse ?? -1))]
    try rows.bind(hasPositions ? numbers : [numbers[0]])
    own = Side(rows: rows)
    guard let inverse else { return }
    let others = try connection.prepare(
      """
      SELECT e.destination, e.owner, o.entity, \(place("e.destination", "e.owner"))
      FROM link e INDEXED BY linkByDestination LEFT JOIN object o ON o.key = e.owner
      WHERE e.relationship = ?2 ORDER BY e.destination, e.owner
      """)
    try others.bind([.integer(Int64(relationship)), .integer(Int64(inverse))])
    other = Side(rows: others)
  }

  /// The target of an owner, which must come after those that were asked for before.
  func target(of key: Int64) throws -> Target? {
    if try own.find(key) { return own.target }
    if try other?.find(key) == true { return other?.target }
    return nil
  }
}
