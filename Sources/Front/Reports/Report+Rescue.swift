import ManagedModel
import ManagedStore
import Migration
import Rescue

extension Advice.Choice {
  /// A healthy store of the same version.
  package static let sibling = Advice.Choice("sibling", "StoreSalvage.Options.sibling")
  /// The objects that are to be back.
  package static let onlyObjects = Advice.Choice("only", "Restoration.Choice.only")
  /// The report with all that the text sums up.
  package static let salvageReport = Advice.Choice("salvageReport", "SalvageReport")
}

extension Report {
  /// What was saved of a damaged store.
  ///
  /// - Parameter missing: names of the store's files that are not downloaded.
  package init(_ report: SalvageReport, seconds: Double, lacking missing: [String] = []) {
    let objects = NumberText.counted(report.objects, "object")
    let isWhole = report.isWhole && missing.isEmpty && !report.lacksOwnLog
    let loss =
      report.lacksRows
      ? "some are lost: see below"
      : report.isLossy
        ? report.objects == 0 || report.unread?.isEmpty == false
          ? "see below" : "they may not be all, or not as they were last: see below"
        : !report.isWhole
          ? "files that they name are missing: see below"
          : !missing.isEmpty
            ? "without what is in \(missing.joined(separator: ", "))"
            : report.lacksOwnLog
              ? "without what was only in its own -wal, if it had one"
              : "nothing is known to be lost"
    var head = [
      Line(
        isWhole ? .success : .warning,
        "\(objects) saved in \(NumberText.seconds(seconds)); \(loss)"),
      Line("the new store: \(report.outputPath)", as: .code),
      report.isComplete && report.isModelMade
        ? Line(
          .note,
          "it opens with the model in it, which was made of the objects: the app's may differ")
        : report.isComplete
          ? Line(.success, "it opens with the model in it")
          : report.opens && report.lacksModel
            ? Line(.note, "it opens with the app's own model: no model is in it")
            : Line(.warning, "Core Data will not open it as it is: see the notes"),
      Line("the damaged store is unchanged: \(report.storePath)", as: .detail),
    ]
    if let log = report.logPath { head.append(Line("read together with: \(log)", as: .detail)) }
    // Where no key was given out, there is nothing to look for, and an XML or binary store keeps nothing.
    let tellsEarlier = report.isLossy && !report.isOfEmptyStore && report.unread == nil
    let earlier: Advice =
      "Earlier states of lost objects may still be in the file\(report.undeletion)"
    self.init(
      [Section(head)] + Self.contents(report, tellsEarlier ? [Line(.note, earlier)] : []))
  }

  /// What a new store holds, and what it lacks.
  ///
  /// - Parameter notes: what is to be said besides.
  static func contents(_ report: SalvageReport, _ notes: [Line] = []) -> [Section] {
    let remarks = report.remarks + notes
    return [
      Section(
        "objects", columns: ["saved"],
        report.entities.map { Line("\($0.name)", numbers: [NumberText.grouped($0.objects)]) }),
      Section("lost", remarks.filter { $0.mark == .warning }),
      Section("notes", remarks.filter { $0.mark != .warning } + [Line](notes: report.notes)),
    ]
  }
}

extension Report.Mark {
  /// The sign of a finding.
  package init(_ severity: Finding.Severity) {
    self =
      switch severity {
      case .error: .error
      case .warning: .warning
      case .note: .note
      }
  }
}

extension SalvageReport {
  /// How lost objects are looked for, behind a sentence.
  fileprivate var undeletion: Advice {
    undeleteCommand.map { ". To look for them: \($0)" } ?? "."
  }

