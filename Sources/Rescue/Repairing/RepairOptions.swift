import ManagedModel

/// What a repair is asked for.
package struct RepairOptions: Sendable {
  /// Which of objects stays that are equal and must differ.
  package enum Kept: String, Sendable, CaseIterable {
    /// The one with the greatest key: keys are given out in order.
    case newest
    /// The one with the smallest key.
    case oldest
  }

  /// The kinds of fault to mend; empty for all that need no choice.
  package var kinds: Set<FindingKind> = []
  /// The model that made the store, where the store itself no longer has it.
  package var model: Model?
  /// What commands call that model.
  package var modelName: String?
  /// Which of equal objects stays; `nil` leaves them all.
  package var kept: Kept?
  /// The entity that rows of an unknown one become where nothing in the store shows theirs; `nil` leaves them.
  package var entity: String?
  /// Write the result here and leave the store alone.
  package var output: String?
  /// Whether the old store is kept beside the new one.
  package var keepsBackup = true
  /// Whether it is all done on a private copy, verified, and nothing put in place.
  package var isRehearsal = false

  /// Whether to repair although deleted objects can still be restored that the repair takes something from.
  package var isForced = false

  /// Everything that can be put right without a choice, in place, with a backup.
  package init() {}

  /// Whether faults of a kind are to be mended.
  func mends(_ kind: FindingKind) -> Bool {
    if kind == .uniqueness { return kept != nil }
    return kinds.isEmpty ? kind.repair == .certain : kinds.contains(kind)
  }

  /// Whether a kind was asked for by name: what is a choice there is made.
  func names(_ kind: FindingKind) -> Bool { kinds.contains(kind) }

  /// - Throws: ``CoreDataError`` of kind usage where something cannot be asked for.
  func check() throws {
    if let kind = kinds.first(where: { $0.repair == .none }) {
      let names = FindingKind.repaired.map(\.rawValue).joined(separator: ", ")
      throw CoreDataError(
        .usage, "repair cannot fix \(kind.rawValue)", hint: "It can fix: \(names).")
    }
    if entity != nil, !kinds.contains(.entityUnknown) {
      throw CoreDataError(
        .usage, "an entity was given, but no kind of fault that needs one",
        advice: "Add \(.fix, of: [FindingKind.entityUnknown.rawValue]).")
    }
    if kinds.contains(.uniqueness), kept == nil {
      throw CoreDataError(
        .usage, "missing choice: which of the equal objects to keep",
        advice:
          "Use \(.keep, of: ["newest"]) (the greatest key) or \(.keep, of: ["oldest"]).")
    }
  }
}

extension Advice.Choice {
  /// The kinds of faults that are mended.
  package static let fix = Advice.Choice("fix", "RepairOptions.kinds")
  /// The entity that objects are of.
  package static let entity = Advice.Choice("entity", "RepairOptions.entity")
  /// The model within a command that helps: no error asks the caller for it.
  package static let commandModel = Advice.Choice("commandModel", "model")
  /// Which of equal objects stays.
  package static let keep = Advice.Choice("keep", "RepairOptions.kept")
}
