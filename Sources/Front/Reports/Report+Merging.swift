import Comparison
import ManagedModel
import Merging

extension EntityPairing {
  /// What pairs the objects, as a cell of a table.
  package var way: String {
    let names = on.joined(separator: ", ")
    return switch by {
    case .key: "key"
    case .unique: "unique \(names)"
    case .attribute, .match: names
    case .none: "—"
    }
  }
}

extension Report {
  /// How many objects of each entity two stores have, and how many their result has.
  package init(countsOf merge: MergeReport) {
    let isPaired = merge.unpaired.isEmpty
    let leavesOut = merge.entities.contains { $0.leftOut > 0 }
    let titles =
      isPaired ? ["both", "changed", "added"] + (leavesOut ? ["left out"] : []) + ["result"] : []
    var rows = [
      Table.Row(cells: ["entity", "OLD", "NEW"] + titles + ["paired by"], role: .title)
    ]
    rows += merge.entities.filter { $0.old > 0 || $0.new > 0 }.map { count in
      let outcome =
        isPaired
        ? [count.paired, count.changed, count.added] + (leavesOut ? [count.leftOut] : [])
          + [count.total] : []
      return Table.Row(
        cells: [count.entity] + ([count.old, count.new] + outcome).map(NumberText.grouped)
          + [count.pairing.way])
    }
    var table = Table(rows: rows, numbers: Set(1..<(3 + titles.count)))
    table.isCut = true
    self.init([Section(table)])
  }

  /// What becomes of two stores in one, or why they are not merged and what helps. The verdict is the last section.
  package init(outcomeOf merge: MergeReport) {
    guard merge.unpaired.isEmpty else {
      self.init([
        Section(
          merge.unpaired.map { count in
            Line(
              .error,
              "nothing pairs the objects of \(count.entity)\(count.lack): \(NumberText.grouped(count.old)) in OLD, \(NumberText.grouped(count.new)) in NEW"
            )
          }),
        Section([
          Line(
            .error,
            "\(NumberText.counted(merge.unpaired.count, "entity", plural: "entities")) \(merge.unpaired.count == 1 ? "has" : "have") objects that nothing pairs. Give the copy that both stores come from with \(.mergeBase, "FILE"), or attributes that identify an object with \(.mergeMatch, "ENTITY=NAME"). \(.mergeMatch, "key") pairs objects with equal keys, unless no value in them is equal."
          )
        ]),
      ])
      return
    }
    var verdict = Section([Self.verdict(merge)])
    verdict.isClose = true
    self.init([Section(Self.remarks(merge)), verdict])
  }

  private static func verdict(_ merge: MergeReport) -> Line {
    if merge.undecided > 0 {
      return Line(
        .error,
        "\(NumberText.counted(merge.undecided, "conflict")) to decide: \(.mergePreference, "new"), \(.mergePreference, "old") or \(.mergePreference, "ENTITY=ATTRIBUTE:newest")"
      )
    }
    guard let path = merge.outputPath else {
      return Line(.success, "can be merged; nothing was written")
    }
    return Line(
      .success, "merged: \(path), its objects verified against both stores; neither was modified")
  }

  private static func remarks(_ merge: MergeReport) -> [Line] {
    let returned = merge.entities.reduce(0) { $0 + $1.returned }
    let renumbered = merge.entities.reduce(0) { $0 + $1.renumbered }
    var lines: [Line] = []
    if returned > 0 {
      lines.append(
        Line(
          .note,
          "\(NumberText.counted(returned, "object")) deleted in NEW restored from OLD; \(.mergeKeepsDeleted) leaves \(returned == 1 ? "it" : "them") out"
        ))
    } else if merge.deletionSource == nil, merge.added > 0 {
      lines.append(
        Line(
          .note,
          "It is unknown \(merge.added == 1 ? "whether the added object was" : "which of the \(NumberText.grouped(merge.added)) added objects were") deleted in NEW: NEW’s history does not show it. \(.mergeBase, "STORE") does."
        ))
    }
    func note(_ mark: Mark, _ count: Int, _ noun: String, _ rest: String) {
      if count > 0 { lines.append(Line(mark, "\(NumberText.counted(count, noun)) \(rest)")) }
    }
    note(
      .note, renumbered, "object",
      "of OLD \(renumbered == 1 ? "has" : "have") a new key: NEW may have used the old one")
    note(.note, merge.links, "many-to-many link", "added from OLD")
    note(
      .note, merge.lostLinks, "reference", "of OLD left out: the object is not in the result")
    note(.note, merge.files, "external file", "copied from OLD")
    note(
      .warning, merge.missingFiles, "external file",
      "of OLD missing: the values stay without content")
    if let transaction = merge.transaction, !merge.isMirrored {
      lines.append(
        Line(
          .note,
          "transaction \(String(transaction)) of NEW’s history, by \(ChangeHistory.author), names what was added and changed: the app’s observers see it"
        ))
    }
    if merge.isMirrored, merge.added + merge.changed > 0 {
      lines.append(
        Line(
          .warning,
          merge.transaction == nil
            ? "NEW is mirrored to iCloud and keeps no history: the app will not upload the \(merge.words) by itself"
            : "NEW is mirrored to iCloud: the app will upload the \(merge.words) to all devices, added objects as new ones"
        ))
    }
    return lines + [Line](notes: merge.notes)
  }
}

extension MergeReport {
  /// `12 added and 3 changed objects`
  fileprivate var words: String {
    let parts = [(added, "added"), (changed, "changed")].filter { $0.0 > 0 }
    return parts.map { "\(NumberText.grouped($0.0)) \($0.1)" }.joined(separator: " and ")
      + (added + changed == 1 ? " object" : " objects")
  }
}

extension MergeReport.EntityCount {
  /// What objects lack that nothing pairs; empty where nothing pairs any of their entity.
  fileprivate var lack: String {
    lacking.isEmpty ? "" : " that have no \(lacking.joined(separator: ", "))"
  }
}

extension MergeReport.Winner {
  /// Whose values are in the result; `nil` where nothing says so.
  package var sentence: String? {
    switch self {
    case .old: "OLD’s counts"
    case .new: "NEW’s counts"
    case .undecided: nil
    }
  }
}

extension MergeReport.Loss {
  /// What became of the object or the values, and why.
  package var sentence: String {
    let isObject = change.kind == .delete
    return switch reason {
    case .deleted: "left out: it was deleted in NEW"
    case .dependent: "left out: an object that it requires is not in the result"
    case .uniqueness where isObject:
      "left out: another object has its value, which must be unique"
    case .uniqueness: "OLD’s value lost: another object has it, and it must be unique"
    case .missingFile: "OLD’s value lost: its file is missing, and NEW has content"
    case .oneToOne where isObject:
      "left out: the object that it requires is linked to another one"
    case .oneToOne where change.a == nil:
      "NEW’s link lost: OLD’s counts, and each object can have one"
    case .oneToOne: "OLD’s link lost: the other object is linked already, and can have one link"
    }
  }
}
