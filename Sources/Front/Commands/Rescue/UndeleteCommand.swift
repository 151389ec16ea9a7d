import ExportText
import Files
import JSON
import ManagedModel
import ManagedStore
import ModelSearch
import Reports
import Rescue

/// `strata undelete`: what was deleted from a store and can still be read, and a store with it back.
package enum UndeleteCommand {
  private static let page = 500
  private static let entity = Argument(optional: "ENTITY", .entity)
  private static let only = Option(
    repeating: "only", "REF", .text, "restore these: Recipe/p12, or several with commas")
  private static let versions = Option("versions", "print earlier states of objects instead")
  private static let limit = Option<Int?>(
    number: "limit", "how many rows to print (default all)")
  private static let report = Option(
    "report", "FILE", .file, "write the restored objects to this file as JSON")
  package static let command = Command(
    "undelete", .rescue, "finds deleted objects and restores them into a new store",
    arguments: [Argument.store, entity],
    options: [
      Option.output.help("write a new store here with the chosen objects restored"), only,
      Option.predicate.help("only objects of ENTITY that match, as an NSPredicate"), versions,
      limit,
      Option.rowFormat, Option.model, Option.ignoreWAL, Option.wal, report, Option.json,
    ], details: help,
    example: "strata undelete Recipes.sqlite Recipe --output Restored.sqlite",
    statuses:
      "1 if a part of the store is lost or an object was refused, 3 if what was found may never have been in the store and --only names no objects, 4 if nothing of it can be read, 130 if it was cancelled",
    atomicRefusal: "is written whole with each save: no deleted object is left in it",
    run: Interruption.watched(run))

  private static let help = """
    Deleted rows stay in a store's file, and in its -wal, until something else overwrites them. Without
    ENTITY, the number of objects found of each entity is listed; with ENTITY, the objects are printed, each
    with what is known of its key and where it was found. The store is never modified: --output writes a new
    store with the chosen objects restored, or with all of them without --only and --where.

    A key is “certain” if it was read with the row, “inferred” if it follows from the rows around it, else
    “unknown”: such an object gets a new key. It is “ambiguous” if two different rows have it, and it is
    not known which is the later one. An object “may be lost” if its row may have been in a damaged part of the
    store: it may not have been deleted at all. It is “of another time” if it was found among rows from before a
    migration, or from before objects were saved again: its values may be that old. An object is “whole” if all
    of its values are there and nothing shows that they are of another time or were overwritten. --versions
    prints earlier states of objects instead, also of objects that still exist.
    """

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    PrivateFolder.removeAbandoned()
    let (path, entity) = (arguments[.store], arguments[entity])
    let (output, isJSON) = (arguments[.output], arguments[.json])
    let only = arguments[only].flatMap { $0.split(separator: ",").map(String.init) }
    let predicate = arguments[.predicate]
    if predicate != nil, entity == nil {
      throw CoreDataError(
        .usage, "--where needs the entity that it is about", hint: "strata undelete STORE ENTITY.")
    }
    let file = try ReceiptFile(
      arguments, option: report, stores: [path, output].compactMap { $0 })
    let model = try arguments[.model].map { try ModelReference($0).load().model }
    console.warn(model?.warnings ?? [])
    let undeletion = try ProgressBar.during("looking for deleted rows", on: console) { progress in
      try Undeletion(
        of: path, model: model, log: try .init(arguments),
        isCancelled: { Interruption.isRequested }, progress: progress)
    }
    do {
      let filter = try predicate.map {
        try RowFilter($0, entity: entity ?? "", store: undeletion.store)
      }
      if let entity, filter == nil { _ = try undeletion.store.columns(of: entity) }
      if let output {
        let objects = try only.map { text in
          guard let id = ObjectID(text) else {
            throw CoreDataError(
              .usage, "“\(text)” names no object", hint: "Name objects like Recipe/p12.")
          }
          return id
        }
        let choice: Restoration.Choice =
          !objects.isEmpty ? .only(objects) : filter.map { .matching($0) } ?? .all(entity: entity)
        RecoveryNotice.write(forOutput: output, to: console)
        let restoration = Restoration(undeletion)
        let start = ContinuousClock.now
        let report = try ProgressBar.during("writing the new store", on: console) { progress in
          try restoration.run(
            choice, output: output, isCancelled: { Interruption.isRequested }, progress: progress)
        }
        isJSON
          ? console.json { $0.restoration(report) }
          : console.report(Report(report, seconds: (.now - start) / .seconds(1)))
        try file?.write(JSONWriter.line { $0.restoration(report, listsObjects: false) }, "objects")
        {
          add in
          try restoration.forEach(of: report) { object in try add { $0.object(object) } }
        }
        return console.finish(lookedThrough: path, report.isLossy ? .no : .done)
      }
      guard only.isEmpty else {
        throw CoreDataError(
          .usage, "--only chooses what is restored", hint: "Name the new store with --output.")
      }
      guard let entity else {
        isJSON
          ? console.json { $0.undeletion(undeletion) } : console.report(Report(undeletion))
        return console.finish(lookedThrough: path, undeletion.lossy.isEmpty ? .done : .no)
      }
      try rows(
        of: entity, filter, in: undeletion, arguments[versions] ? .older : .deleted,
        arguments,
        console)
      for note in undeletion.notes { console.note(note.printable) }
      return console.finish(lookedThrough: path, undeletion.lossy.isEmpty ? .done : .no)
    } catch let error as CoreDataError {
      throw error.at(path: path, insteadOf: undeletion.store.path)
    }
  }

  /// Prints an entity's rows, with where each comes from before its values.
  private static func rows(
    of entity: String, _ filter: RowFilter?, in undeletion: Undeletion, _ state: RowOrigin.State,
    _ arguments: Arguments, _ console: Console
  ) throws {
    let format = arguments[.json] ? .json : arguments[.rowFormat] ?? .table
    var writer = format.writer(
      isExact: !console.isTerminal, width: console.isTerminal ? console.width : nil,
      heading: console.heading
    ) {
      console.write($0)
    }
    var query = RowQuery(entity: entity, limit: page)
    query.filter = filter
    var left = arguments[limit] ?? .max
    var isFirst = true
    var isEmpty = true
    while isFirst || left > 0 {
      var found = try undeletion.store.rows(query)
      let last = found.rows.last
      let isEnd = found.rows.count < page
      found.columns = RowOrigin.columns + found.columns
      found.rows = try found.rows.compactMap { row in
        guard let origin = try undeletion.origin(of: row.id),
          state == .deleted ? origin.isOfDeleted : origin.state == .older
        else {
          return nil
        }
        var row = row
        row.values = origin.values + row.values
        return row
      }
      found.rows = Array(found.rows.prefix(left))
      if isFirst { try writer.begin(found) }
      isFirst = false
      try writer.write(found)
      isEmpty = isEmpty && found.rows.isEmpty
      left -= found.rows.count
      guard !isEnd, let last else { break }
      query.anchor = .after(last.cursor)
    }
    try writer.end()
    if isEmpty, format == .table { console.note("0 rows") }
  }
}

