import JSON
import ManagedModel
import Migration
import ModelSearch
import Reports

/// `strata reset`: an empty store of a model in the place of one that does not open with it.
package enum ResetCommand {
  private static let force = Option("force", "also reset a store that opens with the model")
  private static let deletesBackup = Option(
    "delete-backup", "delete the old store instead of keeping it")
  package static let command = Command(
    "reset", .migrate, "replaces the store with an empty one; the old one is kept",
    arguments: [Argument.store],
    options: [
      Option.model.help("the model of the empty store"), deletesBackup, force, Option.json,
    ], example: "strata reset Recipes.sqlite --model Recipes.xcdatamodeld",
    statuses: "3 if the store opens with the model, 5 if it failed",
    effect: .changesStore, run: run)

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    guard let text = arguments[.model] else {
      throw CoreDataError(
        .usage, "--model is missing", hint: "Name the model of the empty store.")
    }
    let model = try ModelReference(text).load()
    console.warn(model.model.warnings)
    var options = StoreReset.Options()
    options.isForced = arguments[force]
    options.deletesBackup = arguments[deletesBackup]
    RecoveryNotice.write(for: [arguments[.store]], to: console)
    let receipt = try StoreReset.run(path: arguments[.store], model: model.model, options: options)
    arguments[.json]
      ? console.json { write(receipt, &$0) }
      : console.report(Report(receipt, model: model.name))
    return .done
  }

  private static func write(_ receipt: StoreReset.Receipt, _ json: inout JSONWriter) {
    let (state, reason): (String, String?) =
      switch receipt.state {
      case .missing: ("missing", nil)
      case .compatible: ("compatible", nil)
      case .incompatible: ("incompatible", nil)
      case .unreadable(let error): ("unreadable", error.message)
      }
    json.fields([
      "path": receipt.storePath, "state": state, "reason": reason, "uuid": receipt.uuid,
      "backup": receipt.backupPath, "setAside": receipt.setAside, "notes": receipt.notes,
      "backupDeleted": receipt.isBackupDeleted,
    ])
  }
}
