import Interface
import Migration
import Rescue
import RowText

/// Every subcommand; usage, help, manual and completions come from this list.
enum CommandTable {
  static func command(named name: String) -> Command? {
    // A path is none, and need not wait until all of them are made.
    guard !name.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ".") })
    else { return nil }
    return commands.first { $0.name == name }
  }

  /// `strata STORE`: no subcommand, but the interface.
  static let interface = Command(
    "", .look, "Opens the terminal interface on a store, or on a folder to pick one from.",
    arguments: ["STORE"], optionalArguments: 1,
    options: [
      Command.model,
      Command.Option("theme", "NAME", "a theme by name, or a theme file"),
      to, via, mapping,
      Command.Option("fresh", "begin as if the store had not been looked at before"),
      Command.Option("plain", "print what the screens say as lines, and take commands by name"),
    ],
    example: "strata Recipes.sqlite"
  ) { arguments, console in
    if arguments.flag("plain") { return try PlainInterface.run(arguments, console) }
    var request = Runtime.Request()
    request.path = arguments[0].isEmpty ? nil : arguments[0]
    request.model = arguments.value("model")
    request.theme = arguments.value("theme")
    request.destination = arguments.value("to")
    request.plan = try PlanOptions(arguments)
    request.isFresh = arguments.flag("fresh")
    return try Runtime.open(request, console: console)
  }

  private static let allowLoss = Command.Option(
    "allow-loss", "ENTITY[.PROPERTY]", repeatable: true,
    "accept that these values or objects go; wal: frames of the -wal that are not applied")
  private static let to = Command.Option(
    "to", "MODEL",
    "the model to migrate to, such as Recipes.xcdatamodeld@'Recipes 3', or @REVISION of git")
  private static let from = Command.Option(
    "from", "MODEL", "the store's own model, when neither it nor its neighbours give it")
  private static let via = Command.Option(
    "via", "PATH", "go through the versions in this .xcdatamodeld, .momd or folder")
  private static let strategy = Command.Option(
    "strategy", "WAY", choices: ["in-place", "copy"],
    "how inferred steps are carried out, instead of the way that costs less")
  private static let mapping = Command.Option(
    "mapping", "FILE", repeatable: true,
    "a mapping model (.cdm, .xcmappingmodel), a recipe, or a folder of such")
  private static let jobs = Command.Option(
    "jobs", "N",
    "how many stores at once (as many as there are processors without it, twice that at most)")

  static let commands = [
    Command(
      "info", .look, "identity, files, model match, entity counts, warnings",
      arguments: ["STORE"], options: [Command.model, Command.json],
      example: "strata info Recipes.sqlite --json", run: InfoCommand.run),
    Command(
      "stores", .look, "the stores in a folder, an app's data, an iOS backup or an archive",
      arguments: ["PATH"], options: [Command.json], details: StoresCommand.help,
      example: "strata stores Backup.zip", statuses: "1 where there is none",
      run: StoresCommand.run),
    Command(
      "rows", .look, "objects of an entity as a table, JSON, CSV or Markdown",
      arguments: ["STORE", "ENTITY"],
      options: [
        .init("where", "PREDICATE", "only these, as NSPredicate text: title CONTAINS[c] \"soup\""),
        .init("sort", "KEY[:desc]", "order by an attribute or a to-one; by key without it"),
        .init("limit", "N", "how many rows, or all (a table stops at 100 without it)"),
        .init("offset", "N", "rows to pass over"),
        .init("columns", "A,B,C", "the properties to show; all without it"),
        .init(
          "format", "FORMAT", choices: RowFormat.allCases.map(\.rawValue), "how to print them"),
        .init("json", "the same as --format json"), Command.model,
      ],
      example: "strata rows Recipes.sqlite Recipe --where 'ANY tags.name == \"quick\"' "
        + "--sort createdAt:desc",
      run: RowsCommand.run),
    Command(
      "object", .look, "one object, what it points at and what points at it",
      arguments: ["STORE", "REF"],
      options: [
        .init("limit", "N", "related objects to name for each relationship (50 without it)"),
        Command.json, Command.model,
      ], example: "strata object Recipes.sqlite Recipe/p12", run: ObjectCommand.run),
    Command(
      "search", .look, "a text, number, UUID or reference in all entities",
      arguments: ["STORE", "TEXT"],
      options: [
        .init("entity", "ENTITY", repeatable: true, "only in this entity"),
        .init("limit", "N", "most hits for each entity (100 without it)"), Command.json,
        Command.model,
      ], example: "strata search Recipes.sqlite 'creme brulee'", run: SearchCommand.run),
    Command(
      "frequencies", .look, "how often each value of a property occurs",
      arguments: ["STORE", "ENTITY", "PROPERTY"],
      options: [
        .init("where", "PREDICATE", "only these objects, as NSPredicate text"),
        .init("limit", "N", "most values to name (50 without it)"), Command.json, Command.model,
      ], example: "strata frequencies Recipes.sqlite Recipe author.name",
      run: FrequenciesCommand.run),
    Command(
      "history", .look, "persistent history: who saved what, newest first", arguments: ["STORE"],
      options: [
        .init("author", "AUTHOR", "only transactions of this author (\"\" for those without)"),
        .init("limit", "N", "how many transactions, or all (20 without it)"),
        .init("changes", "name the objects that each transaction changed"),
        .init("authors", "the totals of each author instead"),
        .init(
          "versions", "the models that the store had before, as its migrations left them in history"
        ),
        Command.json, Command.model,
      ], example: "strata history Recipes.sqlite --author widget --changes", run: HistoryCommand.run
    ),
    Command(
      "dump", .look, "every object, a line of JSON each, in a fixed order",
      arguments: ["STORE"],
      options: [
        .init(
          "blobs", "print binary values in Base64 instead of their SHA-256 (files of up to 64 MB)"),
        Command.model,
        .init("json", "tell errors as JSON; the dump always is"),
      ],
      example: "strata dump Recipes.sqlite > before.ndjson", run: DumpCommand.run),
    Command(
      "model", .look, "a model in another form", arguments: ["MODEL"],
      options: [
        .init(
          "format", "FORMAT", choices: ["text", "json", "xcdatamodel", "mermaid"],
          "how to print it"),
        .init("json", "the same as --format json"),
      ], example: "strata model Recipes.xcdatamodeld@'Recipes 2' --format mermaid",
      run: ModelCommand.run),
    Command(
      "hash", .look, "version hashes, digest, checksum", arguments: ["MODEL"],
      options: [Command.json], example: "strata hash Recipes.xcdatamodeld", run: HashCommand.run),
    Command(
      "diff", .compare, "what differs between two models", arguments: ["A", "B"],
      options: [Command.json],
      example: "strata diff Recipes.sqlite Recipes.xcdatamodeld@'Recipes 2'",
      statuses: "1 where the models differ",
      run: DiffCommand.run),
    Command(
      "mapping", .compare, "what a mapping model or recipe is for, carries, drops and forgets",
      arguments: ["FILE"],
      options: [
        .init(
          "model", "MODEL", repeatable: true,
          "a bundle, folder or model among whose versions to find those that it is for"),
        Command.json,
      ], details: MappingCommand.help,
      example: "strata mapping Recipes2to3.xcmappingmodel --model Recipes.xcdatamodeld",
      statuses: "1 where it is for no versions of --model",
      run: MappingCommand.run),
    Command(
      "explain", .compare, "why a store does not open with a model, or what an error means",
      arguments: ["STORE", "MODEL"], optionalArguments: 2,
      options: [
        .init(
          "error", "TEXT",
          "explain errors instead: a code, sentences, a pasted log, or a file of it (- reads it)"),
        Command.json,
      ], details: ExplainCommand.help,
      example: "strata explain Recipes.sqlite Recipes.xcdatamodeld",
      statuses: "1 where the store does not open with the model, or no error is known",
      run: ExplainCommand.run),
    Command(
      "find-model", .compare, "which model version made a store: in folders and git history",
      arguments: ["STORE", "PATH…"], optionalArguments: 2,
      options: [
        .init("log", "FILE", "take the hashes from a pasted error instead of a store (- reads it)"),
        .init("export", "DIR", "write the model found as DIR/NAME.xcdatamodel"), Command.json,
      ], example: "strata find-model Recipes.sqlite ~/Projects/Recipes --export /tmp",
      statuses: "1 where no model fits",
      run: FindModelCommand.run),
    Command(
      "lint", .compare, "what will go wrong with a change of a model on devices, before it ships",
      arguments: ["MODELS"], optionalArguments: 1,
      options: [
        .init("git-base", "REVISION", "what shipped: a commit, branch or tag of git"),
        .init("against", "OLD", "what shipped: an older copy of the models"),
        .init("store", "STORE", repeatable: true, "a store that shipped: its rows are looked at"),
        mapping,
        .init("all", "tell warnings about the current version that the base has as well"),
        .init("cloudkit", "apply the rules of CloudKit, whatever is found"),
        .init(
          "rule", "RULE=LEVEL", repeatable: true, "how grave a rule is here: error, warning or off"),
        .init(
          "format", "FORMAT", choices: LintCommand.Format.allCases.map(\.rawValue),
          "how to print the findings"),
        .init("rules", "list the rules instead"),
        .init("explain", "RULE", "tell what a rule means, what a device says, and what to do"),
        .init("json", "the same as --format json"),
      ],
      details: LintCommand.help,
      example: "strata lint Recipes.xcdatamodeld --git-base origin/main",
      statuses: "1 where an error was found, 4 where something could not be read",
      run: LintCommand.run),
    Command(
      "plan", .migrate, "what migrating would do, lose and break; writes nothing",
      arguments: ["STORE"],
      options: [
        to, from, via, mapping, strategy, allowLoss, Allowances.option,
        .init(
          "write-recipe", "FILE",
          "write the recipe that a refusal asks for, with what is to be filled in marked"),
        .init("matrix", "show instead how each version of STORE, a bundle, becomes each other"),
        CheckReport.option, Command.json,
      ], details: Allowances.help,
      example: "strata plan Recipes.sqlite --to Recipes.xcdatamodeld",
      statuses: "3 where it would be refused",
      run: Interruption.watched(PlanCommand.run)),
    Command(
      "migrate", .migrate, "migrates stores, or those in a folder, verified, keeping backups",
      arguments: ["STORE…"],
      options: [
        to, from, via, mapping, strategy,
        .init("output", "FILE", "write the result here and leave the store alone"),
        allowLoss, Allowances.option, .init("no-backup", "do not keep the old store"),
        .init("confirm", "show what was made and verified, and ask before it is put in place"),
        jobs,
        ReceiptFile.option,
        .init(
          "json",
          "print progress and receipts as NDJSON, of several stores a line each with its status as it is done"
        ),
      ], example: "strata migrate Recipes.sqlite --to Recipes.xcdatamodeld --output New.sqlite",
      statuses:
        "3 where a store is refused, 5 where a migration failed, 130 where it was cancelled; the store is as it was then",
      effect: .changesStoreWithoutOutput, run: Interruption.watched(MigrateCommand.run)),
    Command(
      "rehearse", .migrate, "migrates copies of stores, verified, and puts nothing in place",
      arguments: ["STORE…"], optionalArguments: 1,
      options: [
        to, from, via, mapping, strategy,
        .init("expect", "FILE", "check counts and values of the results"),
        allowLoss, Allowances.option, jobs, ReceiptFile.option,
      ] + SeededRehearsal.options + [
        CheckReport.option,
        .init(
          "json",
          "print progress and receipts as NDJSON, of several stores a line each with its status as it is done"
        ),
      ], details: Expectations.help + "\n\n" + SeededRehearsal.help,
      example: "strata rehearse Shipped/ --to Recipes.xcdatamodeld --expect expected.json5",
      statuses:
        "1 where an expectation does not hold, 3 where a store would be refused, 5 where a migration failed, 130 where it was cancelled",
      run: Interruption.watched(RehearseCommand.run)),
    Command(
      "verify", .migrate, "compares a store with what it became, object by object",
      arguments: ["BEFORE", "AFTER"],
      options: [
        to, from, via, mapping,
        Command.Option(
          "ignore", "WHAT", choices: StoreVerification.Ignored.allCases.map(\.rawValue),
          repeatable: true, "leave this out: bookkeeping"),
        CheckReport.option, Command.json,
      ],
      details: """
        Without --to the model of AFTER is what BEFORE was to become.

        Compared are objects, links and files; tables, indexes, triggers and views; tables of the app; the
        store's UUID, the model in it, and its bookkeeping: metadata, names, parents and counters in
        Z_PRIMARYKEY, history, CloudKit's tables. An app that goes on with a store writes the bookkeeping:
        --ignore bookkeeping leaves out history, counters, metadata and CloudKit's tables.
        """,
      example: "strata verify Recipes.backup-1 Recipes.sqlite --to Recipes.xcdatamodeld",
      statuses:
        "1 where the stores differ, 3 where the models cannot be told, 130 where it was cancelled",
      run: Interruption.watched(VerifyCommand.run)),
    Command(
      "doctor", .rescue, "what is wrong with a store, what follows, what to do; reads only",
      arguments: ["STORE"], options: [Command.model, Command.json],
      details: DoctorCommand.help, example: "strata doctor Recipes.sqlite",
      statuses:
        "1 where there are errors or warnings, 4 where nothing of the store can be read",
      run: Interruption.watched(DoctorCommand.run)),
    Command(
      "repair", .rescue, "puts right what is wrong with a store, verified, keeping a backup",
      arguments: ["STORE"],
      options: [
        .init(
          "fix", "KIND", choices: FindingKind.repaired.map(\.rawValue), repeatable: true,
          "mend this kind of fault alone"),
        .init("output", "FILE", "write the result here and leave the store alone"),
        Command.model,
        .init(
          "keep", "WHICH", choices: RepairOptions.Kept.allCases.map(\.rawValue),
          "which of the objects stays that are equal and must differ"),
        .init("entity", "ENTITY", "the entity of objects whose entity ID is unknown"),
        .init("dry-run", "do it all on a private copy, and put nothing in place"),
        .init("force", "repair although deleted objects can still be restored"),
        .init("no-backup", "do not keep the old store"),
        ReceiptFile.option,
        .init("json", "print progress, changes and the receipt as NDJSON"),
      ], details: RepairCommand.help,
      example: "strata repair Recipes.sqlite --fix primary-key",
      statuses:
        "1 where errors are left that it does not mend, 3 where it is refused, 4 where only salvage helps, 5 where it failed, 130 where it was cancelled; the store is as it was then",
      effect: .changesStoreWithoutOutput, run: Interruption.watched(RepairCommand.run)),
    Command(
      "salvage", .rescue, "a new store of everything that can be read of a damaged one",
      arguments: ["STORE"],
      options: [
        .init("output", "FILE", "write the new store here; the damaged one is left alone"),
        Command.model,
        .init("ignore-wal", "read the main file alone"),
        .init("wal", "FILE", "read this -wal with the main file, and not the one beside it"),
        .init("like", "STORE", "take what lost tables are made of from this healthy store"),
        .init("report", "FILE", "write the report there as JSON, with the keys that are lost"),
        Command.json,
      ],
      example: "strata salvage Recipes.sqlite --output Saved.sqlite",
      statuses:
        "1 where something is known to be lost, 4 where nothing could be saved, 130 where it was cancelled",
      run: Interruption.watched(SalvageCommand.run)),
    Command(
      "undelete", .rescue, "objects that were deleted, and earlier states of those that were not",
      arguments: ["STORE", "ENTITY"], optionalArguments: 1,
      options: [
        .init("output", "FILE", "write a new store here in which the chosen objects are back"),
        .init("only", "REF", repeatable: true, "restore these: Recipe/p12, or several with commas"),
        .init("where", "PREDICATE", "only these objects of ENTITY, as NSPredicate text"),
        .init("versions", "print earlier states of objects instead"),
        .init("limit", "N", "how many rows to print (all without it)"),
        .init(
          "format", "FORMAT", choices: RowFormat.allCases.map(\.rawValue), "how to print them"),
        Command.model,
        .init("ignore-wal", "read the main file alone"),
        .init("wal", "FILE", "read this -wal with the main file, and not the one beside it"),
        .init("report", "FILE", "write what was restored there as JSON"),
        Command.json,
      ],
      details: UndeleteCommand.help,
      example: "strata undelete Recipes.sqlite Recipe --output Restored.sqlite",
      statuses:
        "1 where something of the store is lost or an object was refused, 3 where what was found may never have been in the store and no single objects are named, 4 where nothing of it can be read, 130 where it was cancelled",
      run: Interruption.watched(UndeleteCommand.run)),
    Command(
      "rollback", .migrate, "puts the backup back that a migration or a reset left",
      arguments: ["STORE"],
      options: [
        .init("list", "show the backups there are, newest first"),
        .init("from", "FILE", "the backup to put back (the newest without it)"),
        .init("no-backup", "do not keep the present store"),
        .init("force", "also a backup of another store, or a damaged one"), Command.json,
      ], example: "strata rollback Recipes.sqlite --list",
      statuses:
        "1 where --list finds no backup, 3 where the backup is refused, 5 where it failed, 130 where it was cancelled; the store is as it was then",
      effect: .changesStore, run: Interruption.watched(RollbackCommand.run)),
    Command(
      "reset", .migrate, "an empty store of a model in its place; the old one is set aside",
      arguments: ["STORE"],
      options: [
        .init("model", "MODEL", "the model of the empty store"),
        .init("delete-backup", "delete the old store instead of keeping it"),
        .init("force", "also reset a store that opens with the model"), Command.json,
      ], example: "strata reset Recipes.sqlite --model Recipes.xcdatamodeld",
      statuses: "3 where the store opens with the model, 5 where it failed",
      effect: .changesStore, run: ResetCommand.run),
    Command(
      "keys", .look, "the keys of the interface, and what the configuration calls them",
      arguments: [], options: [Command.json], details: KeysCommand.help,
      example: "strata keys --json", run: KeysCommand.run),
    Command(
      "demo", .tryOut, "writes a recipe box and its model versions, and opens it",
      arguments: ["DIR"], optionalArguments: 1,
      options: [
        .init("objects", "N", "how many objects (5000 without it)"),
        .init("no-open", "only write the files"),
        Command.json,
      ], example: "strata demo /tmp/recipes --objects 100000 --no-open",
      statuses: "3 where the folder holds a demo already", run: DemoCommand.run),
    Command(
      "seed", .tryOut, "a new store of any model version, filled with objects like an app's",
      arguments: ["MODEL", "NEW-STORE"], options: SeedCommand.options,
      details: SeedCommand.help,
      example: "strata seed Recipes.xcdatamodeld@'Recipes 2' New.sqlite --objects 100000",
      statuses: "3 where a file is there already, 5 where it failed, 130 where it was cancelled",
      run: Interruption.watched(SeedCommand.run)),
    Command(
      "help", .shell, "the commands, the help of one, or an article on a topic",
      arguments: ["TOPIC"], optionalArguments: 1, options: [], details: HelpCommand.help,
      example: "strata help predicates", run: HelpCommand.run),
    Command(
      "completions", .shell, "completions for a shell, to be sourced or installed",
      arguments: ["SHELL"], optionalArguments: 1,
      options: [
        .init("entities", "STORE", hidden: true, "the names of a store's entities, for completions")
      ], details: CompletionsCommand.help,
      example: "strata completions zsh > ~/.zfunc/_strata", run: CompletionsCommand.run),
    Command(
      "man", .shell, "the manual as a man page", arguments: [], options: [],
      details: "It is roff: read it with man, or install it as strata.1.",
      example: "strata man > /usr/local/share/man/man1/strata.1", run: ManCommand.run),
  ]
}
