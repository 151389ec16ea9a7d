import ManagedModel
import ManagedStore
import Salvage

/// What of a store's -wal is not applied, and why: everything of “never silent”. So for a -journal under
/// another name, and for either where iCloud Drive has not downloaded it.
struct WALLayer {
  let place: StorePlace
  let log: WriteAheadLog
  /// Whether it has objects that another store's would have.
  let mayBeForeign: Bool
  /// Objects on its pages, where nothing shows that it is the store's.
  let unvouched: Int
  let strays: [StrayLog]
  /// Those of a -wal or a -journal that is not downloaded.
  let placeholders: [CloudPlaceholder]
  /// Whether a -journal beside the store is rolled back.
  let isRolledBack: Bool
  /// Whether a program has the store open, and may be writing a transaction.
  let isInUse: Bool
  /// Whether the main file is in WAL mode.
  let isLogged: Bool

  private static let undecided: Advice =
    "The counts here include the -wal. If it came from another store, salvage the main file alone."

  func findings() -> [Finding] {
    var found: [Finding] = []
    if let unapplied = log.unapplied {
      let isLost = log.mayMissRows(isInUse: isInUse)
      let kind = unapplied.kind
      if kind == .walUncommitted || isLost {
        // A person has to choose.
        let counts =
          kind == .walForeign
          ? SalvageSource.counts(of: place.path, with: StoreFiles(path: place.path).walPath) : nil
        found.append(
          Finding(
            kind, unapplied.sentence + (counts.map { " " + $0 } ?? ""), count: unapplied.frames,
            in: place))
      }
    }
    if log.isOlderThanStore, let sentence = log.sentences(isInUse: isInUse).last {
      found.append(Finding(.walOlder, sentence, count: log.frames, in: place))
    }
    if mayBeForeign {
      found.append(
        Finding(
          .walForeign, "The -wal may belong to another store. \(SalvageSource.keysBeyondCounters)",
          severity: .warning, count: log.frames, in: place, advice: Self.undecided))
    } else if unvouched > 0 {
      found.append(
        Finding(
          .walUnknown,
          "It is not known whose the -wal is. \(SalvageSource.unvouched(unvouched))",
          count: log.frames, in: place))
    }
    for stray in strays where stray.kind == .journal {
      let isNeeded = !isRolledBack && !stray.isOfAnotherTime
      found.append(
        Finding(
          .journalRenamed, stray.sentence(store: place.path, isNeeded: isNeeded),
          severity: isNeeded ? nil : stray.isOfAnotherTime ? .note : .warning,
          count: stray.frames, first: [stray.name], in: place,
          remedy: stray.isOfAnotherTime ? Remedy.none : .copyWithJournal(stray.name)))
    }
    for stray in strays where stray.kind == .log {
      // With a log of its own, the store has no need of another.
      let isNeeded = log.frames == 0
      found.append(
        Finding(
          .walRenamed, stray.sentence(store: place.path, isNeeded: isNeeded),
          severity: isNeeded ? nil : .warning, count: stray.frames, first: [stray.name],
          in: place, remedy: .copyWithLog(stray.name)))
    }
    for placeholder in placeholders {
      found.append(
        Finding(
          .notDownloaded, placeholder.sentence, first: [placeholder.name], in: place,
          advice: "\(CloudPlaceholder.advice(placeholder.file))"))
    }
    if isLogged, !log.isPresent, !strays.contains(where: { $0.kind == .log }),
      !placeholders.contains(where: \.isLog)
    {
      found.append(
        Finding(
          .walMissing,
          "No -wal file: normal for a store in WAL mode that was closed.", in: place)
      )
    }
    return found
  }
}

extension WriteAheadLog.Unapplied {
  fileprivate var kind: FindingKind {
    switch reason {
    case .header: .walHeader
    case .salts: .walSalts
    case .checksum: .walChecksum
    case .cutOff: .walCutOff
    case .uncommitted: .walUncommitted
    case .zeros: .walZeros
    case .foreign: .walForeign
    }
  }
}

/// What the -journal beside a store says of its last save, and what SQLite makes of it.
struct JournalLayer {
  let place: StorePlace
  let journal: RollbackJournal

  func findings() -> [Finding] {
    switch journal.state {
    case .finished: return []
    case .hot: return hot()
    case .withoutMain:
      return [
        Finding(
          .journalUnapplied,
          "The main file is empty, and a -journal is beside it: SQLite does not roll it back.",
          in: place, remedy: Remedy.none)
      ]
    case .damagedHeader:
      return [
        finding(
          .journalUnapplied,
          "The -journal's header is damaged: SQLite does not roll it back, and the store may hold half of a save."
        )
      ]
    case .superseded(let name):
      return [
        finding(
          .journalUnapplied,
          "The -journal belongs to a transaction over several databases. SQLite treats it as committed if \(name) is missing, and does not roll it back.",
          severity: .warning)
      ]
    }
  }

  private func hot() -> [Finding] {
    let pages = NumberText.counted(journal.pages, "page")
    let head =
      "A save was interrupted, and the main file may hold half of it. The -journal has the former content of \(pages)"
    var found = [
      journal.miscount.map {
        finding(.journalUnapplied, "\(head), but \($0).", count: journal.pages)
      }
        ?? finding(
          .journalHot,
          "\(head): SQLite restores \(journal.pages == 1 ? "it" : "them"), and all counts here are of the store after that.",
          count: journal.pages)
    ]
    if journal.end != .whole {
      found.append(
        finding(
          .journalUnapplied, String(journal.shortage.drop { $0 == " " }), count: journal.missing))
    }
    if journal.isOfAnotherTime {
      found.append(
        finding(
          .journalOlder,
          "The main file was written to after the save of this -journal: \(pages) in the -journal \(journal.pages == 1 ? "is" : "are") older.",
          count: journal.pages))
    }
    return found
  }

  private func finding(
    _ kind: FindingKind, _ sentence: String, severity: Finding.Severity? = nil, count: Int? = nil
  ) -> Finding {
    Finding(kind, sentence, severity: severity, count: count, in: place)
  }
}
