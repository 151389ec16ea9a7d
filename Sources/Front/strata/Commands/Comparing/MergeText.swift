import Comparison
import JSON
import ManagedModel
import ManagedStore
import Merging
import RowText

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
    guard report.unpaired.isEmpty else { return printUnpaired() }
    var rows = [
      ["entity", "paired by", "OLD", "NEW", "both", "changed", "added", "left out", "result"]
    ]
    rows += report.entities.filter { $0.old > 0 || $0.new > 0 }.map { count in
      [count.entity.printable, ChangeWriter.way(count.pairing)]
        + [
          count.old, count.new, count.paired, count.changed, count.added, count.leftOut,
          count.total,
        ].map(NumberText.grouped)
    }
    console.table([.left, .left] + Array(repeating: .right, count: 7), rows)
    try printConflicts()
    try printLosses()
    printCounts()
    for note in report.notes { console.line("· " + note.printable) }
    if report.undecided > 0 {
      console.line(
        "✗ \(NumberText.counted(report.undecided, "conflict")) to decide: --prefer new, --prefer old or --prefer ENTITY=ATTRIBUTE:newest"
      )
    } else if let path = report.outputPath {
      console.line(
        "✓ merged: \(path.printable), its objects verified against both stores; neither was modified"
      )
    } else {
      console.line("✓ can be merged; nothing was written")
    }
  }

  private func printUnpaired() {
    let rows = report.entities.filter { $0.old > 0 || $0.new > 0 }.map { count in
      [
        count.entity.printable, ChangeWriter.way(count.pairing), NumberText.grouped(count.old),
        NumberText.grouped(count.new),
      ]
    }
    console.table([.left, .left, .right, .right], [["entity", "paired by", "OLD", "NEW"]] + rows)
    for count in report.unpaired {
      console.line(
        "✗ nothing pairs the objects of \(count.entity.printable)\(Self.lack(count)): \(NumberText.grouped(count.old)) in OLD, \(NumberText.grouped(count.new)) in NEW"
      )
    }
    console.line(
      "Give the copy that both stores come from with --base FILE, or attributes that identify an object with --match ENTITY=NAME. --match key takes objects with equal keys for one."
    )
  }

  private static func lack(_ count: MergeReport.EntityCount) -> String {
    count.lacking.isEmpty
      ? "" : " that have no \(count.lacking.map(\.printable).joined(separator: ", "))"
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
      switch conflict.winner {
      case .old: console.line("    OLD’s counts")
      case .new: console.line("    NEW’s counts")
      case .undecided: continue
      }
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
      console.line("    " + Self.sentence(loss))
    }
    if report.losses.count > most {
      console.line(
        "… and \(NumberText.grouped(report.losses.count - most)) more; --report lists them")
    }
  }

  private static func sentence(_ loss: MergeReport.Loss) -> String {
    let isObject = loss.change.kind == .delete
    return switch loss.reason {
    case .deleted: "left out: it was deleted in NEW"
    case .dependent: "left out: an object that it requires is not in the result"
    case .uniqueness where isObject:
      "left out: another object has its value, which must be unique"
    case .uniqueness: "OLD’s value lost: another object has it, and it must be unique"
    case .missingFile: "OLD’s value lost: its file is missing, and NEW has content"
    case .oneToOne where isObject:
      "left out: the object that it requires is linked to another one"
    case .oneToOne where loss.change.a == nil:
      "NEW’s link lost: OLD’s counts, and each object can have one"
    case .oneToOne: "OLD’s link lost: the other object is linked already, and can have one link"
    }
  }

  private func printCounts() {
    let returned = report.entities.reduce(0) { $0 + $1.returned }
    let renumbered = report.entities.reduce(0) { $0 + $1.renumbered }
    if returned > 0 {
      console.line(
        "· \(NumberText.counted(returned, "object")) deleted in NEW restored from OLD; --keep-deleted leaves \(returned == 1 ? "it" : "them") out"
      )
    } else if report.deletionSource == nil, report.added > 0 {
      console.line(
        "· It is unknown \(report.added == 1 ? "whether the added object was" : "which of the \(NumberText.grouped(report.added)) added objects were") deleted in NEW: NEW’s history does not show it. --base STORE does."
      )
    }
    if renumbered > 0 {
      console.line(
        "· \(NumberText.counted(renumbered, "object")) of OLD \(renumbered == 1 ? "has" : "have") a new key: NEW may have used the old one"
      )
    }
    if report.links > 0 {
      console.line("· \(NumberText.counted(report.links, "many-to-many link")) added from OLD")
    }
    if report.lostLinks > 0 {
      console.line(
        "· \(NumberText.counted(report.lostLinks, "reference")) of OLD left out: the object is not in the result"
      )
    }
    if report.files > 0 {
      console.line("· \(NumberText.counted(report.files, "external file")) copied from OLD")
    }
    if report.missingFiles > 0 {
      console.line(
        "! \(NumberText.counted(report.missingFiles, "external file")) of OLD missing: the values stay without content"
      )
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
