import ExportText
import JSON
import ManagedModel
import ManagedStore
import Reports
import Terminal

/// `strata history`: the transactions of persistent history, newest first.
package enum HistoryCommand {
  private static let page = 200
  private static let object = Argument(optional: "REF")
  private static let author = Option(
    "author", "AUTHOR", "only transactions of this author (\"\" for those without)")
  private static let find = Option(
    "find", "TEXT", .text,
    "only changes of objects with TEXT in a value, of deleted ones by what history kept, and transactions with TEXT in the author or process"
  )
  private static let limit = Option<Int?>(
    number: "limit", takesAll: true, "how many transactions, or all (default 20)")
  private static let changes = Option("changes", "list the objects that each transaction changed")
  private static let authors = Option("authors", "show the totals of each author instead")
  private static let versions = Option(
    "versions", "list the models that the store had before, as migrations recorded them in history")
  package static let command = Command(
    "history", .look, "shows persistent history, newest first",
    arguments: [Argument.store, object],
    options: [author, find, limit, changes, authors, versions, Option.json, Option.model],
    details: """
      With REF, such as Recipe/p12 or its URI, only the transactions that changed this object, and what each
      of them did to it. The object may have been deleted. --find TEXT looks for objects by a name, number or UUID, by
      a key such as p12, or by the name of their entity.
      """,
    example: "strata history Recipes.sqlite Recipe/p12",
    statuses: "1 if the store keeps no history, or has none of REF or TEXT", run: run)

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let store = try StoreOpening.reading(arguments[.store], model: arguments[.model])
    let isJSON = arguments[.json]
    guard store.hasHistory else {
      if isJSON { console.json { $0.null("history") } }
      console.note("the store keeps no persistent history")
      return console.finish(store, .no)
    }
    if arguments[authors] {
      for author in try store.historyAuthors() ?? [] {
        isJSON ? console.json { write(author, to: &$0) } : print(author, console)
      }
      return console.finish(store)
    }
    if arguments[versions] {
      try printVersions(of: store, isJSON, console)
      return console.finish(store)
    }
    let author = arguments[author].map { $0.isEmpty ? nil : $0 }
    let object = try arguments[object].map { try ObjectCommand.object($0, in: store) }
    let match = try arguments[find].map { try store.historyMatch(for: $0) }
    if match?.isCut == true {
      console.note(
        "only the first \(NumberText.grouped(match?.objects.count ?? 0)) objects with that text count"
      )
    }
    var left = arguments[limit] ?? 20
    var before: Int64?
    while left > 0 {
      let found =
        try store.transactions(
          before: before, author: author, of: object, matching: match, limit: min(page, left))
        ?? []
      guard let last = found.last else { break }
      for transaction in found {
        isJSON
          ? console.json { write(transaction, to: &$0) } : print(transaction, console)
        if arguments[changes] || object != nil || match != nil {
          try printChanges(
            of: transaction, to: object, arguments[changes] ? nil : match, store, isJSON, console)
        }
      }
      left -= found.count
      before = last.number
    }
    if before == nil, left > 0, let what = object?.description ?? match.map({ "“\($0.text)”" }) {
      console.note("history has no change of \(what.printable)")
      return console.finish(store, .no)
    }
    return console.finish(store)
  }

  /// The models that the store had, oldest first, and the one that it has now.
  private static func printVersions(
    of store: Store, _ isJSON: Bool, _ console: Console
  ) throws {
    let former = try store.formerVersions() ?? []
    let digest = store.metadata.digest
    guard !isJSON else {
      for version in former { console.json { write(version, to: &$0) } }
      return console.json { json in
        json.field("current", true)
        json.field("digest", digest)
      }
    }
    for version in former {
      let rest = [version.stage.map { "stage \($0)" }, version.process].compactMap { $0 }
      console.line(
        "\(version.transaction)  \(date(version.timestamp))  model \(version.digest)  left by a \(version.migrator.noun)"
          + rest.map { "  " + $0 }.joined())
    }
    if let digest { console.line("now  model \(digest)") }
    if former.isEmpty {
      console.note("history records no migration of this store")
    } else {
      console.note(
        "To find these models: \(ShellText.command("find-model", store.path)) PATH…")
    }
  }

  private static func date(_ seconds: Double?) -> String {
    seconds.map { CoreDataDate.text($0) } ?? "no date"
  }

  private static func sum(_ counts: HistoryCounts) -> String {
    "+\(counts.inserted) ~\(counts.updated) -\(counts.deleted)"
  }

  private static func print(_ author: HistoryAuthor, _ console: Console) {
    console.line(
      "\(author.name ?? "no author")  \(author.transactions) transactions  \(sum(author.counts))"
        + "  \(date(author.first)) to \(date(author.last))")
  }

  private static func print(_ transaction: HistoryTransaction, _ console: Console) {
    let who = transaction.who { "\($0.migrator.noun) from model \($0.digest)" }
    console.line(
      "\(transaction.number)  \(date(transaction.timestamp))  \(sum(transaction.counts))"
        + (who.isEmpty ? "" : "  " + who.joined(separator: "  ")))
  }

  /// Changes a page at a time: a transaction may have made a million objects.
  private static func printChanges(
    of transaction: HistoryTransaction, to object: ObjectID?, _ match: HistoryMatch?,
    _ store: Store, _ isJSON: Bool, _ console: Console
  ) throws {
    var after: Int64?
    while true {
      let changes = try store.changes(
        of: transaction.number, after: after, to: object, matching: match, limit: 500)
      guard let last = changes.last else { return }
      let labels = try store.names(of: changes.map(\.object))
      for change in changes {
        let label = labels[change.object]
        isJSON
          ? console.json { write(change, label, of: transaction, to: &$0) }
          : print(change, label, console)
      }
      after = last.number
    }
  }

  private static func print(_ change: HistoryChange, _ label: String?, _ console: Console) {
    let sign =
      switch change.kind {
      case .insert: "+"
      case .update: "~"
      case .delete: "-"
      case nil: "?"
      }
    let rest =
      (label.map { [Sanitize.text($0, limit: 60)] } ?? [])
      + (change.properties.map { [$0.joined(separator: ", ")] } ?? [])
      + change.tombstones.map { "\($0.property ?? "?") was \(CellText.line($0.value))" }
    console.line("  \(sign) \(change.object)" + rest.map { "  " + $0 }.joined())
  }

  private static func write(_ counts: HistoryCounts, to json: inout JSONWriter) {
    json.object(
      "counts",
      ["deleted": counts.deleted, "inserted": counts.inserted, "updated": counts.updated])
  }

  private static func write(_ version: FormerVersion, to json: inout JSONWriter) {
    json.field("current", false)
    json.fields(["date": version.timestamp, "digest": version.digest])
    json.field("migrator", version.migrator.rawValue)
    json.fields([
      "process": version.process, "stage": version.stage, "transaction": version.transaction,
    ])
  }

  private static func write(_ author: HistoryAuthor, to json: inout JSONWriter) {
    json.field("author", author.name)
    write(author.counts, to: &json)
    json.fields(["first": author.first, "last": author.last, "transactions": author.transactions])
  }

  private static func write(_ transaction: HistoryTransaction, to json: inout JSONWriter) {
    json.fields([
      "author": transaction.author, "bundle": transaction.bundle, "context": transaction.context,
    ])
    write(transaction.counts, to: &json)
    json.field("date", transaction.timestamp)
    let former = transaction.formerVersion
    json.object(
      "migration",
      former.map { ["digest": $0.digest, "migrator": $0.migrator.rawValue, "stage": $0.stage] })
    json.field("process", transaction.process)
    json.field("transaction", transaction.number)
  }

  private static func write(
    _ change: HistoryChange, _ label: String?, of transaction: HistoryTransaction,
    to json: inout JSONWriter
  ) {
    json.field("change", change.kind.map { "\($0)" })
    json.field("label", label)
    json.field("object", change.object.description)
    json.field("properties", change.properties)
    json.objects("tombstone", change.tombstones) { ["property": $0.property, "value": $0.value] }
    json.field("transaction", transaction.number)
  }
}
