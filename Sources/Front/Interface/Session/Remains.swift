import ManagedModel
import ManagedStore
import Rescue

/// What was found of deleted objects and of earlier states of objects: a store of its own, which
/// Browse shows as it shows the store itself.
package struct Remains: Sendable, Equatable {
  /// What was found of an entity.
  package struct Entity: Sendable, Equatable {
    /// Its name.
    package var name: String
    /// Objects that are not in the store any more.
    package var deleted: Int
    /// Earlier states of objects.
    package var older: Int
    /// Deleted objects that were never saved.
    package var unsaved = 0
    /// Objects that may be lost, and not deleted, in a state that was found elsewhere.
    package var lost = 0

    /// What was found of an entity.
    package init(
      name: String, deleted: Int, older: Int, unsaved: Int = 0, lost: Int = 0
    ) {
      (self.name, self.deleted, self.older) = (name, deleted, older)
      (self.unsaved, self.lost) = (unsaved, lost)
    }
  }

  /// Those of which something was found, by name.
  package var entities: [Entity]
  /// Of which entities keys are in no row that were not found either.
  package var missed: [Undeletion.Missed] = []
  /// Whether deleted rows that were not found were probably wiped: what they may have been in holds zeros.
  package var isWiped: Bool?
  /// What a person should know, as sentences.
  package var notes: [String]
  /// The store that the rows are in.
  package var store: StoreSummary

  /// What was found, as a store.
  package init(
    entities: [Entity], isWiped: Bool? = nil, notes: [String] = [], store: StoreSummary
  ) {
    (self.entities, self.isWiped, self.notes, self.store) = (entities, isWiped, notes, store)
  }

  /// Objects that are not in the store any more.
  var deleted: Int { entities.reduce(0) { $0 + $1.deleted } }
  /// Earlier states of objects.
  var older: Int { entities.reduce(0) { $0 + $1.older } }
  /// Deleted objects that were never saved.
  var unsaved: Int { entities.reduce(0) { $0 + $1.unsaved } }

  /// Objects that may be lost, and not deleted.
  var lost: Int { entities.reduce(0) { $0 + $1.lost } }

  var isEmpty: Bool { deleted + lost + older == 0 }

  /// What was found, in a line.
  var summary: String {
    guard !isEmpty else {
      return isWiped == true
        ? "no deleted object and no older state was found: freed blocks and free pages hold zeros"
        : "no deleted object and no older state was found"
    }
    return
      "\(NumberText.counted(deleted, "deleted object")), "
      + (lost > 0 ? "\(NumberText.grouped(lost)) that may be lost instead, " : "")
      + NumberText.counted(older, "older version")
      + (unsaved > 0 ? " (\(NumberText.grouped(unsaved)) never saved)" : "")
  }
}

/// Where a row of the ``Remains`` comes from.
package struct RecoveredRowSource: Sendable, Equatable {
  /// Whether its object is not in the store any more; else it is an earlier state of one.
  package var isDeleted: Bool
  /// Its key and the place that it was found in, in words.
  package var text: String

  /// Where a row comes from.
  package init(isDeleted: Bool, text: String) {
    (self.isDeleted, self.text) = (isDeleted, text)
  }

  /// The same with what the row is.
  var words: String { (isDeleted ? "deleted" : "older") + "  " + text }
}
