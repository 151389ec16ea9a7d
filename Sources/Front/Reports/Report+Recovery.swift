import ManagedModel
import ManagedStore
import Migration
import Rescue

extension Report {
  /// Which deleted objects are back in a new store.
  package init(_ report: Restoration.Report, seconds: Double) {
    let head = [
      Line(
        report.count > 0 && !report.isLossy ? .success : .warning,
        "\(NumberText.counted(report.count, "deleted object")) restored in \(NumberText.seconds(seconds))\(report.isLossy ? "; see below" : "")"
      ),
      Line("the new store: \(report.salvage.outputPath)", as: .code),
      Line("the store is unchanged: \(report.salvage.storePath)", as: .detail),
    ]
    var restored = [Line](counts: report.restored, .added)
    if report.links > 0 {
      restored.append(
        Line("links between objects", numbers: [NumberText.grouped(report.links)]))
    }
    let refused = report.refused.sorted { $0.key < $1.key }.map { entity, keys in
      let first = keys.prefix(5).map { "p\($0)" }.joined(separator: ", ")
      return Line(
        .warning,
        "\(entity): \(NumberText.grouped(keys.count)) left out, because an object with their unique values or key exists: \(first)\(keys.count > 5 ? " …" : "")"
      )
    }
    let emptied = report.emptied.sorted { $0.key < $1.key }.map {
      Line(
        .warning,
        "\($0.key) of \(NumberText.grouped($0.value)) is empty now: the object that it referenced is missing"
      )
    }
    let origins = report.first.prefix(50).map {
      Line(
        "\($0.id.description): key \($0.origin.certainty.rawValue), \($0.origin.place)\($0.origin.isFormer ? ", of another time" : "")\($0.origin.hasAllValues ? "" : ", in part")"
      )
    }
    self.init(
      [
        Section(head), Section("restored", columns: ["objects"], restored + Self.hints(report)),
        Section(Self.uncertainty(report) + refused + emptied),
      ] + Self.contents(report.salvage)
        + [Section("the first of them, and where they were found", origins)])
  }

  /// What was found of deleted objects.
  package init(_ undeletion: Undeletion) {
    typealias Number = (Undeletion.Entity) -> Int
    let all = undeletion.entities
    func sum(_ number: Number) -> Int { all.reduce(0) { $0 + number($1) } }
    let lost = sum(\.lost)
    var columns: [(title: String, of: Number)] = [("deleted", { $0.deleted })]
    if lost > 0 { columns.append(("maybe lost", { $0.lost })) }
    columns += [
      ("key inferred", { $0.inferred }), ("key unknown", { $0.keyless }),
      ("in part", { $0.partial }), ("older", { $0.older }),
    ]
    let rows = all.map { entity in
      Line("\(entity.name)", numbers: columns.map { NumberText.grouped($0.of(entity)) })
    }
    let path = ShellText.quoted(undeletion.path)
    var next: [Line] = []
    if let first = all.first(where: { $0.deleted + $0.lost > 0 }) {
      let name = ShellText.quoted(first.name)
      let which: Advice = undeletion.distrust == nil ? "them" : "the objects of \(.onlyObjects)"
      next = [
        Line("To list them: \(.deed("undeletion-of"), of: [path, name])", as: .code),
        Line("To write a new store with \(which) restored, add \(.output, "FILE")."),
      ]
    } else if let first = all.first {
      let name = ShellText.quoted(first.name)
      next = [
        Line(
          "To list their earlier states: \(.deed("undeletion-versions"), of: [path, name])",
          as: .code)
      ]
    }
    if let kept = undeletion.kept.first {
      let places = [ShellText.quoted(kept.backup.path), path, "FILE"]
      next.append(
        Line(
          "To write a new store with those of the backup restored: \(.deed("merge"), of: places)",
          as: .code))
    }
    var remarks: [Line] = []
    func add(_ mark: Mark, _ count: Int, _ text: Advice) {
      if count > 0 { remarks.append(Line(mark, text)) }
    }
    add(
      .warning, undeletion.isWiped == true ? 1 : 0,
      "What was not found is probably wiped: freed blocks and free pages hold zeros, as SQLite leaves them with secure_delete."
    )
    let (unsure, ambiguous) = (sum(\.unsure), sum(\.ambiguous))
    add(
      .note, unsure,
      "\(NumberText.grouped(unsure)) of those without a key may be earlier states of objects that still exist: look at them before you rely on them."
    )
    add(
      .warning, ambiguous,
      "\(NumberText.grouped(ambiguous)) have the same key as another row with different values, and it is not known which was last: look at both, and name one with \(.onlyObjects)."
    )
    add(
      .warning, lost,
      "\(NumberText.counted(lost, "object")) may be lost instead of deleted: \(lost == 1 ? "its row" : "their rows") may have been on pages that cannot be read or trusted. What was found of \(lost == 1 ? "it" : "them") may be an earlier state."
    )
    let (former, misnumbered) = (sum(\.former), sum(\.misnumbered))
    add(
      .warning, former,
      "\(NumberText.grouped(former)) of them were found among rows of another time, such as from before a migration: their values may be that old."
    )
    add(
      .warning, misnumbered,
      "\(NumberText.grouped(misnumbered)) of these may be of another entity, since entities had other entity IDs then: they are restored only where \(.onlyObjects) names them."
    )
    if let distrust = undeletion.distrust {
      remarks.append(Line(.warning, "Look at each object before you restore it: \(distrust)."))
    }
    let unsaved = sum(\.unsaved)
    add(
      .note, unsaved,
      "\(NumberText.grouped(unsaved)) of them were never saved: they are restored only where \(.onlyObjects) names them."
    )
    self.init([
      all.isEmpty
        ? Section([Line("Nothing of a deleted object was found.")])
        : Section("entity", columns: columns.map(\.title), rows),
      Section(next), Section(remarks + [Line](notes: undeletion.notes)),
    ])
  }

