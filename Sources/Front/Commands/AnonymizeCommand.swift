import Anonymizing
import Files
import JSON
import ManagedModel
import ManagedStore
import Reports

/// `strata anonymize`: a copy of a store with its values replaced, to send to a developer.
package enum AnonymizeCommand {
  private static let output = Option.output.help(
    "write the new store here; STORE is left alone"
  ).required
  private static let keep = Option(
    repeating: "keep", "ENTITY.PROPERTY", .text, "leave the values of this attribute as they are")
  private static let seed = Option(
    "seed", "S", "replace in the same way each time; anybody who knows S can test guesses")
  private static let keepsOwnTables = Option(
    "keep-own-tables", "copy the app's own tables as they are, instead of emptying them")
  package static let command = Command(
    "anonymize", .look, "writes a copy of a store with its values replaced, to send to a developer",
    arguments: [Argument.store],
    options: [output, keep, seed, keepsOwnTables, Option.model, Option.json], details: help,
    example: "strata anonymize Recipes.sqlite --output Send.sqlite --keep Recipe.difficulty",
    statuses:
      "3 if the store is damaged or a file is there already, 5 if it failed, 130 if it was cancelled",
    run: Interruption.watched(run))

  private static let help = """
    The copy keeps keys, references, counts, missing values, lengths, duplicates, and the order of numbers and
    dates, so that faults and migrations behave as before. A text is replaced by one of the same length with the
    same kinds of letters, data and files by bytes of the same length and kind. The app's own tables are emptied
    and listed. Free pages, the -wal and extended attributes are not copied.

    The result is pseudonymous, not anonymous: the report lists what still shows. Equal values stay equal. Without
    --seed, the replacements are derived from a random key that is never written. With --seed S, anybody who knows
    S can test whether a value that they guess is in the store.
    """

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let path = arguments[output]
    let store = try StoreOpening.open(arguments[.store], model: arguments[.model])
    try store.holdState()
    var options = StoreAnonymization.Options()
    options.keep = arguments[keep]
    options.seed = arguments[seed]
    options.keepsOwnTables = arguments[keepsOwnTables]
    RecoveryNotice.write(forOutput: path, to: console)
    let bar = ProgressBar(console)
    let report: AnonymizationReport
    do {
      defer { bar.clear() }
      report = try StoreAnonymization.run(
        store, to: path, options: options, isCancelled: { Interruption.isRequested },
        progress: { bar.show("anonymize", $0, of: $1, "rows") })
    }
    arguments[.json] ? console.json { $0.anonymization(report) } : print(report, to: console)
    return console.finish(store)
  }

  /// Columns that the report names; JSON has all.
  private static let mostColumns = 6

  private static func print(_ report: AnonymizationReport, to console: Console) {
    var rows = [["entity", "objects"]]
    rows += report.entities.map { [$0.name.printable, NumberText.grouped($0.objects)] }
    console.table([.left, .right], rows)
    console.report(text(of: report))
  }

  private static func text(of report: AnonymizationReport) -> Report {
    var notes: [Report.Line] = []
    for table in report.ownTables {
      let rows = NumberText.counted(table.rows, "row")
      notes.append(
        report.keepsOwnTables
          ? .init(
            .warning, "the app's own table \(table.name.printable) is copied as it is: \(rows)")
          : .init(.note, "the app's own table \(table.name.printable) is empty: it had \(rows)"))
    }
    if report.unreadable > 0 {
      notes.append(
        .init(
          .note,
          "\(NumberText.counted(report.unreadable, "archive or gzip value")) cannot be read: random bytes are in the place"
        ))
    }
    if report.shortened > 0 {
      notes.append(
        .init(
          .note,
          "\(NumberText.counted(report.shortened, "gzip value")) unpacks to less than before, since the length stays"
        ))
    }
    notes += report.leftOut.map { .init(.note, "left out: \($0.printable)") }
    if report.unchanged > 0 {
      let columns = report.unchangedColumns.sorted { ($1.values, $0.name) < ($0.values, $1.name) }
      let names = columns.prefix(mostColumns).map {
        "\($0.name.printable) \(NumberText.grouped($0.values))"
      }
      let more = columns.count - names.count
      notes.append(
        .init(
          .note,
          "\(NumberText.counted(report.unchanged, "value")) \(report.unchanged == 1 ? "is" : "are") unchanged (\(names.joined(separator: ", "))\(more > 0 ? " and \(NumberText.counted(more, "more column"))" : "")): truth values, 0, defaults, empty texts, and numbers that their order leaves no room to replace"
        ))
    }
    var shown: [Report.Line] = report.stillShows.map { .init(.note, "\($0.printable)") }
    if report.isSeeded {
      shown.append(.init(.note, "A person who knows the seed can test guesses"))
    }
    let path = report.outputPath
    let files = report.files == 0 ? "" : " and \(NumberText.counted(report.files, "file"))"
    var outcome: [Report.Line] = [
      .init(
        .success,
        "pseudonymous: \(path.printable), \(NumberText.counted(report.replaced, "value"))\(files) replaced, UUID \(report.uuid.printable)"
      )
    ]
    if report.files > 0 {
      outcome += [
        .init(
          .warning,
          "send \(StoreSuffix.supportFolder(of: path).printable) along: the files are in this hidden folder. Both in one file:"
        ), .init("\(packing(path))", as: .code, depth: 1),
      ]
    }
    return Report([.init(notes), .init("What still shows:", shown), .init(outcome)])
  }

  /// The command line that packs a store and its hidden folder.
  private static func packing(_ path: String) -> String {
    let folder = FileSystem.parent(of: path)
    let names = [
      FileSystem.name(of: path), FileSystem.name(of: StoreSuffix.supportFolder(of: path)),
    ]
    let words = ["zip", "-r", FileSystem.stem(of: path) + ".zip"] + names
    let line = words.map { ShellText.quoted($0) }.joined(separator: " ")
    guard let folder, folder != "." else { return line }
    return "(cd \(ShellText.quoted(folder)) && \(line))"
  }
}

extension JSONWriter {
  fileprivate mutating func anonymization(_ report: AnonymizationReport) {
    object("anonymized") { json in
      json.fields([
        "store": report.storePath, "output": report.outputPath, "uuid": report.uuid,
        "replaced": report.replaced, "unchanged": report.unchanged, "files": report.files,
        "seeded": report.isSeeded, "kept": report.kept, "unreadable": report.unreadable,
        "shortened": report.shortened, "leftOut": report.leftOut, "shows": report.stillShows,
        "keepsOwnTables": report.keepsOwnTables,
      ])
      json.objects("unchangedColumns", report.unchangedColumns) {
        ["name": $0.name, "values": $0.values]
      }
      json.objects("ownTables", report.ownTables) { ["name": $0.name, "rows": $0.rows] }
      json.numbers("entities", report.entities.map { ($0.name, $0.objects) })
    }
  }
}