extension RowOrigin {
  /// What it says of a row, as columns before the row's own.
  static let columns = ["its key", "found", "whole"].map {
    RowColumn(name: $0, kind: .attribute(.string))
  }

  /// One a column.
  var values: [PropertyValue] {
    let key = key.map { "p\($0) " } ?? ""
    let time = isFormer ? isEntityKnown ? ", of another time" : ", of another time and entity" : ""
    let doubt =
      isLost
      ? ", may be lost"
      : isUnsure && state == .deleted && certainty != .certain ? ", or older" : ""
    return [
      .value(.string(key + certainty.rawValue + doubt + time)), .value(.string(place)),
      .value(.string(isWhole ? "yes" : hasAllValues ? "of then" : "in part")),
    ]
  }
}

extension JSONWriter {
  mutating func undeletion(_ undeletion: Undeletion) {
    object("undelete") { json in
      json.fields([
        "store": undeletion.path, "wal": undeletion.logPath, "wiped": undeletion.isWiped,
        "distrust": undeletion.distrust, "notes": undeletion.notes, "lossy": undeletion.lossy,
      ])
      json.objects("entities", undeletion.entities) { entity in
        [
          "entity": entity.name, "deleted": entity.deleted, "inferred": entity.inferred,
          "unknown": entity.keyless, "partial": entity.partial, "unsaved": entity.unsaved,
          "unsure": entity.unsure, "ambiguous": entity.ambiguous, "lost": entity.lost,
          "former": entity.former, "entityUnknown": entity.misnumbered,
          "older": entity.older,
        ]
      }
      json.objects("backups", undeletion.kept) { (json: inout JSONWriter, kept: KeptObjects) in
        json.fields(["path": kept.backup.path, "leftBy": kept.backup.origin.rawValue])
        json.numbers("objects", kept.counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
      }
      json.objects("missed", undeletion.missed) { missed in
        [
          "entity": missed.entity, "keys": missed.keys, "found": missed.found,
          "keyUnknown": missed.keyless, "most": missed.most,
        ]
      }
    }
  }

  /// - Parameter listsObjects: whether to name the first of the objects that are back.
  package mutating func restoration(_ report: Restoration.Report, listsObjects: Bool = true) {
    object("restoration") { json in
      json.numbers(
        "restored", report.restored.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
      json.numbers(
        "refused", report.refused.sorted { $0.key < $1.key }.map { ($0.key, $0.value.count) })
      json.numbers("emptied", report.emptied.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
      json.numbers(
        "referenced", report.referenced.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
      json.fields([
        "links": report.links, "freedLinks": report.freedLinks, "unset": report.unset,
        "maybeLost": report.uncertain, "former": report.former,
        "partial": report.partial,
      ])
      json.salvage(report.salvage)
      guard listsObjects else { return }
      json.field("moreObjects", report.more)
      json.objects("objects", report.first) { $0.object($1) }
    }
  }

  fileprivate mutating func object(_ object: Restoration.Report.Object) {
    fields([
      "object": object.id.description, "key": object.origin.certainty.rawValue,
      "found": object.origin.place, "whole": object.origin.isWhole,
      "maybeLost": object.origin.isLost, "former": object.origin.isFormer,
      "entityKnown": object.origin.isEntityKnown,
    ])
  }
}
