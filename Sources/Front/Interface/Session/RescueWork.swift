import Comparison
import Editing
import ManagedStore
import Migration
import Rescue

/// What screen 5 does about a store: each kind has its bar, its log and its report.
package enum RescueWork: Sendable, Equatable {
  /// A new store of everything that can still be read.
  case salvage(SalvageOrder)
  /// A look for deleted objects and older versions; Browse shows them then, if it was asked to.
  case search(thenShow: Bool, model: String? = nil)
  /// A new store in which deleted objects are back.
  case restore(RestoreOrder)
  /// What can be put right, in the store itself, with a backup.
  case repair(RepairOrder)
  /// Changes of objects that were prepared, in the store itself, with a backup.
  case edit(EditOrder)

  /// What runs, in a word.
  var noun: String {
    switch self {
    case .salvage: "salvage"
    case .search: "search"
    case .restore: "restoration"
    case .repair: "repair"
    case .edit: "edit"
    }
  }

  /// What runs, for sentences.
  var name: String {
    switch self {
    case .search: "the search for deleted objects"
    default: "the " + noun
    }
  }

  /// What it does, for the head of its bar.
  func title(_ store: String) -> String {
    switch self {
    case .salvage(let order): "salvaging into \(order.output)"
    case .search: "looking for deleted objects in \(store)"
    case .restore(let order): "restoring deleted objects into \(order.output)"
    case .repair: "repairing \(store)"
    case .edit(let order): "writing \(order.words) to \(store)"
    }
  }

  /// What stopping it leaves.
  var left: String {
    switch self {
    case .salvage, .restore: "nothing was left of the new store"
    case .search: "the store was only read"
    case .repair: "the store is unchanged"
    case .edit: "the store is unchanged, and the changes are still prepared"
    }
  }

  /// What can be said while it runs.
  var foot: String {
    switch self {
    case .salvage: "the damaged store is only read; ^C stops and leaves nothing of the new one"
    case .search: "the store is only read; ^C stops"
    case .restore: "the store is only read; ^C stops and leaves nothing of the new one"
    case .repair, .edit:
      "the original is untouched until the last step; ^C stops and leaves it so"
    }
  }

  /// Whether something else takes the store's place.
  var changesStore: Bool {
    switch self {
    case .repair, .edit: true
    case .salvage, .search, .restore: false
    }
  }
}

/// What a person asks of a salvage.
package struct SalvageOrder: Sendable, Equatable {
  /// Where the new store is to be.
  package var output: String
  /// Path of the model that made the store, where the store itself no longer has it.
  package var model: String?
  /// Whether the -wal is left out.
  package var ignoresLog: Bool
  /// Whether the -wal seems to be another store's, so that a person says whether it is laid over the main file.
  package var isLogForeign: Bool

  /// A salvage into a new file.
  package init(
    output: String, model: String? = nil, ignoresLog: Bool = false, isLogForeign: Bool = false
  ) {
    (self.output, self.model, self.ignoresLog, self.isLogForeign) = (
      output, model, ignoresLog, isLogForeign
    )
  }

  /// What is read, as the words behind “Everything that can still be read”.
  var words: String {
    ignoresLog
      ? "without the -wal " : isLogForeign ? "with the -wal, another store's rows too, " : ""
  }
}

/// What a person asks of a restoration.
package struct RestoreOrder: Sendable, Equatable {
  /// Which of the deleted objects are to be back.
  package enum Choice: Sendable, Equatable {
    /// All of them, or all of an entity.
    case all(entity: String?)
    /// One of the rows of the ``Remains``.
    case only(ObjectID)
    /// Those that a predicate takes.
    case matching(RowFilter)
  }

  /// Where the new store is to be.
  package var output: String
  /// Which objects.
  package var choice: Choice

  /// A restoration into a new file.
  package init(output: String, choice: Choice) {
    (self.output, self.choice) = (output, choice)
  }
}

/// What a person asks of a repair.
package struct RepairOrder: Sendable, Equatable {
  /// The kinds of fault to mend; empty for all that need no choice.
  package var kinds: Set<FindingKind> = []
  /// Which of equal objects stays, where that is asked for.
  package var kept: RepairOptions.Kept?
  /// Whether to repair although deleted objects can still be restored.
  package var isForced = false

  /// A repair of some kinds of fault.
  package init(
    kinds: Set<FindingKind> = [], kept: RepairOptions.Kept? = nil, isForced: Bool = false
  ) {
    (self.kinds, self.kept, self.isForced) = (kinds, kept, isForced)
  }
}

