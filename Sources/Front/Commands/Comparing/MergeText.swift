import Comparison
import ExportText
import JSON
import ManagedModel
import ManagedStore
import Merging
import Reports

/// What became of two stores, as lines and as JSON.
struct MergeText {
  private let report: MergeReport
  private let console: Console
  private let changes: ChangeWriter
  /// Conflicts that are printed on a terminal.
  private static let mostOnTerminal = 100

  init(_ report: MergeReport, _ console: Console) {
    (self.report, self.console) = (report, console)
    changes = ChangeWriter(.table, console, isWhole: false)
  }

  // MARK: Lines

  func print() throws {
    console.report(Report(countsOf: report))
    if report.unpaired.isEmpty {
      try printConflicts()
      try printLosses()
    }
    console.report(Report(outcomeOf: report))
  }

  private func printConflicts() throws {
    guard report.conflictCount > 0 else { return }
    console.line("")
    console.line(
      "\(NumberText.counted(report.conflictCount, "conflict")), with OLD’s value → NEW’s value:")
    let most = console.isTerminal ? Self.mostOnTerminal : MergeReport.mostConflicts
    for conflict in report.conflicts.prefix(most) {
      var writer = changes
      try writer.write(conflict.change)
      if let sentence = conflict.winner.sentence { console.line("    " + sentence) }
    }
    let printed = min(most, report.conflicts.count)
    let rest = NumberText.grouped(report.conflictCount - printed)
    if report.conflictCount > report.conflicts.count {
      let kept = NumberText.grouped(report.conflicts.count)
      console.line(
        printed < report.conflicts.count
          ? "… and \(rest) more; --report lists the first \(kept)"
          : "… and \(rest) more, which are not listed")
    } else if report.conflictCount > printed {
      console.line("… and \(rest) more; --report lists them")
    }
    console.line("")
  }

  private func printLosses() throws {
    let most = console.isTerminal ? Self.mostOnTerminal : .max
    for loss in report.losses.prefix(most) {
      var writer = changes
      try writer.write(loss.change)
      console.line("    " + loss.sentence)
    }
    if report.losses.count > most {
      console.line(
        "… and \(NumberText.grouped(report.losses.count - most)) more; --report lists them")
    }
  }

  // MARK: JSON

  func write(to json: inout JSONWriter) {
    json.object("merge") { json in
      json.fields([
        "old": report.oldPath, "new": report.newPath, "base": report.basePath,
        "output": report.outputPath, "canRun": report.canRun, "conflictCount": report.conflictCount,
        "undecided": report.undecided, "links": report.links, "lostLinks": report.lostLinks,
        "files": report.files, "missingFiles": report.missingFiles, "mirrored": report.isMirrored,
        "transaction": report.transaction.map { Int($0) },
        "deletionsBy": report.deletionSource?.rawValue, "notes": report.notes,
        "unpaired": report.unpaired.map(\.entity),
      ])
      json.objects("entities", report.entities) { json, count in
        json.fields([
          "entity": count.entity, "by": count.pairing.by.rawValue, "on": count.pairing.on,
          "old": count.old, "new": count.new, "paired": count.paired, "changed": count.changed,
          "added": count.added, "renumbered": count.renumbered, "returned": count.returned,
          "leftOut": count.leftOut, "total": count.total,
        ])
      }
      json.objects("conflicts", report.conflicts) { json, conflict in
        changes.members(of: conflict.change, to: &json)
        json.field("winner", conflict.winner.rawValue)
      }
      json.objects("losses", report.losses) { json, loss in
        changes.members(of: loss.change, to: &json)
        json.field("reason", loss.reason.rawValue)
      }
    }
  }
}
