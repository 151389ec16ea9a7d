import ManagedModel
import ManagedStore
import Salvage

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
    var found = [
      finding(
        .journalHot,
        "A save was interrupted, and the main file may hold half of it. The -journal has \(pages) as \(journal.pages == 1 ? "it was" : "they were") before: SQLite rolls \(journal.pages == 1 ? "it" : "them") back, and all counts are of the store after that.",
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