/// How far a rescue is: a complete picture each time.
package enum RescueProgress: Sendable, Equatable {
  /// One thing is done: what, how much of it from 0 to 1, and seconds since it began.
  case single(String, Double, elapsed: Double)
  /// Several, as a migration does them.
  case parts(MigrationProgress)

  /// Part of the whole that is done, 0…1.
  var fraction: Double {
    switch self {
    case .single(_, let fraction, _): fraction
    case .parts(let progress): progress.fraction
    }
  }
}

/// What a rescue did.
package enum RescueReceipt: Sendable {
  /// What was saved of a damaged store.
  case salvaged(SalvageReport, seconds: Double)
  /// Which deleted objects are back.
  case restored(Restoration.Report, seconds: Double)
  /// What was put right.
  case repaired(RepairReceipt)
  /// What was changed and deleted.
  case edited(EditReceipt)

  /// The file that was made; `nil` where it is the store itself.
  var output: String? {
    switch self {
    case .salvaged(let report, _): report.outputPath
    case .restored(let report, _): report.salvage.outputPath
    case .repaired, .edited: nil
    }
  }
}

extension RescueReceipt: Equatable {
  /// Whether they are about the same run.
  package static func == (left: RescueReceipt, right: RescueReceipt) -> Bool {
    switch (left, right) {
    case (.salvaged(let one, let first), .salvaged(let other, let second)):
      one == other && first == second
    case (.restored(let one, let first), .restored(let other, let second)):
      one == other && first == second
    case (.repaired(let one), .repaired(let other)):
      one.seconds == other.seconds && one.kinds == other.kinds && one.left == other.left
        && one.backupPath == other.backupPath && one.notes == other.notes
    case (.edited(let one), .edited(let other)):
      one.seconds == other.seconds && one.entities == other.entities
        && one.backupPath == other.backupPath && one.notes == other.notes
    default: false
    }
  }
}

/// A receipt that can be written to a file.
package enum WrittenReceipt: Sendable, Equatable {
  /// Of a migration, or of a rehearsal.
  case migration(MigrationReceipt)
  /// Of a rescue.
  case rescue(RescueReceipt)
}

/// Prepared changes that are to be written.
package struct EditOrder: Sendable, Equatable {
  /// The list.
  package var edit: StoreEdit
  /// `3 changes`
  var words: String
  /// How many deletions a person has confirmed that the app will send to all devices.
  package var confirmedDeletions: Int?
  /// What stands for the objects as they were when the list was checked; `nil` before.
  package var rehearsed: Int?

  /// A list of changes, counted in words.
  package init(edit: StoreEdit, words: String) {
    (self.edit, self.words) = (edit, words)
  }
}

/// What writing prepared changes would do, as it was done to a private copy.
package struct EditCheck: Sendable {
  /// What was done to the copy.
  package var receipt: EditReceipt
  /// What differs then.
  package var objects: CheckedObjects

  /// What was done to a copy.
  package init(receipt: EditReceipt, objects: CheckedObjects) {
    (self.receipt, self.objects) = (receipt, objects)
  }
}

/// The objects that differ once prepared changes are made: those that were asked for, and how many others.
package struct CheckedObjects: Sendable {
  /// Objects of one entity that get the same outcome and were not asked for.
  struct Others: Sendable {
    var entity: String
    var count = 0
    /// The first of them.
    var first: [ObjectID] = []
  }

  /// What becomes of the objects that were asked for.
  private(set) var asked: [ObjectChange] = []
  /// What goes along, and what is changed from the other side, by the entity's name.
  private var deleted: [String: Others] = [:]
  private var changed: [String: Others] = [:]
  private let ids: Set<ObjectID>

  /// Objects that are named of each entity.
  private static let mostNamed = 3

  /// None yet, of a list of changes.
  package init(of edit: StoreEdit) { ids = Set(edit.objects.map(\.id) + edit.deletions) }

  /// Takes in one object that differs: all are counted, and those that were asked for are kept.
  package mutating func add(_ change: ObjectChange) {
    guard let id = change.b ?? change.a else { return }
    if ids.contains(id) { return asked.append(change) }
    if change.kind == .delete { Self.count(id, in: &deleted) } else { Self.count(id, in: &changed) }
  }

  private static func count(_ id: ObjectID, in others: inout [String: Others]) {
    var group = others[id.entity] ?? Others(entity: id.entity)
    group.count += 1
    if group.first.count < mostNamed { group.first.append(id) }
    others[id.entity] = group
  }

  /// What goes along by delete rules.
  var along: [Others] { deleted.values.sorted { $0.entity < $1.entity } }
  /// What is changed from the other side of relationships.
  var linked: [Others] { changed.values.sorted { $0.entity < $1.entity } }
}