  /// What was lost, and what was found otherwise than by its tree, as sentences.
  package var remarks: [Report.Line] {
    typealias Line = Report.Line
    var remarks = (unread ?? []).map { Line(.warning, "\($0)") }
    remarks += tables.flatMap { $0.remarks(isMixed: isMixed) }
    func lose(_ count: Int, _ text: Advice) {
      guard count > 0 else { return }
      remarks.append(Line(.warning, text))
    }
    lose(
      missingPages,
      "\(NumberText.counted(missingPages, "page")) \(missingPages == 1 ? "is" : "are") missing or unreadable, and it is not known to which table \(missingPages == 1 ? "it" : "they") belonged."
    )
    lose(
      unknownHoles,
      "\(NumberText.grouped(unknownHoles)) pages of tables whose names are lost cannot be read."
    )
    lose(
      unplaced - undecided,
      "\(NumberText.counted(unplaced - undecided, "row")) \(unplaced - undecided == 1 ? "belongs" : "belong") to no known table."
    )
    lose(
      lacksRelationships ? undecided : 0,
      "\(NumberText.counted(undecided, "link")) between objects \(undecided == 1 ? "is" : "are") kept in the table \(SalvagedCopy.undecidedLinks) of the new store: without a model it is not known to which relationship \(undecided == 1 ? "it belongs" : "they belong"). Salvage again with \(.commandModel, "MODEL")."
    )
    lose(
      lacksRelationships ? 0 : undecided,
      "\(NumberText.counted(undecided, "link")) between objects could belong to several relationships: \(undecided == 1 ? "it is" : "they are") kept in the table \(SalvagedCopy.undecidedLinks) of the new store, with the names of the possible tables."
    )
    remarks += ofLostTables
    if let obstacle {
      remarks.append(
        Line(
          .warning,
          "The new store does not open as a Core Data store: \(obstacle.printable). Its tables have \(NumberText.counted(tables.reduce(0) { $0 + $1.rows }, "row")). Salvage again with \(.commandModel, "MODEL"): then metadata and model cache."
        ))
    } else if lacksModel {
      remarks.append(
        Line(
          .note,
          "The new store has no model in it. The app opens it with its own model; to read it here, give \(.commandModel, "MODEL")."
        ))
    }
    lose(unreadable, "\(NumberText.counted(unreadable, "row")) could not be read.")
    lose(
      misplaced,
      "\(NumberText.counted(misplaced, "page or row", plural: "pages or rows")) found where those of another table, or of other keys, belong: what belongs there is lost unless it was found elsewhere."
    )
    for (table, keys) in missing.sorted(by: { $0.key < $1.key }) {
      let name = tables.first { $0.name == table }?.entity ?? table
      // Keys of a page that cannot be read are reported with it already.
      let holes = tables.first { $0.name == table }?.holes ?? []
      let keys = keys.filter { key in
        !holes.contains { $0.missing != 0 && $0.keys.contains(key) }
      }
      let first = keys.prefix(5).map { "p\($0)" }.joined(separator: ", ")
      lose(
        keys.count,
        "\(name.printable): \(NumberText.counted(keys.count, "object")) in an index \(keys.count == 1 ? "is" : "are") on no page of the table (\(first)\(keys.count > 5 ? " …" : "")). \(keys.count == 1 ? "Its" : "Their") page may be an older version."
      )
    }
    if zeroed > 0 {
      remarks.append(
        Line(
          .note,
          "\(NumberText.counted(zeroed, "row")) \(zeroed == 1 ? "has a value that ends in" : "have values that end in") zeros up to the end of a page: either the app stored them, or the page was not written completely."
        ))
    }
    for sentence in unfetchedRows {
      remarks.append(
        Line(.warning, "\(sentence) No fetch finds them: a repair gives them an entity."))
    }
    for (table, count) in unbalanced.sorted(by: { $0.key < $1.key }) {
      let name = tables.first { $0.name == table }?.entity ?? table
      lose(
        count,
        "\(name.printable): \(NumberText.counted(count, "row is", plural: "rows are")) on pages whose free space is wrong: such a page may mix two states, and so may the values of its rows."
      )
    }
    lose(
      doubtful,
      "\(NumberText.counted(doubtful, "row")) or more \(doubtful == 1 ? "has" : "have") different values in an index: one of the two is older, or damaged, and it is not known which. Those in the table were saved."
    )
    for (entity, most) in gone.sorted(by: { $0.key < $1.key }) {
      remarks.append(
        Line(
          .warning,
          needsModel
            ? "\(entity.printable): the CREATE statement of its table is lost, and keys up to p\(NumberText.grouped(most)) were given out. To save its rows, salvage again with \(.commandModel, "MODEL")."
            : isOfUndeletion
              ? "\(entity.printable): its table is missing, and \(NumberText.counted(most, "key that was given out is", plural: "keys that were given out are")) in no row that was found."
              : "\(entity.printable): its table is missing, and keys up to p\(NumberText.grouped(most)) were given out. Its rows may still be on free pages\(undeletion)"
        ))
    }
    remarks += lacking.map { Line(.warning, Advice(stringLiteral: $0)) }
    if let lacks { remarks.append(Line(.note, lacks.advice(ShellText.quoted(outputPath)))) }
    if let first = unreadableFiles.first {
      let count = NumberText.counted(unreadableFiles.count, "file")
      remarks.append(
        Line(
          .warning,
          "\(count) beside the store cannot be read and were not copied, such as \(first.path.printable): \(first.reason)."
        ))
    }
    if isChanged {
      remarks.append(
        Line(
          .warning,
          "Another program changed the store while it was read: the result may mix two states. Close that program, and salvage the store again."
        ))
    }
    if objects == 0, gone.isEmpty, opens {
      remarks.append(
        isOfEmptyStore
          ? Line(
            .warning,
            "No object was ever saved in this file. If the app had any, they are in a -wal that is missing."
          )
          : Line(.warning, "No object was found."))
    }
    if let counted { remarks.append(counted) }
    if let files = missingFiles {
      remarks.append(
        Line(
          .warning,
          "\(NumberText.grouped(files.count)) of \(NumberText.grouped(files.of)) files of external data (\(files.properties.joined(separator: ", ").printable)) are missing: the hidden folder \(files.folders.own.printable) does not have them. Ask for the whole folder, and put it beside the new store as \(files.folders.new.printable)."
        ))
    }
    return remarks
  }
}

