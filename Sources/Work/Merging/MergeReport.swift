import Comparison
import ManagedStore

/// What becomes of the objects of two stores in one.
package struct MergeReport: Sendable, Equatable {
  /// Objects of one entity.
  package struct EntityCount: Sendable, Equatable {
    /// Name of the entity.
    package let entity: String
    /// What pairs its objects, and the attributes that do.
    package internal(set) var pairing: EntityPairing
    /// Of objects that nothing pairs: the attributes that pair the others, which these have no value of.
    package internal(set) var lacking: [String] = []
    /// Objects of the older store.
    package internal(set) var old = 0
    /// Objects of the newer store: all of them are in the result.
    package internal(set) var new = 0
    /// Objects that both have.
    package internal(set) var paired = 0
    /// Objects of the newer store that got a value or a link of the older one.
    package internal(set) var changed = 0
    /// Objects that only the older store has, and that come in.
    package internal(set) var added = 0
    /// Those among them that have another key than before.
    package internal(set) var renumbered = 0
    /// Those among them that are known to have been deleted in the newer store.
    package internal(set) var returned = 0
    /// Objects of the older store that are not in the result.
    package internal(set) var leftOut = 0
    /// Objects of the result.
    package internal(set) var total = 0
  }

  /// Who gave the values of two objects that differ.
  package enum Winner: String, Sendable {
    /// The older store.
    case old
    /// The newer store.
    case new
    /// Nobody: nothing says who is to.
    case undecided
  }

  /// Two objects that are one, and of which both stores changed something.
  package struct Conflict: Sendable, Equatable {
    /// The properties that both changed, with the older store's value and the newer one's.
    package let change: ObjectChange
    /// Whose values are in the result.
    package let winner: Winner
  }

  /// Why something of the older store, or a link of the newer one, is not in the result.
  package enum Reason: String, Sendable {
    /// It was deleted in the newer store, and is to stay deleted.
    case deleted
    /// An object that it cannot be without is not in the result.
    case dependent
    /// Another object has the value, which the model says is unique.
    case uniqueness
    /// The object at the other end has another partner, and can have one only.
    case oneToOne = "one-to-one"
    /// Its file is missing, and the newer store has content.
    case missingFile = "missing-file"
  }

  /// An object, or a value of one, that is not in the result.
  package struct Loss: Sendable, Equatable {
    /// Of kind delete the whole object as the older store has it; of kind update the values that lost, with what
    /// is in their place.
    package let change: ObjectChange
    /// Why.
    package let reason: Reason
  }

  /// The older store, as it was given.
  package let oldPath: String
  /// The newer store.
  package let newPath: String
  /// The copy that both come from.
  package let basePath: String?
  /// The result; `nil` where nothing was written.
  package internal(set) var outputPath: String?
  /// By name.
  package internal(set) var entities: [EntityCount] = []
  /// The first of those that differ, in the order of entities and keys.
  package internal(set) var conflicts: [Conflict] = []
  /// How many there are.
  package internal(set) var conflictCount = 0
  /// How many of them nothing decides.
  package internal(set) var undecided = 0
  /// What is not in the result.
  package internal(set) var losses: [Loss] = []
  /// Links of many-to-many relationships that come from the older store.
  package internal(set) var links = 0
  /// References of the older store to objects that are not in the result.
  package internal(set) var lostLinks = 0
  /// Files of external data that were copied from the older store.
  package internal(set) var files = 0
  /// Files of external data of the older store that are missing: values name them and have none.
  package internal(set) var missingFiles = 0
  /// Entities that nothing pairs, of which both stores have objects; of others the objects that have no value of
  /// what pairs them.
  package internal(set) var unpaired: [EntityCount] = []
  /// What a person should know, as sentences.
  package internal(set) var notes: [String] = []
  /// The number of the transaction that the merge adds to history; `nil` where the newer store keeps none, or where
  /// nothing of it changes.
  package internal(set) var transaction: Int64?
  /// Whether the newer store is mirrored to iCloud.
  package internal(set) var isMirrored = false
  /// How it is known what was deleted in the newer store; `nil` where it is not.
  package internal(set) var deletionSource: DeletionSource?

  /// What shows which objects were deleted in the newer store.
  package enum DeletionSource: String, Sendable {
    /// The copy that both come from has them.
    case base
    /// The newer store's history says so.
    case history
  }

  /// Conflicts that are kept in full.
  package static let mostConflicts = 10_000

  /// Objects of the older store that come in.
  package var added: Int { entities.reduce(0) { $0 + $1.added } }
  /// Objects of the newer store that got something of the older one.
  package var changed: Int { entities.reduce(0) { $0 + $1.changed } }
  /// Objects of the older store that are not in the result.
  package var leftOut: Int { entities.reduce(0) { $0 + $1.leftOut } }
  /// Whether the result would be made: everything is paired and decided.
  package var canRun: Bool { unpaired.isEmpty && undecided == 0 }

  init(oldPath: String, newPath: String, basePath: String?) {
    (self.oldPath, self.newPath, self.basePath) = (oldPath, newPath, basePath)
  }

  mutating func count(_ entity: String, _ change: (inout EntityCount) -> Void) {
    guard let index = entities.firstIndex(where: { $0.entity == entity }) else { return }
    change(&entities[index])
  }

  /// Says of a to-one that was decided for the older store that the newer store's counts: that object is not in the
  /// result.
  mutating func keepNew(_ name: String, of entity: String, _ key: Int64) {
    for (index, conflict) in conflicts.enumerated() where conflict.winner == .old {
      guard conflict.change.entity == entity, conflict.change.b?.key == key else { continue }
      var (rest, change) = (conflict.change, conflict.change)
      change.relationships.removeAll { $0.name != name }
      guard !change.relationships.isEmpty else { continue }
      change.attributes = []
      rest.relationships.removeAll { $0.name == name }
      let kept = Conflict(change: change, winner: .new)
      guard !rest.attributes.isEmpty || !rest.relationships.isEmpty else {
        conflicts[index] = kept
        return
      }
      conflicts[index] = Conflict(change: rest, winner: .old)
      conflicts.insert(kept, at: index + 1)
      conflictCount += 1
      return
    }
  }

  mutating func add(_ conflict: Conflict) {
    conflictCount += 1
    if conflict.winner == .undecided { undecided += 1 }
    if conflicts.count < Self.mostConflicts { conflicts.append(conflict) }
  }
}
