import AtomicStores
import Files
import JSON
import ManagedModel
import ModelSearch
import Reports
import Rescue
import SQLite

/// `strata repair`: puts right what is wrong with a store, on a copy, verified, with a backup.
package enum RepairCommand {
  private static let kinds = Option(
    repeating: "fix", "KIND", among: FindingKind.repaired, "repair only this kind of fault")
  private static let kept = Option(
    "keep", "WHICH", among: RepairOptions.Kept.allCases,
    "which object to keep of those that violate a uniqueness constraint")
  private static let entity = Option(
    "entity", "ENTITY", .entity, "the entity of objects whose entity ID is unknown")
  private static let dryRun = Option(
    "dry-run", "repair a private copy, and discard it")
  private static let force = Option(
    "force", "repair even if deleted objects can still be restored")
  package static let command = Command(
    "repair", .rescue, "repairs a store, with a backup", arguments: [Argument.store],
    options: [
      kinds, Option.output, Option.model, kept, entity, dryRun, force, Option.noBackup,
      Option.receipt, Option.json.help("print progress, changes and the receipt as NDJSON"),
    ], details: help, example: "strata repair Recipes.sqlite --fix primary-key",
    statuses:
      "1 if errors remain that it does not repair, 3 if it is refused, 4 if only salvage helps, 5 if it failed, 130 if it was cancelled; the store is unchanged then",
    effect: .changesStoreWithoutOutput, run: Interruption.watched(run))

  private static let help = """
    Without --fix, every fault is repaired that needs no guess about the data: Core Data's bookkeeping
    (metadata, model cache, counters, entity IDs, names of join tables, triggers), indexes, the freelist and
    the pointer map, history of missing objects, dangling references, order keys. No row is changed for what
    doctor calls a note; unreferenced files are moved into a folder beside the store. With --fix, only the
    named kinds are repaired; doctor lists the names.

    Repairs that need a decision run only when requested: which object to keep of those that violate a
    uniqueness constraint (--keep newest, the greatest key, or oldest; links to the others then reference it),
    references to missing external files (--fix external-missing sets them to NULL), missing tables that never
    held anything (--fix table-missing creates them, empty; others only with --force), triggers of an app
    that call missing functions or tables (--fix triggers removes them), the entity of objects whose entity
    ID is unknown and cannot be found in the store (--fix entity-unknown --entity ENTITY), one-to-ones whose
    sides do not match (--fix one-to-one fills the empty side, and of links that contradict each other keeps
    the pair that matches).

    If deleted objects can still be restored, and the repair would destroy what restores them (links that
    name them, rows of join tables, external files, free pages), it is refused with the command for
    strata undelete; --force repairs anyway, --output leaves the store unchanged.

    Of an XML or binary store only lost version hashes are repaired: --model names a model that fits its
    objects, and --output the copy that gets its hashes. Other faults are repaired in a store that
    strata convert makes of it.

    A file that SQLite cannot read needs strata salvage. The old store is kept as NAME.unrepaired-1, and
    strata rollback restores it. The receipt lists each change with entity, key, property, old and new value.
    """

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let path = arguments[.store]
    let file = try ReceiptFile(arguments, stores: [path])
    let options = try options(arguments)
    if let origin = AtomicCopy.origin(ofCopyAt: path) {
      return try AtomicRepair.run(origin, options, file, asJSON: arguments[.json], console)
    }
    console.warn(options.model?.warnings ?? [])
    let isJSON = arguments[.json]
    if !options.isRehearsal {
      if options.output == nil { RecoveryNotice.restore(path, on: console) }
      RecoveryNotice.write(for: [options.output ?? path], to: console)
    }
    let reporter = ProgressReporter(console: console, isJSON: isJSON)
    let repaired: Repaired
    do {
      defer { reporter.finish() }
      repaired = try StoreRepair.run(
        path: path, options: options, isCancelled: { Interruption.isRequested },
        progress: { reporter.report($0) })
    }
    if isJSON {
      try repaired.changes { change in console.json { $0.object("change") { $0.change(change) } } }
      console.json { $0.repair(repaired.receipt) }
    } else {
      console.report(Report(repaired.receipt))
    }
    try file.map { try repaired.write(to: $0) }
    return repaired.receipt.left.contains { $0.severity == .error } ? .no : .done
  }

  private static func options(_ arguments: Arguments) throws -> RepairOptions {
    var options = RepairOptions()
    options.modelName = arguments[.model]
    options.model = try options.modelName.map { try ModelReference($0).load().model }
    options.kinds = Set(arguments[kinds])
    options.kept = arguments[kept]
    options.entity = arguments[entity]
    options.output = arguments[.output]
    options.keepsBackup = !arguments[.noBackup]
    options.isRehearsal = arguments[dryRun]
    options.isForced = arguments[force]
    return options
  }
}

extension Repaired {
  /// All changes, one at a time.
  fileprivate func changes(_ body: (RepairChange) throws -> Void) throws {
    do {
      try log?.forEach { try body($0) }
    } catch let error as SQLiteError {
      throw CoreDataError(
        .failed,
        "the list of changes cannot be read (\(error.message)), but the repair is complete",
        path: receipt.resultPath, hint: "The receipt says where the backup is.")
    }
  }

  /// Writes the receipt with all changes.
  package func write(to file: ReceiptFile) throws {
    try file.write(JSONWriter.line { $0.repair(receipt) }, "changes") { add in
      try changes { change in try add { $0.change(change) } }
    }
  }
}

extension JSONWriter {
  private mutating func findings(_ name: String, _ findings: [Finding]) {
    objects(name, findings) { finding in
      [
        "kind": finding.kind.rawValue, "severity": finding.severity.rawValue,
        "entity": finding.entity, "property": finding.property, "count": finding.count,
        "message": finding.sentence,
      ]
    }
  }

  fileprivate mutating func change(_ change: RepairChange) {
    fields([
      "kind": change.kind, "entity": change.entity, "key": change.key,
      "property": change.property, "old": change.old, "new": change.new,
    ])
  }

  fileprivate mutating func repair(_ receipt: RepairReceipt) {
    guard receipt.isDone else {
      null("receipt")
      findings("left", receipt.left)
      return field("notes", receipt.notes)
    }
    object("receipt") { json in
      json.fields([
        "store": receipt.storePath, "result": receipt.resultPath,
        "uuid": receipt.uuid.isEmpty ? nil : receipt.uuid, "backup": receipt.backupPath,
        "orphans": receipt.orphanFolder, "changed": receipt.count,
      ])
      json.numbers("kinds", receipt.kinds.map { ($0.name, $0.count) })
      json.findings("faults", receipt.faults)
      json.findings("left", receipt.left)
      json.objects("verified", receipt.verified) { ["what": $0.what, "count": $0.count] }
      json.checksums(
        receipt.checksums, rollingBack: receipt.backupPath == nil ? nil : receipt.storePath)
      json.fields([
        "notes": receipt.notes, "seconds": receipt.seconds,
        "verificationSeconds": receipt.verificationSeconds, "bytes": receipt.bytes,
      ])
    }
  }
}
