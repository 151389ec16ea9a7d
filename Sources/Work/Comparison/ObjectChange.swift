import ManagedStore

/// An object that two stores, or two states of one store, do not hold alike.
public struct ObjectChange: Sendable, Equatable {
  /// What became of an object between the first store and the second.
  public enum Kind: String, Sendable, CaseIterable {
    /// Only the second store has it.
    case insert
    /// Both have it, with other values or references.
    case update
    /// Only the first store has it.
    case delete
  }

  /// A value of one side.
  public struct Value: Sendable, Equatable {
    /// As a cursor reads it: of a long file of external data the beginning.
    public var value: PropertyValue
    /// SHA-256 of the whole file where ``value`` has only its beginning.
    public var sha256: String?
  }

  /// An attribute whose value differs.
  public struct AttributeChange: Sendable, Equatable {
    /// From the attribute's name in the second store down to that of an element of a composite attribute.
    public var path: [String]
    /// The value in the first store; `nil` for an object that is inserted.
    public var old: Value?
    /// The value in the second store; `nil` for an object that is deleted.
    public var new: Value?
  }

  /// A relationship that leads to other objects, or to the same in another order.
  public struct RelationshipChange: Sendable, Equatable {
    /// Its name in the second store.
    public var name: String
    /// Objects of the second store that it leads to only there.
    public var added: [ObjectID]
    /// Objects of the first store that it led to only there.
    public var removed: [ObjectID]
    /// Whether objects that it leads to in both stand in another order.
    public var isReordered = false
  }

  /// What became of it.
  public var kind: Kind
  /// The object in the first store; `nil` for one that is inserted.
  public var a: ObjectID?
  /// The object in the second store; `nil` for one that is deleted.
  public var b: ObjectID?
  /// What a person would call it by, as the second store has it where it is there; empty without a text.
  public var label: String
  /// Attributes that differ; of an object that only one store has, all that have a value.
  public var attributes: [AttributeChange]
  /// Relationships that differ; of an object that only one store has, all that lead to something.
  public var relationships: [RelationshipChange]

  /// Name of its entity, as the second store has it where the object is there.
  public var entity: String { (b ?? a)?.entity ?? "" }
}

extension ObjectChange {
  /// A change of an object that has the same name in both states; one that is deleted is only in the first.
  package init(
    _ kind: Kind, of id: ObjectID, label: String = "", attributes: [AttributeChange] = [],
    relationships: [RelationshipChange] = []
  ) {
    self.init(
      kind: kind, a: kind == .insert ? nil : id, b: kind == .delete ? nil : id, label: label,
      attributes: attributes, relationships: relationships)
  }
}

extension ObjectChange {
  /// The same from the second store to the first.
  package var swapped: ObjectChange {
    var swapped = self
    (swapped.a, swapped.b) = (b, a)
    switch kind {
    case .insert: swapped.kind = .delete
    case .delete: swapped.kind = .insert
    case .update: break
    }
    swapped.attributes = attributes.map { change in
      var change = change
      (change.old, change.new) = (change.new, change.old)
      return change
    }
    swapped.relationships = relationships.map { change in
      var change = change
      (change.added, change.removed) = (change.removed, change.added)
      return change
    }
    return swapped
  }
}

extension ObjectChange.AttributeChange {
  /// A value that becomes another.
  package init(_ path: [String], from old: PropertyValue, to new: PropertyValue) {
    self.init(path: path, old: .init(value: old), new: .init(value: new))
  }
}

extension ObjectChange.RelationshipChange {
  /// Objects that come and go.
  package init(_ name: String, added: [ObjectID], removed: [ObjectID]) {
    self.init(name: name, added: added, removed: removed)
  }
}
