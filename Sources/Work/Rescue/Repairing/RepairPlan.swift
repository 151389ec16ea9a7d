import Files
import ManagedModel
import ManagedStore
import Migration
import ModelSearch

/// What of a store's faults is to be mended, found by looking alone.
struct RepairPlan {
  /// The faults that are mended.
  let faults: [Finding]
  /// Every error and warning that was there before.
  let before: Diagnosis

  /// - Throws: ``CoreDataError`` of kind unreadable where only salvaging helps, of kind refused where a
  ///   model is needed and not there.
  init(
    of path: String, _ options: RepairOptions, isCancelled: @escaping () -> Bool
  ) throws {
    try options.check()
    before = try Diagnosis(
      of: path, model: options.model, modelName: options.modelName, isCancelled: isCancelled)
    // The -wal of the store as it is does not fit the repaired one.
    if let fault = before.findings.first(where: {
      $0.severity == .error && $0.kind.isBeyondRepair || $0.kind == .notDownloaded
    }) {
      throw CoreDataError(
        .unreadable, code: .persistentStoreOpen,
        "not repaired: \(fault.sentence.asClause) [\(fault.kind.rawValue)]", path: path,
        advice: fault.command.map { "What helps: \($0)" } ?? fault.advice)
    }
    if before.modelSource == nil, let refusal = before.refusal { throw refusal }
    guard before.isComplete else {
      let reason =
        before.findings.first { $0.kind == .unchecked }?.sentence
        ?? "The store could not be checked completely."
      throw CoreDataError(
        .unreadable, "not repaired: \(reason.asClause)", path: path,
        advice: "\(.deed("diagnosis"), of: [ShellText.quoted(path)]) shows what is wrong with it.")
    }
    if let fault = before.findings.first(where: { $0.kind == .versionHashes }) {
      throw CoreDataError(
        .refused, code: .persistentStoreIncompatibleVersionHash, fault.sentence.asClause,
        path: path, advice: "Give the model that made the store with \(.model), or leave it out.")
    }
    if options.names(.tableMissing), !options.isForced,
      let fault = before.findings.first(where: {
        $0.kind == .tableMissing && ![.repair, .repairByModel].contains($0.remedy)
      })
    {
      let place = StorePlace(path: path, model: options.modelName)
      let recovery: Advice =
        fault.remedy.command(for: fault.kind, place).map { "What may recover its rows: \($0). " }
        ?? ""
      throw CoreDataError(
        .refused, code: .persistentStoreIncompatibleSchema,
        "not repaired: \(fault.sentence.asClause)", path: path,
        advice: "\(recovery)To create it empty, use \(.force).")
    }
    let isRaw = before.modelSource == .raw
    // An index that would keep objects apart which are equal, and stay so, cannot be made.
    let leftEqual =
      options.mends(.uniqueness)
      ? [] : Set(before.findings.filter { $0.kind == .uniqueness }.map(\.entity))
    let mended = before.findings.filter { finding in
      options.mends(finding.kind) && finding.isMendable
        && (options.names(finding.kind) || !finding.isLeftUnasked)
        && !(finding.kind == .uniqueMissing && leftEqual.contains(finding.entity))
    }
    // What is made of a model needs one; the rest does not wait for it.
    faults = mended.filter { !isRaw || !$0.kind.asksForModel || options.names($0.kind) }
    if isRaw { try requireModel(for: faults.isEmpty ? mended : faults, path) }
  }

  /// The kinds that are mended.
  var kinds: Set<FindingKind> { Set(faults.map(\.kind)) }

  private func requireModel(for faults: [Finding], _ path: String) throws {
    guard let fault = faults.first(where: { $0.kind.asksForModel }) else { return }
    throw CoreDataError(
      .refused,
      "not repaired: \(fault.sentence.asClause), and there is no model to rebuild it from",
      path: path, advice: "Give the model that made the store with \(.model).")
  }
}

extension Finding {
  /// Whether nothing is wrong with what it says, and a repair would change rows all the same: one-to-ones
  /// as Core Data's own migrations leave them, and a store of a framework that kept no model in it.
  fileprivate var isLeftUnasked: Bool {
    severity == .note && ![.externalOrphaned, .indexMissing, .joinNull].contains(kind)
  }

  /// Whether it is one of the faults of its kind that can be mended.
  fileprivate var isMendable: Bool {
    // An object of an abstract entity could be of any of those below it.
    !(kind == .entityUnknown && severity == .warning)
  }
}

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

extension Finding {
  /// Whether a repair needs an entity to be named for it.
  package var asksForEntity: Bool { remedy == .repairByEntity }
}

/// What a repair does about each kind of fault.
extension FindingKind {
  /// How far a repair can use itself.
  package enum Repair: Sendable, Equatable {
    /// It does not mend such a fault.
    case none
    /// It can be put right without guessing at the user's data.
    case certain
    /// There is a choice in it: done only where it is asked for by name.
    case choice
  }

