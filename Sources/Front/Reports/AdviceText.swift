import ManagedModel
import Merging
import Migration
import Rescue

extension CoreDataError {
  /// What to try, with what a person types for the values it names.
  package var typedHint: String? { advice?.typed }
}

extension Advice {
  private static let flags: [Choice: String] = [
    .model: "--model", .source: "--from", .versions: "--via", .documents: "--mapping",
    .output: "--output", .allowedLosses: "--allow-loss", .force: "--force", .backup: "--from",
    .deletesBackup: "--delete-backup", .commandModel: "--model", .entity: "--entity", .fix: "--fix",
    .keep: "--keep", .sibling: "--like", .onlyObjects: "--only",
    .salvageReport: "--report",
    .known: "--all", .log: "--wal", .ignoresLog: "--ignore-wal",
    .password: "--password-file", .mergeBase: "--base", .mergeMatch: "--match",
    .mergePreference: "--prefer", .mergeRehearsal: "--dry-run", .mergeOutput: "--output",
    .mergeKeepsDeleted: "--keep-deleted",
    .confirmedDeletions: "--confirm-deletions",
  ]

  /// Commands by the marks that texts have for them; the values that are known replace its words in
  /// capitals in turn.
  package static let commands = [
    "backups": "strata rollback STORE --list",
    "change-list": "--receipt FILE",
    "checksums": "strata hash STORE and strata hash MODEL", "comparison": "strata diff A B",
    "diagnosis": "strata doctor STORE", "dump": "strata dump STORE",
    "error-explanation": "strata explain --error", "explanation": "strata explain STORE MODEL",
    "former-model": "strata model PATH@REVISION --format xcdatamodel",
    "history": "strata history STORE", "information": "strata info STORE",
    "listing": "strata stores PATH", "mapping": "strata mapping FILE",
    "merge": "strata merge OLD NEW --match key --prefer new --output FILE",
    "migration": "strata migrate STORE --to MODEL", "model-listing": "strata model MODEL",
    "model-search": "strata find-model STORE PATH…", "object": "strata object STORE REF",
    "plan": "strata plan STORE --to MODEL",
    "recipe": "strata plan STORE --to MODEL --write-recipe FILE",
    "recipes": "strata help recipes", "repair": "strata repair STORE",
    "repair-keys": "strata repair STORE --fix primary-key",
    "repair-tables": "strata repair STORE --fix table-missing",
    "repair-tables-forced": "strata repair STORE --fix table-missing --force",
    "repair-uniqueness": "strata repair STORE --fix uniqueness --keep newest",
    "rollback": "strata rollback STORE", "rollback-from": "strata rollback STORE --from FILE",
    "reset": "strata reset STORE --model MODEL",
    "rows": "strata rows STORE ENTITY --where PREDICATE",
    "rules": "strata lint --rules", "salvage": "strata salvage STORE --output FILE",
    "store-comparison": "strata compare A B",
    "stored-model": "strata model STORE", "undeletion": "strata undelete STORE",
    "undeletion-of": "strata undelete STORE ENTITY",
    "undeletion-versions": "strata undelete STORE ENTITY --versions",
    "version-checksums": "strata hash SOURCES@SchemaV1",
  ]

  /// The sentence as a person at the command line or on the screen reads it.
  package var typed: String { text(naming: Self.typed) }

  /// What is typed for one of the values that it names.
  package static func typed(_ choice: Choice, _ values: [String]) -> String {
    if let command = commands[choice.id] {
      var rest = values[...]
      return command.split(separator: " ").map { word in
        word.allSatisfy(\.isUppercase) ? rest.popFirst() ?? String(word) : String(word)
      }.joined(separator: " ")
    }
    let flag = flags[choice] ?? choice.name
    return values.isEmpty
      ? flag : values.map { "\(flag) \(ShellText.quoted($0))" }.joined(separator: " ")
  }
}

extension DataCheck {
  /// What to do about it, with what a person types.
  package var typedHint: String { advice?.typed ?? hint }
}
