import JSON
import ManagedModel
import ManagedStore
import Migration
import Reports

/// `strata verify`: compares a store with what became of it, object by object.
package enum VerifyCommand {
  private static let (before, after) = (Argument("BEFORE", .store), Argument("AFTER", .store))
  private static let ignored = Option(
    repeating: "ignore", "WHAT", among: StoreVerification.Ignored.allCases,
    "leave this part out")
  package static let command = Command(
    "verify", .migrate, "compares a store with its migrated copy, object by object",
    arguments: [before, after],
    options: [
      Option.to, Option.from, Option.via, Option.mapping, ignored, CheckReport.option, Option.json,
    ],
    details: """
      Without --to, the model of AFTER is the destination.

      It compares objects, links and files; tables, indexes, triggers and views; tables of the app; the
      store's UUID, the model in it, and its bookkeeping: metadata, names, parents and counters in
      Z_PRIMARYKEY, history, CloudKit's tables. An app that goes on using a store changes the bookkeeping:
      --ignore bookkeeping leaves out history, counters, metadata and CloudKit's tables.
      """,
    example: "strata verify Recipes.backup-1 Recipes.sqlite --to Recipes.xcdatamodeld",
    statuses:
      "1 if the stores differ, 3 if the models cannot be determined, 130 if it was cancelled",
    run: Interruption.watched(run))

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    try CheckReport.reporting("strata verify", of: arguments[after], arguments, console) {
      try compare(arguments, $0, console)
    }
  }

  private static func compare(
    _ arguments: Arguments, _ format: CheckReport.Format?, _ console: Console
  ) throws -> CommandStatus {
    let (pathBefore, pathAfter) = (arguments[before], arguments[after])
    // Without --to the second store says itself what the first was to become.
    let request = try MigrationArguments(arguments, to: pathAfter)
    console.warn(request.destination.model.warnings)
    let (before, mapping) = try request.mapping(for: pathBefore)
    let after = try Store(path: pathAfter, model: request.destination.model)
    guard after.modelMatches else {
      throw CoreDataError(
        .incompatible, code: .persistentStoreIncompatibleVersionHash,
        "the store is not of the model \(request.destination.name)",
        path: pathAfter,
        hint: "\(ShellText.command("explain", pathAfter, request.bundle)) explains why.")
    }
    try before.inspect(isForPlan: false)
    let ignored = Set(arguments[ignored])
    var report = try Waiting.tell("comparing every object", on: console) {
      try compared(before, after, mapping, ignored)
    }
    // What was to change is no count of what differs.
    if !report.isEqual {
      for index in report.entities.indices { report.entities[index].changed = nil }
    }
    if let format {
      let checks = CheckReport(report, of: pathBefore, and: pathAfter)
      console.write(checks.text(format))
    } else {
      arguments[.json]
        ? console.json { write(report, to: &$0) }
        : console.report(Report(report, of: pathBefore, and: pathAfter))
    }
    let status = console.finish(before, report.isEqual ? .done : .no)
    return console.finish(after, status)
  }

  /// The comparison checks the second file by the way. One that is damaged is compared once more, as far as
  /// it can be read.
  private static func compared(
    _ before: Store, _ after: Store, _ mapping: MappingModel,
    _ ignored: Set<StoreVerification.Ignored>
  ) throws -> VerificationReport {
    func report() throws -> VerificationReport {
      try StoreVerification.compare(
        before: before, after: after, mapping: mapping, ignoring: ignored,
        isCancelled: { Interruption.isRequested })
    }
    do {
      let found = try report()
      if found.isFileSound || after.isMended { return found }
    } catch let error as CoreDataError where error.kind != .cancelled {
      try after.inspect(isForPlan: false)
      if after.damage == nil { throw error }
    }
    try after.inspect(isForPlan: false)
    return try report()
  }

  private static func write(_ report: VerificationReport, to json: inout JSONWriter) {
    json.field("same", report.isEqual)
    json.objects("differences", report.differences) { difference in
      [
        "part": difference.part.rawValue, "entity": difference.entity,
        "property": difference.property, "message": difference.message,
        "count": difference.count, "first": difference.first.map(\.description),
      ]
    }
    json.field("notes", report.notes)
    json.counts(report.entities, links: report.links)
    json.numbers("compared", report.verified.map { ($0.what, $0.count) })
  }
}
