import Files
import JSON
import ManagedModel
import Migration
import ModelSearch
import Reports

/// `strata rollback`: puts the kept backup back, or lists those there are.
package enum RollbackCommand {
  private static let listed = Option("list", "list the backups, newest first")
  static let backup = Option(
    "from", "FILE", .file, "the backup to restore (default: the newest)")
  private static let force = Option(
    "force", "also restore a backup of another store, or a damaged one")
  package static let command = Command(
    "rollback", .migrate, "restores a backup", arguments: [Argument.store],
    options: [
      listed, backup, Option.noBackup.help("do not keep the current store"), force, Option.json,
    ], example: "strata rollback Recipes.sqlite --list",
    statuses:
      "1 if --list finds no backup, 3 if the backup is refused, 5 if it failed, 130 if it was cancelled; the store is unchanged then",
    effect: .changesStore, run: Interruption.watched(run))

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let (path, isJSON) = (arguments[.store], arguments[.json])
    if arguments[listed] { return try list(path, isJSON, console) }
    var options = StoreRollback.Options()
    options.from = arguments[backup]
    options.keepsPresent = !arguments[.noBackup]
    options.isForced = arguments[force]
    try StoreRollback.requireBackup(path: path, options: options)
    RecoveryNotice.write(for: [path], to: console)
    let receipt = try Waiting.tell("restoring the backup", on: console) {
      try StoreRollback.run(
        path: path, options: options, isCancelled: { Interruption.isRequested })
    }
    isJSON
      ? console.json { write(receipt, to: &$0) }
      : console.report(Report(receipt, version: name(of: receipt.contents, beside: path)))
    return .done
  }

  private static func list(
    _ path: String, _ isJSON: Bool, _ console: Console
  ) throws -> CommandStatus {
    guard FileSystem.isDirectory(FileSystem.parent(of: path) ?? ".") else {
      throw CoreDataError(.unreadable, "there is no such folder", path: path)
    }
    let backups = StoreBackup.all(of: path).map { backup in
      do {
        return (backup, Result<StoreBackup.Contents, CoreDataError>.success(try backup.contents()))
      } catch {
        let error = CoreDataError(error, or: .unreadable)
        return (backup, .failure(error))
      }
    }
    for text in StoreMigration.leftovers(of: path) { console.note("! " + text) }
    if isJSON {
      console.json { $0.objects("backups", backups) { members($0.0, $0.1) } }
    } else if backups.isEmpty {
      console.line("there is no backup of \(path) beside it")
    } else {
      var rows = [["backup", "left by", "version", "last changed", "size", "objects"]]
      rows += backups.map { backup, contents in
        let facts = try? contents.get()
        return [
          FileSystem.name(of: backup.path), backup.origin.words,
          facts.map { name(of: $0, beside: path) } ?? "—",
          CoreDataDate.text(backup.modified.rounded(.down)), NumberText.bytes(backup.bytes),
          facts.map { String($0.counts.values.reduce(0, +)) } ?? "—",
        ]
      }
      console.table([.left, .left, .left, .left, .right, .right], rows)
      for case (let backup, .failure(let error)) in backups {
        console.line("! \(FileSystem.name(of: backup.path)): \(error.message)")
      }
    }
    return backups.isEmpty ? .no : .done
  }

  /// What the version of a backup is called: by its name in a bundle beside the store, where that has one.
  private static func name(of contents: StoreBackup.Contents, beside path: String) -> String {
    ModelBundle.version(besideStore: path, making: contents.versionHashes)?.name ?? contents.version
  }

  private static func write(_ receipt: StoreRollback.Receipt, to json: inout JSONWriter) {
    json.object("rollback") { json in
      json.fields([
        "store": receipt.storePath, "backup": receipt.backup.path,
        "leftBy": receipt.backup.origin.rawValue, "undone": receipt.undonePath,
        "undoneSupport": receipt.undoneSupportPath, "uuid": receipt.contents.uuid,
        "backupRemoved": receipt.isBackupRemoved,
        "versionIdentifiers": receipt.contents.versionIdentifiers,
      ])
      json.numbers(
        "entities", receipt.contents.counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
      json.fields([
        "damage": receipt.damage, "orphaned": receipt.orphaned, "missing": receipt.missing,
        "notes": receipt.notes, "bytes": receipt.bytes,
      ])
    }
  }

  private static func members(
    _ backup: StoreBackup, _ contents: Result<StoreBackup.Contents, CoreDataError>
  ) -> JSONMembers {
    var problem: String?
    if case .failure(let error) = contents { problem = error.message }
    let facts = try? contents.get()
    return [
      "path": backup.path, "leftBy": backup.origin.rawValue, "uuid": facts?.uuid,
      "problem": problem, "modified": CoreDataDate.text(backup.modified),
      "versionIdentifiers": facts?.versionIdentifiers ?? [], "bytes": backup.bytes,
      "objects": facts?.counts.values.reduce(0, +),
    ]
  }
}
