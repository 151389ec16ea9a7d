import JSON
import ManagedModel
import ManagedStore
import Merging

/// `strata merge`: one store of two that hold the same objects.
package enum MergeCommand {
  private static let (old, new) = (Argument("OLD", .store), Argument("NEW", .store))
  private static let output = Option.output.help(
    "write the new store here; OLD and NEW are left alone")
  private static let base = Option(
    "base", "STORE", .store,
    "the copy that OLD and NEW come from: it shows which of them changed a value")
  private static let match = Option(
    repeating: "match", "key|unique|[ENTITY=]NAME,NAME", .text,
    "pair objects by key, by what the model says is unique, or by these attributes")
  private static let prefer = Option(
    repeating: "prefer", "new|old|ENTITY=ATTRIBUTE:newest", .text,
    "whose value to keep where OLD and NEW differ")
  private static let only = Option(
    repeating: "only", "ENTITY,…", .text, "take over objects of these entities only")
  private static let keepsDeleted = Option(
    "keep-deleted", "leave out what was deleted in NEW, instead of restoring it from OLD")
  private static let isRehearsal = Option(
    "dry-run", "print what the merge would do, and every conflict; write nothing")
  private static let report = Option(
    "report", "FILE", .file,
    "write the report to this file as JSON, with all values that were not kept")
  package static let command = Command(
    "merge", .migrate, "merges two stores that share objects into a new one",
    arguments: [old, new],
    options: [
      output, base, match, prefer, only, keepsDeleted, isRehearsal, report, Option.model,
      Option.json,
    ], details: help,
    example: "strata merge Backup.sqlite Recipes.sqlite --output Both.sqlite --prefer new",
    statuses:
      "3 if the stores are of two versions, objects cannot be paired, or nothing decides conflicts, 5 if it failed, 130 if it was cancelled",
    run: Interruption.watched(run))

  private static let help = """
    This is for two stores that grew apart, such as a backup and the store after a reinstallation. The result is a
    copy of NEW with the objects that only OLD has. Both stores must have the same version of the model. Objects are
    paired as strata compare pairs them, but equal keys alone pair objects only with --base or --match key: after a
    reinstallation, the same key can belong to different objects.

    An object that only OLD has keeps its key if NEW has never used it, and gets a new one otherwise. An object that
    was deleted in NEW and is in OLD is restored. To-many relationships are united, and a to-one that only one store
    has set is kept. With --base, a value that only one store changed is taken from that store. All other differences
    are conflicts, which --prefer decides. If a one-to-one or a unique value is taken in NEW, NEW keeps it, and the
    value of OLD is reported as lost. History and CloudKit records are those of NEW; if NEW keeps history, one
    transaction names what was added and changed, so that the app and its mirror see it.
    """

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let path = arguments[output]
    guard path != nil || arguments[isRehearsal] else {
      throw CoreDataError(
        .usage, "missing --output FILE",
        hint: "Name the new store with --output, or use --dry-run to see what it would be.")
    }
    var options = MergeOptions()
    options.matches = try arguments[match].map(CompareCommand.match)
    options.preferences = try arguments[prefer].map(preference)
    options.entities = arguments[only].flatMap { $0.split(separator: ",").map(String.init) }
    options.keepsDeleted = arguments[keepsDeleted]
    let names = [arguments[old], arguments[new]] + [arguments[base]].compactMap { $0 }
    let file = try ReceiptFile(arguments, option: report, stores: names)
    let stores = try names.map { try StoreOpening.open($0, model: arguments[.model]) }
    let place = arguments[isRehearsal] ? nil : path
    if let place { RecoveryNotice.write(forOutput: place, to: console) }
    if try stores[1].cloudKit() != nil {
      let path = stores[1].path.printable
      console.note(
        stores[1].hasHistory
          ? "! \(path) is mirrored to iCloud: the app will upload merged objects as new ones to all devices."
          : "! \(path) is mirrored to iCloud and keeps no history: the app will not upload what the merge adds or changes by itself."
      )
    }
    let merged = try Waiting.tell("merging", on: console) {
      try StoreMerge.run(
        stores[0], stores[1], base: stores.count > 2 ? stores[2] : nil, options: options,
        to: place, isCancelled: { Interruption.isRequested })
    }
    let text = MergeText(merged, console)
    arguments[.json] ? console.json { text.write(to: &$0) } : try text.print()
    try file?.write(JSONWriter.line { text.write(to: &$0) })
    let status: CommandStatus = merged.canRun ? .done : .refused
    return stores.dropFirst().reduce(console.finish(stores[0], status)) { console.finish($1, $0) }
  }

  package static func preference(_ word: String) throws -> MergeOptions.Preference {
    guard let preference = MergeOptions.Preference(word) else {
      throw CoreDataError(
        .usage, "--prefer takes new, old or ENTITY=ATTRIBUTE:newest, not “\(word.printable)”")
    }
    return preference
  }
}
