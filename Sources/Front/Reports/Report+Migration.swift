import ManagedModel
import Migration

extension Report {
  /// How far a migration is whose receipt is reported.
  package enum Outcome: String, Sendable {
    case migrated, copied
    /// On a copy that is gone.
    case rehearsed
    /// The result waits for the cut-over.
    case verified = "made and verified:"

    /// Whether the result is where it was asked for.
    var isInPlace: Bool { self == .migrated || self == .copied }
  }

  /// What a migration did: objects before and after, links, checks, losses, and how to roll it back.
  package init(_ receipt: MigrationReceipt, _ outcome: Outcome = .migrated) {
    let steps = receipt.steps > 1 ? " in \(receipt.steps) steps" : ""
    let size = NumberText.bytes(receipt.bytes)
    var head = [
      Line(
        .success,
        "\(outcome.rawValue) “\(receipt.from)” → “\(receipt.to)”\(steps) in \(NumberText.seconds(receipt.seconds)), \(NumberText.seconds(receipt.verificationSeconds)) of them to verify"
      ),
      Line(
        outcome.isInPlace
          ? "\(receipt.resultPath), \(size)"
          : "\(receipt.resultPath): the result has \(size), and has not replaced the store",
        as: .detail),
    ]
    if outcome.isInPlace {
      head += Self.sum("result", receipt.resultSHA256)
      if receipt.backupPath != nil {
        head += Self.backup(receipt.backupPath, sum: receipt.backupSHA256, of: receipt.storePath)
      } else if receipt.resultPath == receipt.storePath {
        head.append(Line(.warning, "no backup was kept: this cannot be rolled back"))
      }
    }
    var remarks = receipt.losses.map {
      Line(
        $0.isIntended ? .note : .warning,
        "\($0.isIntended ? "deleted, as the recipe says" : "lost, as accepted"): \($0.name), \(NumberText.grouped($0.values)) \($0.noun)"
      )
    }
    let files = receipt.externalData
    if files.referenced > 0 {
      let missing = files.missing.isEmpty ? "none" : NumberText.grouped(files.missing.count)
      remarks.append(
        Line(
          files.missing.isEmpty ? .success : .warning,
          "external files: \(NumberText.grouped(files.referenced)) referenced, \(missing) missing"))
    }
    self.init(
      [Section(head)] + Self.objects(receipt.entities, links: receipt.links)
        + [
          Self.compared("verified", receipt.verified),
          Section(remarks + [Line](notes: receipt.notes)),
        ])
  }

  /// The backup, and what rolls back to it.
  static func backup(_ path: String?, sum: String?, of store: String) -> [Line] {
    guard let path else { return [] }
    return [Line("backup: \(path)", as: .code)] + Self.sum("backup", sum) + [wayBack(of: store)]
  }

  static func sum(_ what: String, _ sum: String?) -> [Line] {
    sum.map { [Line("SHA-256 of the \(what): \($0)", as: .detail)] } ?? []
  }

  private static func wayBack(of store: String, from backup: String? = nil) -> Line {
    Line("to roll back: \(rollback(store, from: backup))", as: .code)
  }

  /// What rolls a store back: to its newest backup, or to one by its path.
  package static func rollback(_ store: String, from backup: String? = nil) -> Advice {
    guard let backup else { return "\(.deed("rollback"), of: [ShellText.quoted(store)])" }
    return "\(.deed("rollback-from"), of: [store, backup].map(ShellText.quoted))"
  }

  /// Objects before and after, and links.
  private static func objects(
    _ entities: [MigrationReceipt.EntityCount], links: [String: Int]
  ) -> [Section] {
    // What became fewer comes first: of a long list it would be out of sight.
    let fewer = entities.filter { $0.after < $0.before }
    var lines = (fewer + entities.filter { $0.after >= $0.before }).map { count in
      Line(
        count.before == count.after ? .none : count.after < count.before ? .removed : .added,
        "\(count.entity)",
        numbers: [
          NumberText.grouped(count.before), NumberText.grouped(count.after),
          count.changed.map(NumberText.grouped) ?? "—",
        ])
    }
    if entities.contains(where: { ($0.changed ?? 0) > 0 }) {
      lines.append(
        Line(
          "rewritten: properties added, removed, renamed or changed; other rows are copied unchanged",
          as: .detail))
    }
    return [
      Section("objects", columns: ["before", "after", "rewritten"], lines),
      Section("links", columns: ["after"], [Line](counts: links)),
    ]
  }

  /// - Parameter mark: of what was compared at all.
  static func compared(
    _ title: Advice, _ all: [MigrationReceipt.Verified], _ mark: Mark = .success
  ) -> Section {
    Section(
      title, columns: ["compared"],
      all.compactMap {
        // The file as a whole is checked, and not so many of something.
        let isCounted = $0.what != VerificationReport.integrity
        guard $0.count > 0 || !isCounted else { return nil }
        return Line(
          $0.count > 0 ? mark : .note, "\($0.what)",
          numbers: [isCounted ? NumberText.grouped($0.count) : "sound"])
      })
  }