extension SalvageReport.Lack {
  /// What helps a store at a path, as a printed word.
  fileprivate func advice(_ path: String) -> Advice {
    switch self {
    case .unusedTables:
      "The new store lacks tables that never held anything. To create them: \(.deed("repair-tables"), of: [path])"
    case .tables:
      "The new store lacks tables. To create them, empty: \(.deed("repair-tables-forced"), of: [path])"
    case .columns:
      "The new store lacks columns: take them from another copy of the store, or add empty ones of these names."
    }
  }
}

extension SalvageReport {
  private static let mostNames = 12

  /// What is not known of tables whose CREATE statement is gone.
  private var ofLostTables: [Report.Line] {
    typealias Line = Report.Line
    let sorted = lostTables.sorted { $0.key < $1.key }
    func names(_ all: [String]) -> String {
      all.prefix(Self.mostNames).joined(separator: ", ").printable
        + (all.count > Self.mostNames ? " …" : "")
    }
    let plain = sorted.filter { $0.value.doubtful.isEmpty }.map(\.key)
    let advice: Advice =
      knowsVersions
      ? "A healthy store of the same version (\(.sibling, "STORE")) would show it."
      : "Give all versions of the model (\(.commandModel) with the .momd or .xcdatamodeld), or a healthy store of the same version (\(.sibling, "STORE")), to be sure."
    var remarks: [Line] = []
    if !plain.isEmpty {
      remarks.append(
        Line(
          .warning,
          "\(plain.count == 1 ? "The CREATE statement of a table is" : "The CREATE statements of \(plain.count) tables are") lost (\(names(plain))): the column order of a new store was assumed. A store that was migrated in place may have another order. \(advice)"
        ))
    }
    for (table, lost) in sorted where !lost.doubtful.isEmpty {
      remarks.append(
        Line(
          .warning,
          lost.isUnfit
            ? "The CREATE statement of \(table.printable) is lost, and its rows do not fit the model: the column order of a new store was assumed. Do not rely on the values. \(advice)"
            : "The CREATE statement of \(table.printable) is lost. These columns may have each other's values: \(names(lost.doubtful)). \(advice)"
        ))
    }
    return remarks
  }

