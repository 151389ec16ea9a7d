import AtomicStores
import Files
import JSON
import ManagedModel
import ManagedStore
import ModelSearch
import Reports
import Rescue

/// `strata salvage`: a new store of everything that can be read of a damaged one.
package enum SalvageCommand {
  private static let sibling = Option(
    "like", "STORE", .store, "take the definitions of lost tables from this healthy store")
  private static let report = Option(
    "report", "FILE", .file, "write the report to this file as JSON, with the lost keys")
  private static let newStore = Option.output.help(
    "write the new store here; the damaged one is left alone"
  ).required
  package static let command = Command(
    "salvage", .rescue, "writes everything readable in a damaged store to a new one",
    arguments: [Argument.store],
    options: [
      newStore, Option.model,
      Option.ignoreWAL, Option.wal, sibling, report, Option.json,
    ], example: "strata salvage Recipes.sqlite --output Saved.sqlite",
    statuses:
      "1 if something is known to be lost, 4 if nothing could be saved, 130 if it was cancelled",
    run: Interruption.watched(run))

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let path = arguments[.store]
    let output = arguments[newStore]
    let file = try ReceiptFile(arguments, option: report, stores: [path, output])
    var options = StoreSalvage.Options()
    if let model = arguments[.model] { try options.take(ModelReference(model)) }
    options.sibling = try arguments[sibling].map { try SiblingStore(path: $0) }
    console.warn(options.versions.flatMap(\.model.warnings) + (options.model?.warnings ?? []))
    options.log = try SalvageSource.LogChoice(arguments)
    options.tellsPages = file != nil
    options.unread = AtomicCopy.origin(ofCopyAt: path)?.losses
    RecoveryNotice.write(forOutput: output, to: console)
    let start = ContinuousClock.now
    let report = try ProgressBar.during("reading pages", on: console) { progress in
      try StoreSalvage.run(
        path: path, output: output, options: options,
        isCancelled: { Interruption.isRequested }, progress: progress)
    }
    let missing = CloudPlaceholder.companions(ofStore: FileSystem.canonical(path))
    arguments[.json]
      ? console.json { $0.salvage(report) }
      : console.report(
        Report(
          report, seconds: (.now - start) / .seconds(1),
          lacking: missing.map(\.file).map(FileSystem.name(of:))))
    try file?.write(JSONWriter.line { $0.salvage(report) })
    return console.finish(lookedThrough: path, report.isLossy ? .no : .done)
  }
}

extension SalvageSource.LogChoice {
  /// What --ignore-wal and --wal ask for.
  init(_ arguments: Arguments) throws {
    let file = arguments[.wal]
    guard !arguments[.ignoreWAL] else {
      guard file == nil else {
        throw CoreDataError(
          .usage, "--ignore-wal and --wal exclude each other", hint: "Give one of them."
        )
      }
      self = .none
      return
    }
    self = file.map { .file($0) } ?? .own
  }
}

extension StoreSalvage.Options {
  /// Takes the model that a person named: of a bundle without a version's name, all versions.
  package mutating func take(_ reference: ModelReference) throws {
    let bundle =
      ModelBundle.isBundle(reference.path) ? try ModelBundle(readingFrom: reference.path) : nil
    versions =
      bundle?.versions.compactMap { version in
        (try? version.model).map { .init(name: version.name, model: $0) }
      } ?? []
    choosesVersion = reference.version == nil && !versions.isEmpty
    model =
      choosesVersion ? try? bundle?.currentVersion?.model : try reference.load().model
  }
}

extension JSONWriter {
  package mutating func salvage(_ report: SalvageReport) {
    object("salvage") { json in
      json.fields([
        "store": report.storePath, "output": report.outputPath, "wal": report.logPath,
        "complete": report.isComplete, "opens": report.opens, "obstacle": report.obstacle,
        "lacksModel": report.lacksModel, "lossy": report.isLossy, "changed": report.isChanged,
        "unplaced": report.unplaced, "undecidedLinks": report.undecided,
        "misplaced": report.misplaced, "doubtful": report.doubtful, "mixed": report.isMixed,
        "uncertain": report.uncertain, "needsModel": report.needsModel,
        "unbalanced": report.unbalanced.values.reduce(0, +),
        "zeroed": report.zeroed, "unfetchedRows": report.unfetchedRows,
        "unread": report.unread ?? [],
        "unreadable": report.unreadable, "missingPages": report.missingPages,
        "unknownHoles": report.unknownHoles, "notes": report.notes,
      ])
      json.numbers(
        "openKeys", report.openKeys.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
      json.numbers(
        "missing", report.missing.sorted { $0.key < $1.key }.map { ($0.key, $0.value.count) })
      json.objects("lostTables", report.lostTables.sorted { $0.key < $1.key }) { name, lost in
        ["name": name, "doubtful": lost.doubtful, "fits": !lost.isUnfit]
      }
      json.objects("unreadableFiles", report.unreadableFiles) {
        ["path": $0.path, "reason": $0.reason]
      }
      json.numbers("gone", report.gone.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
      if let files = report.missingFiles {
        json.object(
          "missingFiles",
          [
            "count": files.count, "of": files.of, "properties": files.properties,
            "folder": files.folders.own, "newFolder": files.folders.new,
          ])
      } else {
        json.null("missingFiles")
      }
      json.numbers("entities", report.entities.map { ($0.name, $0.objects) })
      if !report.pages.isEmpty {
        json.objects("pages", report.pages) { page in
          [
            "table": page.table, "page": page.page, "frame": page.frame,
            "first": page.keys.lowerBound, "last": page.keys.upperBound, "rows": page.rows,
            "certain": page.isCertain,
          ]
        }
      }
      json.array("tables") { json in
        for table in report.tables {
          json.object { json in
            json.fields([
              "name": table.name, "entity": table.entity, "rows": table.rows,
              "guessed": table.guessed, "refused": table.refused.map { String($0) },
            ])
            json.objects("holes", table.holes) { hole in
              [
                "first": hole.keys.lowerBound,
                "last": hole.keys.upperBound == .max ? nil : hole.keys.upperBound,
                "missing": hole.missing,
              ]
            }
            json.objects("cut", table.cut.sorted { $0.key < $1.key }) { row in
              ["key": row.key, "columns": row.value]
            }
          }
        }
      }
    }
  }
}