  /// A comparison of a store with what became of it.
  package init(_ report: VerificationReport, of before: String, and after: String) {
    self.init(
      [Section([Line("\(before) → \(after)", as: .code)])]
        + Self.objects(report.entities, links: report.links)
        + [
          Self.compared("what was compared", report.verified, .note),
          Section([Line](notes: report.notes) + report.differences.flatMap(\.lines)),
          Section([
            report.isEqual
              ? Line(.success, "every compared object is as the migration must leave it")
              : Line("\(NumberText.counted(report.differences.count, "difference"))")
          ]),
        ])
  }

  /// What was put in the place of a store.
  ///
  /// - Parameter model: name of the version that it has now.
  package init(_ receipt: StoreReset.Receipt, model: String) {
    let former: Advice =
      switch receipt.state {
      case .missing: "There was no store at \(receipt.storePath)."
      case .compatible: "The store opened with \(model); it was set aside anyway."
      case .incompatible(let found):
        "The store did not fit \(model): the version hashes of only \(NumberText.counted(found.matching.count, "entity", plural: "entities")) match."
      case .unreadable(let error): "The store could not be opened: \(error.message)."
      }
    var lines = [
      Line(former), Line(.success, "new, empty store of \(model): \(receipt.storePath)", as: .code),
    ]
    if receipt.isBackupDeleted { lines.append(Line("the old store was deleted, as asked")) }
    lines += receipt.setAside.map { Line("set aside: \($0)", as: .code) }
    // What cannot be opened no rollback puts back.
    if let backup = receipt.backupPath, !receipt.isOldUnreadable {
      lines.append(Self.wayBack(of: receipt.storePath, from: backup))
      if receipt.isOldDamaged {
        lines.append(Line("the old store is damaged: the rollback needs \(.force)", depth: 1))
      }
    }
    self.init([Section(lines + [Line](notes: receipt.notes))])
  }

  /// What a rollback did.
  ///
  /// - Parameter version: what the version of the backup is called.
  package init(_ receipt: StoreRollback.Receipt, version: String? = nil) {
    let name = receipt.backup.path.split(separator: "/").last.map(String.init) ?? ""
    func files(_ count: Int, _ one: String, _ many: String) -> String {
      NumberText.counted(count, "external data file") + (count == 1 ? one : many)
    }
    var head = [
      Line(.success, "rolled back to \(name), version \(version ?? receipt.contents.version)"),
      Line("\(receipt.storePath), \(NumberText.bytes(receipt.bytes))", as: .detail),
    ]
    if receipt.damage.isEmpty {
      head.append(Line(.success, "opens, is intact, and holds what the backup held"))
    } else {
      head.append(Line(.warning, "holds what the backup held, which is damaged"))
      head += receipt.damage.prefix(5).map { Line("\($0)", depth: 1) }
      if !receipt.isBackupRemoved {
        head.append(Line("the backup stays: \(receipt.backup.path)", as: .code))
      }
    }
    if receipt.isBackupRemoved {
      head.append(
        Line("the backup’s own file was removed: its content is the store now", as: .detail))
    }
    if let undone = receipt.undonePath {
      head += [
        Line("the replaced store is kept: \(undone)", as: .code),
        Line("to undo the rollback: \(Self.rollback(receipt.storePath, from: undone))", as: .code),
      ]
    }
    if let support = receipt.undoneSupportPath {
      head.append(Line("its external data are kept: \(support)", as: .code))
    }
    head += [Line](notes: receipt.notes)
    if !receipt.orphaned.isEmpty {
      head.append(
        Line(
          .note,
          "\(files(receipt.orphaned.count, " is no longer referenced by any object; it stays", " are no longer referenced by any object; they stay"))"
        ))
    }
    if !receipt.missing.isEmpty {
      head.append(
        Line(
          .warning,
          "\(files(receipt.missing.count, " of the backup is missing", " of the backup are missing"))"
        ))
    }
    self.init([
      Section(head),
      Section("objects", columns: ["now"], [Line](counts: receipt.contents.counts)),
    ])
  }
}

extension VerificationReport.Difference {
  /// `Recipe.title`, the entity alone, or nothing.
  package var place: String { [entity, property].compactMap { $0 }.joined(separator: ".") }

  /// What differs, and the first objects concerned.
  package var lines: [Report.Line] {
    let first = first.map(\.description).joined(separator: ", ")
    let head = place.isEmpty ? "" : place + ": "
    return [Report.Line(.error, "\(head)\(message) (\(NumberText.grouped(count)))")]
      + (first.isEmpty ? [] : [Report.Line("first: \(first)", as: .detail, depth: 1)])
  }
}
