import ManagedModel

extension StoreSchema.JoinTable {
  /// One side of a many-to-many: a relationship, with the entity that declares it.
  package struct Side: Hashable, Sendable, CustomStringConvertible {
    /// The entity that declares the relationship.
    package var entity: String
    /// The relationship's name.
    package var relationship: String

    /// Names one side; nobody asks whether a model has it.
    package init(entity: String, relationship: String) {
      self.entity = entity
      self.relationship = relationship
    }

    /// The side as `Entity.relationship`.
    package var description: String { "\(entity).\(relationship)" }
  }

  /// The side that names the table.
  package var side: Side { Side(entity: entity, relationship: relationship) }
  /// The other side.
  package var otherSide: Side { Side(entity: inverseEntity, relationship: inverse) }

  /// Whether the table holds the links of that side.
  package func isOf(_ side: Side) -> Bool { side == self.side || side == otherSide }

  /// Its columns, in the order of a fresh table.
  package var columns: [String] {
    [first, second] + [firstOrder, secondOrder].compactMap { $0 }
  }
}

extension StoreSchema {
  /// The join table that a relationship, own or inherited, is kept in.
  package func join(of relationship: String, in entity: String) -> JoinTable? {
    model.declaringEntity(of: relationship, in: entity).flatMap { declarer in
      joinPlaces[declarer]?[relationship].map { joins[$0] }
    }
  }

  /// The tables by the names that Core Data computes for this model and these entity IDs.
  package var expected: StoreSchema { StoreSchema(model: model, numbers: numbers) }
}
