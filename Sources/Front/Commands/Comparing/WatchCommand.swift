import Comparison
import ExportText
import JSON
import ManagedModel
import ManagedStore
import Watching

/// `strata watch`: what other programs save in a store, save by save.
package enum WatchCommand {
  private static let entities = Argument(list: "ENTITY", .entity)
  private static let predicate = Option.predicate.help(
    "only objects that match this NSPredicate text before or after a save; needs an ENTITY")
  private static let limit = Option<Int?>(
    number: "limit", takesAll: true, "objects printed for each save, or all (default 20)")
  private static let saves = Option<Int?>(number: "saves", atLeast: 1, "end after this many saves")
  package static let command = Command(
    "watch", .compare, "prints what other programs save in a store, as it happens",
    arguments: [Argument.store, entities],
    options: [predicate, limit, saves, Option.json, Option.model],
    details: """
      Each save is a block: when it was saved, by whom if the store keeps persistent history, and the objects
      that were inserted (+), changed (~) and deleted (−), with old and new values. An object counts as
      changed, too, if another object begins or stops referencing it.

      In WAL mode each save is read from the -wal by itself. In other modes, and after a checkpoint, several
      saves may come as one block. If the store is vacuumed or replaced by another file, all objects are compared.

      Nothing is written to the store or its folder. A private copy in the temporary folder, as large as the
      store, keeps what the store held before; it is removed at the end. If the temporary folder is in memory,
      the copy is in /var/tmp. ^C ends the command.
      """,
    example: "strata watch Recipes.sqlite Recipe --where 'title CONTAINS \"soup\"'",
    atomicRefusal:
      "is replaced as a whole with each save, which is not followed: strata compare shows what differs between two copies",
    run: Interruption.watched(run))

  /// Milliseconds between two looks where nothing wakes the command.
  private static let tick = 100

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let path = arguments[.store]
    var request = WatchRequest()
    request.entities = arguments[entities]
    request.predicate = arguments[predicate]
    request.limit = arguments[limit] ?? request.limit
    if request.predicate != nil, request.entities.isEmpty {
      throw CoreDataError(
        .usage, "--where needs an entity", hint: "Name it after the store: STORE ENTITY --where …")
    }
    let writer = SaveWriter(console, isJSON: arguments[.json])
    do {
      let watch = try StoreWatch(
        path: path, request: request, model: try StoreOpening.model(arguments[.model]),
        fallback: { StoreOpening.model(beside: path, $0) },
        isCancelled: { Interruption.isRequested || Output.isClosed })
      writer.begin(path)
      var left = arguments[saves] ?? .max
      while left > 0, !Interruption.isRequested, !Output.isClosed {
        var told = 0
        func tellNotices() {
          for notice in watch.notices.dropFirst(told) { writer.write(notice) }
          told = watch.notices.count
        }
        try watch.look(passing: { try writer.hold($0) }) { save in
          guard left > 0 else { return }
          tellNotices()
          try writer.write(save)
          left -= save.saves ?? 1
        }
        tellNotices()
        writer.forgetHeld()
        if left > 0 { watch.wait(milliseconds: tick) }
      }
    } catch let error as CoreDataError where error.kind == .cancelled {
      // The command has no other end.
    }
    return .done
  }
}

/// Writes saves as they are noticed: as blocks of lines, or as NDJSON.
struct SaveWriter {
  private let console: Console
  private let isJSON: Bool
  private let held = HeldOutput()

  init(_ console: Console, isJSON: Bool) {
    (self.console, self.isJSON) = (console, isJSON)
  }

  /// Says that changes are noticed from now on.
  func begin(_ path: String) {
    if isJSON {
      console.json { $0.object("watch", ["store": path]) }
    } else {
      console.note("watching \(path); ^C ends")
    }
  }

  func write(_ notice: WatchNotice) {
    guard isJSON else { return console.line("! " + notice.sentence) }
    console.json { $0.object("notice", ["kind": notice.kind, "message": notice.sentence]) }
  }

  func write(_ save: ObservedSave) throws {
    if isJSON { writeHead(of: save) } else { console.line(Self.head(of: save)) }
    var changes = ChangeWriter(isJSON ? .ndjson : .table, console, isWhole: false)
    for change in save.changes { try changes.write(change) }
    try held.write(to: console)
    if !isJSON, save.rest > 0 { console.line("… and \(NumberText.grouped(save.rest)) more") }
  }

  /// Keeps the lines of an object whose save comes later, outside of memory.
  func hold(_ change: ObjectChange) throws {
    var lines: [UInt8] = []
    var changes = ChangeWriter(
      isJSON ? .ndjson : .table, console.writing { lines += $0 }, isWhole: false)
    try changes.write(change)
    try held.append(lines)
  }

  /// Forgets lines whose save did not come: their objects are found again.
  func forgetHeld() { held.clear() }

  private func writeHead(of save: ObservedSave) {
    console.json { json in
      json.object("save") { json in
        json.fields([
          "time": CoreDataDate.text(save.time), "author": save.author, "process": save.process,
          "saves": save.saves, "transactions": save.transactions.map { Int($0.number) },
          "whole": save.isWhole,
        ])
        json.objects("entities", save.counts) {
          [
            "entity": $0.entity, "inserted": $0.inserted, "updated": $0.updated,
            "deleted": $0.deleted,
          ]
        }
        json.field("more", save.rest)
      }
    }
  }

  private static func head(of save: ObservedSave) -> String {
    var counts = (inserted: 0, updated: 0, deleted: 0)
    for count in save.counts {
      counts.inserted += count.inserted
      counts.updated += count.updated
      counts.deleted += count.deleted
    }
    let kinds = [
      (counts.inserted, "inserted"), (counts.updated, "changed"), (counts.deleted, "deleted"),
    ].filter { $0.0 > 0 }.map { "\(NumberText.grouped($0.0)) \($0.1)" }
    let who = [save.author, save.process].compactMap { $0 }.joined(separator: ", ")
    let saves = save.saves == 1 ? "" : ObservedSave.text(of: save.saves)
    return [LocalTime.clock(of: save.time), who, saves, kinds.joined(separator: ", ")]
      .filter { !$0.isEmpty }.joined(separator: " · ")
  }
}

extension WatchNotice {
  /// Its name in JSON.
  fileprivate var kind: String {
    switch self {
    case .gone: "gone"
    case .back: "back"
    case .link: "link"
    case .owner: "owner"
    case .compared(.replaced): "replaced"
    case .compared(.rebuilt): "rebuilt"
    case .compared(.unfollowed): "unfollowed"
    case .behind: "behind"
    case .unreadable: "unreadable"
    }
  }
}
