import JSON
import ManagedModel
import ManagedStore
import Migration
import Reports
import Terminal

/// `strata cloudkit`: how far the mirroring of a store to CloudKit has got.
package enum CloudKitCommand {
  private static let page = 500
  private static let objects = Option(
    "objects", "list the objects that are not synced, and records of objects that are gone")
  private static let states = Option<[CloudObjectState]>(
    repeating: "state", "STATE", among: CloudObjectState.allCases, "list the objects in this state")
  private static let entity = Option(
    "entity", "ENTITY", .entity, "list only objects of this entity")
  private static let limit = Option<Int?>(
    number: "limit", takesAll: true,
    "how many objects to list, or all (default 100, with --json all)")
  private static let runs = Option<Int?>(
    number: "runs", "how many runs of the mirroring to list (default 10)")
  package static let command = Command(
    "cloudkit", .look, "shows the state of a store's mirroring to CloudKit",
    arguments: [Argument.store],
    options: [objects, states, entity, limit, runs, Option.json, Option.model],
    details: """
      Of the tables that NSPersistentCloudKitContainer keeps in the store: the account, zones, the last import and
      export with the meaning of their errors, and what waits. An object is in one state:

        pendingUpload  an export sends its record
        pendingDelete  an export deletes its record in iCloud; the object is usually gone
        unanalysed     the mirroring has still to look at a change of it in history
        neverExported  it has no record, or one without a name, and nothing in history will make one
        synced         none of these

      A record without a name waits for its first export; whether that sends it is not known. If the history token
      cannot be read, all of history counts as not analysed, and the output says so.

      Filters know the state as @cloud: strata rows STORE Recipe --where '@cloud == "pendingUpload"'. With --json the
      first line is the store's, each further line an object's. Nothing is written.
      """,
    example: "strata cloudkit Recipes.sqlite --objects",
    statuses: "1 if the store is not mirrored", run: run)

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let store = try StoreOpening.reading(arguments[.store], model: arguments[.model])
    let isJSON = arguments[.json]
    let wanted = Set(arguments[states])
    let lists = arguments[objects] || !wanted.isEmpty || arguments[entity] != nil
    let listed = wanted.isEmpty ? Set(CloudObjectState.allCases).subtracting([.synced]) : wanted
    guard
      let state = try Waiting.tell(
        "reading the mirroring's tables", on: console,
        { _ in try store.cloudKitState(events: arguments[runs] ?? 10) })
    else {
      if isJSON { console.json { $0.null("cloudKit") } }
      console.note("the store is not mirrored to CloudKit")
      return console.finish(store, .no)
    }
    isJSON ? console.json { write(state, to: &$0) } : print(state, console)
    guard lists else { return console.finish(store) }
    if !isJSON { console.line() }
    var left = arguments[limit] ?? (isJSON ? .max : 100)
    var after: ObjectID?
    var isCut = false
    while left > 0 {
      try Interruption.check()
      let found = try store.cloudObjects(
        in: listed, of: arguments[entity], after: after, limit: min(page, left))
      let labels = try store.names(of: found.filter(\.exists).map(\.object))
      for object in found {
        let label = labels[object.object]
        isJSON
          ? console.json { write(object, label, to: &$0) }
          : console.line(
            "\(object.object)" + (label.map { "  " + Sanitize.text($0, limit: 60) } ?? "")
              + "  " + Sanitize.text(object.line))
      }
      guard let last = found.last else { break }
      left -= found.count
      isCut = left == 0
      after = last.object
    }
    if after == nil { console.note("no object is in such a state") }
    if isCut,
      try !store.cloudObjects(in: listed, of: arguments[entity], after: after, limit: 1).isEmpty
    {
      console.note("there are more: --limit all lists them")
    }
    return console.finish(store)
  }

  private static func date(_ seconds: Double?) -> String {
    seconds.map { LocalTime.text($0) ?? CoreDataDate.text($0) } ?? "no date"
  }

  private static func print(_ state: CloudKitState, _ console: Console) {
    func run(_ newest: CloudKitState.Event?, _ lastGood: Double?) -> String {
      guard let newest else { return "never, or not recorded" }
      var text = "\(date(newest.start)) \(newest.sign) \(newest.outcome)"
      if let objects = newest.objects { text += ", \(NumberText.counted(objects, "object"))" }
      if !newest.succeeded {
        text += lastGood.map { "; the last that succeeded ended \(date($0))" } ?? "; none succeeded"
      }
      return text
    }
    var rows = [
      ["account", state.account ?? "not recorded"],
      ["import", run(state.newestImport, state.lastImport)],
      ["export", run(state.newestExport, state.lastExport)],
    ]
    if let framework = state.framework { rows.append(["framework", "\(framework)"]) }
    console.write(TextTable.text([.left, .left], rows, limit: 400))
    for event in [state.newestImport, state.newestExport].compactMap({ $0 }) {
      guard let meaning = event.meaning, let kind = event.kind else { continue }
      console.paragraph(
        "\(kind): \(meaning.cause) \(meaning.advice.typed)", indent: 2)
    }
    console.line()
    console.line(
      state.backlog.isEmpty && state.localDeletes == 0 ? "nothing is waiting" : "waiting")
    for part in state.backlog.parts {
      console.line("  " + NumberText.counted(part.count, part.one, plural: part.several))
    }
    if state.localDeletes > 0 {
      console.line(
        "  \(NumberText.counted(state.localDeletes, "object")) deleted in iCloud, still to be deleted here"
      )
    }
    if !state.zones.isEmpty {
      console.line()
      console.table(
        [.left, .left, .right, .left, .left],
        [["zone", "owner", "records", "fetched", "needs"]]
          + state.zones.map {
            [
              $0.name + ($0.database.map { " (\($0))" } ?? ""), $0.owner ?? "unknown",
              NumberText.grouped($0.records), $0.lastFetch.map { date($0) } ?? "never",
              $0.needs.isEmpty ? "" : "! " + $0.needs.joined(separator: ", "),
            ]
          })
    }
    let states = CloudObjectState.allCases
    if !state.entities.isEmpty {
      console.line()
      console.table(
        [.left, .right] + states.map { _ in .right },
        [["entity", "records"] + states.map(\.label)]
          + state.entities.map { entity in
            [entity.entity, NumberText.grouped(entity.records)]
              + states.map { entity.objects[$0].map(NumberText.grouped) ?? "" }
          })
    }
    if !state.events.isEmpty {
      console.line()
      console.line("runs, newest first")
      for event in state.events {
        console.line(
          "  \(event.sign) \((event.kind.map { "\($0)" } ?? "unknown").padded(to: 7)) \(date(event.start))  \(event.outcome)"
            + (event.objects.map { "  \(NumberText.counted($0, "object"))" } ?? ""))
      }
    }
  }

  private static func write(_ event: CloudKitState.Event, to json: inout JSONWriter) {
    json.object { json in
      json.field("end", event.end)
      json.field("error", event.error)
      json.field("kind", event.kind.map { "\($0)" })
      json.field("meaning", event.meaning?.meaning)
      json.fields(["objects": event.objects, "start": event.start, "succeeded": event.succeeded])
    }
  }

  private static func write(_ state: CloudKitState, to json: inout JSONWriter) {
    json.object("cloudKit") { json in
      json.field("account", state.account)
      json.object("backlog", state.backlog.members)
      json.objects("entities", state.entities) { json, entity in
        json.field("entity", entity.entity)
        json.numbers(
          "objects", CloudObjectState.allCases.map { ($0.rawValue, entity.objects[$0] ?? 0) })
        json.field("records", entity.records)
      }
      json.field("framework", state.framework)
      json.fields(["lastExport": state.lastExport, "lastImport": state.lastImport])
      json.field("localDeletes", state.localDeletes)
      for (name, event) in [
        ("newestExport", state.newestExport), ("newestImport", state.newestImport),
      ] {
        guard let event else {
          json.null(name)
          continue
        }
        json.key(name)
        write(event, to: &json)
      }
      json.array("runs") { json in
        for event in state.events { write(event, to: &json) }
      }
      json.objects("zones", state.zones) { zone in
        [
          "database": zone.database, "lastFetch": zone.lastFetch, "name": zone.name,
          "needs": zone.needs, "owner": zone.owner, "records": zone.records,
        ]
      }
    }
  }

  private static func write(_ object: CloudObject, _ label: String?, to json: inout JSONWriter) {
    json.fields([
      "exists": object.exists, "hasRecord": object.hasRecord,
      "isToBeDeletedHere": object.isToBeDeletedHere, "label": label,
      "isUncertain": object.isUncertain, "object": object.object.description,
      "record": object.record, "state": object.state.rawValue, "zone": object.zone,
    ])
  }
}

extension CloudKitBacklog {
  /// What waits, as JSON's members.
  var members: JSONMembers {
    [
      "pendingUploads": pendingUploads, "pendingDeletes": pendingDeletes,
      "pendingLinks": pendingLinks, "pendingLinkDeletes": pendingLinkDeletes,
      "incompleteLinks": incompleteLinks, "unanalysedTransactions": unanalysedTransactions,
      "analysedChanges": analysedChanges, "unnamedRecords": unnamedRecords,
      "isTokenUnreadable": isTokenUnreadable,
    ]
  }
}