  /// The restored objects that may have been lost instead of deleted, those that are there in part, and those of another
  /// time.
  private static func uncertainty(_ report: Restoration.Report) -> [Line] {
    let (uncertain, former, partial) = (report.uncertain, report.former, report.partial)
    var lines: [Line] = []
    if partial > 0 {
      lines.append(
        Line(
          .warning,
          "\(NumberText.grouped(partial)) of them \(partial == 1 ? "is" : "are") there in part: values are missing, or other bytes may have been written over them"
        ))
    }
    if uncertain > 0 {
      lines.append(
        Line(
          .warning,
          "\(NumberText.grouped(uncertain)) of them may have been lost instead of deleted, and \(uncertain == 1 ? "was" : "were") restored in a state that may be an earlier one"
        ))
    }
    if former > 0 {
      lines.append(
        Line(
          .warning,
          "\(NumberText.grouped(former)) of them stood among rows of another time, such as of before a migration: their values may be those of then"
        ))
    }
    return lines
  }

  /// What a person should know of the links of objects that are back.
  private static func hints(_ report: Restoration.Report) -> [Line] {
    let (freedLinks, unset) = (report.freedLinks, report.unset)
    var hints = report.referenced.sorted { $0.key < $1.key }.map { place, count in
      Line(
        .success,
        "\(place.printable): \(NumberText.counted(count, "reference")) of other objects to them \(count == 1 ? "is" : "are") still there."
      )
    }
    if freedLinks > 0 {
      let isOne = freedLinks == 1
      hints.append(
        Line(
          .note,
          "\(NumberText.counted(freedLinks, "more link")) \(isOne ? "was" : "were") found where rows were deleted, and \(isOne ? "is" : "are") back, too: a link that the app removed earlier looks the same."
        ))
    }
    if !unset.isEmpty {
      let names = unset.prefix(6).joined(separator: ", ") + (unset.count > 6 ? " …" : "")
      hints.append(
        Line(
          .note,
          "References to them from other objects (\(names)) were emptied when they were deleted: which objects had any is not known."
        ))
    }
    return hints
  }

  /// What was put right in a store, and what is left.
  package init(_ receipt: RepairReceipt) {
    let notes = Section([Line](notes: receipt.notes))
    let left = Section(
      "what is left",
      receipt.left.map { Line(Mark($0.severity), "\($0.sentence) [\($0.kind.rawValue)]") })
    guard receipt.isDone || receipt.resultPath != nil else {
      let isWhole = receipt.left.isEmpty
      let head = Line(
        isWhole ? .success : .none, "nothing to repair\(isWhole ? "" : " that needs no choice")")
      self.init([Section([head]), notes, left])
      return
    }
    let verb = receipt.resultPath == nil ? "would be repaired" : "repaired"
    var head = [
      Line(
        .success,
        "\(verb) in \(NumberText.seconds(receipt.seconds)), \(NumberText.seconds(receipt.verificationSeconds)) of them to verify"
      ),
      Line(
        receipt.resultPath.map { "\($0), \(NumberText.bytes(receipt.bytes))" }
          ?? "\(receipt.storePath)", as: .detail),
    ]
    head += Self.sum("result", receipt.checksums.result)
    head += Self.backup(receipt.backupPath, sum: receipt.checksums.backup, of: receipt.storePath)
    if let folder = receipt.orphanFolder {
      head.append(Line("unreferenced files are now in: \(folder)", as: .code))
    }
    let kinds = receipt.kinds.flatMap { kind -> [Line] in
      let more = kind.count - kind.first.count
      return [Line(.success, "\(kind.name)", numbers: [NumberText.grouped(kind.count)])]
        + kind.first.map { Line("\($0.words)", as: .detail, depth: 1) }
        + (more > 0
          ? [
            Line(
              "… and \(NumberText.grouped(more)) more; all of them: \(.deed("change-list"))",
              as: .detail, depth: 1)
          ] : [])
    }
    self.init([
      Section(head), Section("repaired", columns: ["changes"], kinds),
      Self.compared("verified", receipt.verified), notes, left,
    ])
  }
}

extension Restoration.Report {
  /// Objects that are back.
  package var count: Int { restored.values.reduce(0, +) }
}

extension RepairChange {
  /// `Step/p5.recipe: Recipe/p88888 → nothing`
  fileprivate var words: String {
    let object = [entity, key.map { "p\($0)" }].compactMap { $0 }.joined(separator: "/")
    let place = [object, property ?? ""].filter { !$0.isEmpty }.joined(separator: ".")
    let values = "\(Self.short(old)) → \(Self.short(new))"
    return place.isEmpty ? values : place + ": " + values
  }

  private static func short(_ text: String?) -> String {
    guard let text else { return "nothing" }
    return text.count > 80 ? text.prefix(79) + "…" : text
  }
}
