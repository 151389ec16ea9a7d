import ManagedModel
import SQLite
import StoreTables

/// The order in which objects of one entity are given to a ``StoreWriter``, for those who write many:
/// names are looked up once, and links are keys that nobody checks.
package final class RowForm {
  /// A column of the object's row that names another object.
  package enum Link: Sendable, Equatable {
    /// A to-one of the entity.
    case toOne(String)
    /// The owner in a to-many without an inverse, by the entity that declares it.
    case owner(entity: String, name: String)
  }

  /// What one object has, in the order of the form.
  package struct Row: Sendable {
    /// One for each attribute.
    package var attributes: [AttributeValue] = []
    /// One for each link: the object that it references.
    package var links: [Target?] = []
    /// One for each to-many: the keys that it references, in their order.
    package var toManys: [[Int64]] = []

    /// An object without anything.
    package init() {}
  }

  /// The object at the other end of a link.
  package struct Target: Sendable, Equatable {
    /// Its Z_PK.
    package var key: Int64
    /// Its Z_ENT.
    package var number: Int64

    /// Names an object.
    package init(key: Int64, number: Int64) {
      self.key = key
      self.number = number
    }
  }

  private struct LinkSlot {
    let index: Int
    let entityIndex: Int?
    let orderIndex: Int?
  }

  let insertion: EntityInsertion
  let attributes: [EntityInsertion.AttributeSlot]
  private let links: [LinkSlot]
  let toManys: [LinkInsertion]

  init(
    _ insertion: EntityInsertion, attributes: [String], links: [Link], toManys: [String]
  ) throws {
    self.insertion = insertion
    self.attributes = try attributes.map { name in
      guard let slot = insertion.attributes[name] else {
        throw insertion.unknown(name, as: "attribute")
      }
      return slot
    }
    self.links = try links.map { link in
      switch link {
      case .toOne(let name):
        guard let slot = insertion.toOnes[name] else {
          throw insertion.unknown(name, as: "to-one relationship")
        }
        return LinkSlot(
          index: slot.index, entityIndex: slot.entityIndex, orderIndex: slot.orderIndex)
      case .owner(let entity, let name):
        guard let slot = insertion.owners["\(entity).\(name)"] else {
          throw insertion.unknown(name, as: "owner")
        }
        return LinkSlot(index: slot.index, entityIndex: nil, orderIndex: slot.orderIndex)
      }
    }
    self.toManys = try toManys.map { name in
      guard let link = insertion.links[name] else {
        throw insertion.unknown(name, as: "to-many relationship without a to-one inverse")
      }
      return link
    }
  }

  /// Binds the links of an object; where they are ordered, it comes behind those of smaller keys.
  func bind(_ targets: [Target?], of key: Int64) throws {
    let statement = insertion.statement
    for (slot, target) in zip(links, targets) {
      guard let target else { continue }
      try statement.bind(.integer(target.key), at: slot.index)
      if let index = slot.entityIndex { try statement.bind(.integer(target.number), at: index) }
      if let index = slot.orderIndex {
        try statement.bind(.integer(OrderKey.of(key: key)), at: index)
      }
    }
  }
}