  /// What the store's own counters say of lost pages whose table is not known.
  private var counted: Report.Line? {
    guard missingPages + unknownHoles > 0, !openKeys.isEmpty else { return nil }
    let sorted = openKeys.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    let open = sorted.filter { $0.value > 0 }
    let whole = sorted.filter { $0.value == 0 }.map { $0.key.printable }
    let uncounted = Set(tables.compactMap(\.entity)).subtracting(openKeys.keys).sorted()
    var text = "By the store's own key counters, "
    if open.isEmpty {
      text += "no object is missing"
    } else {
      let most = open.map { "\($0.key.printable) \(NumberText.grouped($0.value))" }
      text +=
        "at most these are missing: \(most.joined(separator: ", ")) (including deleted ones)"
    }
    if !whole.isEmpty { text += "; nothing of \(whole.joined(separator: ", "))" }
    if !uncounted.isEmpty {
      text +=
        "; the counters of \(uncounted.map(\.printable).joined(separator: ", ")) are lost, too"
    }
    return Report.Line(.note, "\(text).")
  }
}

extension SalvageReport.Table {
  fileprivate func remarks(isMixed: Bool) -> [Report.Line] {
    typealias Line = Report.Line
    let name = (entity ?? name).printable
    var remarks: [Line] = []
    if guessed > 0 {
      let isOne = guessed == 1
      let found = "\(NumberText.counted(guessed, noun)) of \(name)"
      remarks.append(
        Line(
          isMixed ? .warning : .note,
          isMixed
            ? "\(found) may belong to the other store: nothing shows which store \(isOne ? "its page is" : "their pages are") from. \(.salvageReport, "FILE") lists \(isOne ? "the page" : "these pages") as not certain."
            : "\(found) \(isOne ? "was found by searching: its page is in no b-tree, or has" : "were found by searching: their pages are in no b-tree, or have") no header."
        ))
    }
    remarks += ofHoles(name)
    if !cut.isEmpty {
      remarks.append(
        Line(
          .warning,
          "\(name): \(NumberText.counted(cut.count, "row lacks", plural: "rows lack")) a value that is lost, and is NULL now."
        ))
    }
    if !refused.isEmpty {
      remarks.append(
        Line(
          .warning,
          "\(name): \(NumberText.grouped(refused.count)) were left out, because the table's constraints refuse them."
        ))
    }
    return remarks
  }
}

extension SalvageReport.Table {
  /// Ranges of lost keys that are listed one by one.
  private static let mostRanges = 10

  private var noun: String { entity == nil ? "row" : "object" }

  /// The ranges of keys on pages that cannot be read; of many the first ones, and the others in one line.
  private func ofHoles(_ name: String) -> [Report.Line] {
    let lost = holes.filter { $0.missing != 0 }
    var lines = lost.prefix(Self.mostRanges).map { hole in
      let count =
        hole.missing.map { "at most \(NumberText.counted($0, noun)) lost" }
        ?? "some \(noun)s may be lost"
      return Report.Line(
        .warning, "\(name): \(count) (keys \(hole.text)), on pages that cannot be read.")
    }
    let rest = lost.dropFirst(Self.mostRanges)
    guard !rest.isEmpty else { return lines }
    let counts = rest.compactMap(\.missing)
    let more =
      counts.count == rest.count
      ? "at most \(NumberText.counted(counts.reduce(0, +), "more \(noun)")) lost"
      : "more \(noun)s may be lost"
    lines.append(
      Report.Line(
        .warning,
        "\(name): \(more), in \(NumberText.counted(rest.count, "further range", plural: "further ranges")) of keys; \(.salvageReport, "FILE") lists them all."
      ))
    return lines
  }
}

extension SalvageReport.Hole {
  /// Its keys: `p4920–p4965`.
  fileprivate var text: String {
    let (first, last) = (keys.lowerBound, keys.upperBound)
    return last == .max ? "from p\(first) on" : last == first ? "p\(first)" : "p\(first)–p\(last)"
  }
}