  /// How far a repair can go about the kind.
  package var repair: Repair {
    switch self {
    case .indexWrong, .freelist, .pointerMap, .metadata, .modelCache, .primaryKey, .entityNumbers,
      .entityUnknown, .joinName, .columnName, .indexMissing, .uniqueMissing, .triggers, .history,
      .historyColumns, .toOneDangling, .joinDangling, .joinNull, .oneToOne, .order,
      .externalOrphaned:
      .certain
    case .uniqueness, .externalMissing, .tableMissing: .choice
    default: .none
    }
  }

  /// The kinds that a repair mends, in the order in which they are listed.
  package static var repaired: [FindingKind] { allCases.filter { $0.repair != .none } }

  /// Whether SQLite reads such a store with all its rows, so that there is something to be repaired.
  var isBeyondRepair: Bool {
    switch self {
    case .walUnreadable, .journalHot, .journalUnreadable: true
    default: isOfFile || losesPages || losesFrames || losesJournal
    }
  }

  /// Whether it is rebuilt from the model.
  var asksForModel: Bool { self == .metadata || self == .modelCache || self == .tableMissing }

  /// Whether the file has to be rewritten for it.
  var asksForNewFile: Bool { self == .freelist || self == .pointerMap }
}

/// Keeps a repair from destroying what brings deleted objects back whole: links that still name them, rows of
/// join tables, their external files, and the free pages that they stand on.
struct DeletionGuard {
  let plan: RepairPlan
  let options: RepairOptions

  /// Refuses where deleted objects can still be read that the repair takes something from.
  ///
  /// The store is only looked through where doctor found signs of deletions, and the plan has a repair that
  /// matters to them. Written elsewhere, the result leaves the store as it is.
  ///
  /// - Throws: ``CoreDataError`` of kind refused, with the command that restores the objects; or when cancelled.
  func check(isCancelled: @escaping () -> Bool) throws {
    let kinds = plan.kinds.filter(\.takesFromDeletedObjects)
    guard !options.isForced, options.output == nil, !kinds.isEmpty,
      plan.before.findings.contains(where: { $0.kind == .deletions })
    else { return }
    let path = plan.before.path
    guard let undeletion = try undeletion(isCancelled) else { return }
    let entities = concerned(in: undeletion.model)
    let found = undeletion.entities.filter { $0.deleted > 0 && entities.contains($0.name) }
    let count = found.reduce(0) { $0 + $1.deleted }
    guard count > 0 else { return }
    let names = found.prefix(3).map { "\($0.name) \($0.deleted)" }.joined(separator: ", ")
    let faults = FindingKind.allCases.filter(kinds.contains).map(\.rawValue)
      .joined(separator: ", ")
    let command: Advice =
      Remedy.undelete.command(for: .deletions, StorePlace(path: path, model: options.modelName))
      ?? ""
    throw CoreDataError(
      .refused,
      "\(NumberText.counted(count, "deleted object")) can still be read (\(names)\(found.count > 3 ? " …" : "")), and this repair (\(faults)) would destroy what restores them with their links and files",
      path: path,
      advice:
        "Look at them first: \(command). To restore them into a new store, add \(.output, "FILE"). To repair without them, use \(.force)."
    )
  }

  private func undeletion(_ isCancelled: @escaping () -> Bool) throws -> Undeletion? {
    do {
      return try Undeletion(
        of: plan.before.path, model: options.model, isCancelled: isCancelled)
    } catch let error as CoreDataError where error.kind != .cancelled {
      // Without a model nothing is found; what the repair then does needs none either.
      return nil
    }
  }

  /// Entities whose deleted objects the planned repairs take something from.
  private func concerned(in model: Model) -> Set<String> {
    let all = Set(model.entities.map(\.name))
    return plan.faults.reduce(into: []) { entities, fault in
      guard fault.kind.takesFromDeletedObjects else { return }
      switch fault.kind {
      case .toOneDangling, .joinDangling:
        guard let holder = fault.entity, let property = fault.property,
          let link = model.relationship(named: property, of: holder)
        else {
          entities = all
          return
        }
        // A row of a join table can reference nothing at either end.
        let ends = [link.destination] + (fault.kind == .joinDangling ? [holder] : [])
        entities.formUnion(all.filter { name in ends.contains { model.isKind(name, of: $0) } })
      case .externalOrphaned:
        entities.formUnion(
          all.filter { name in
            model.storedAttributes(of: name).contains(where: \.allowsExternalBinaryDataStorage)
          })
      default: entities = all
      }
    }
  }
}

extension FindingKind {
  /// Whether mending it takes something from deleted objects that are still in the file.
  package var takesFromDeletedObjects: Bool {
    switch self {
    case .toOneDangling, .joinDangling, .externalOrphaned: true
    // The file is rewritten, without its free pages.
    default: asksForNewFile
    }
  }
}
