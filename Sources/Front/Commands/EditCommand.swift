import Comparison
import Editing
import ExportText
import Files
import JSON
import ManagedModel
import ManagedStore
import Reports

/// `strata edit`: changes objects of a store, on a copy, checked and compared, with a backup.
package enum EditCommand {
  private static let target = Argument(optional: "REF|ENTITY", .entity)
  private static let assignments = Argument(list: "PROPERTY=VALUE", .text)
  private static let deleted = Option(
    repeating: "delete", "REF", .text, "delete this object, and what its delete rules take along")
  private static let predicate = Option.predicate.help(
    "which objects of ENTITY are changed by --set, as an NSPredicate")
  private static let set = Option(
    repeating: "set", "PROPERTY=EXPRESSION", .text,
    "give this attribute of those objects the value of an SQL expression over their properties")
  private static let dryRun = Option(
    "dry-run", "edit a private copy, list what changes, and discard it")
  private static let limit = Option<Int?>(
    number: "limit", takesAll: true,
    "changed objects listed for each entity, or all (default 100 on a terminal, else all)")
  private static let confirm = Option("confirm", "show the list, and ask before the cut-over")
  private static let confirmedDeletions = Option<Int?>(
    number: "confirm-deletions",
    "the number of objects that the app may delete on all devices, if the store is mirrored to iCloud"
  )
  package static let command = Command(
    "edit", .rescue, "changes or deletes objects, checked, with a backup",
    arguments: [Argument.store, target, assignments],
    options: [
      deleted, predicate, set, dryRun, confirm, confirmedDeletions, limit, Option.output,
      Option.model, Option.receipt,
      Option.json.help("print progress, changes and the receipt as NDJSON"),
    ], details: help,
    example:
      "strata edit Recipes.sqlite Recipe/p12 title='New title' createdAt=2024-03-01 tags+=Tag/p3",
    statuses:
      "3 if a rule of the model is broken or the store is damaged, 5 if an app has the store open or it failed, 130 if it was cancelled; the store is unchanged then",
    effect: .changesStoreWithoutOutput, run: Interruption.watched(run))

  private static let help = """
    strata edit STORE REF PROPERTY=VALUE… sets properties of one object; strata edit STORE ENTITY --where
    PREDICATE --set PROPERTY=EXPRESSION sets attributes and to-ones of many. --delete can be added, or stand alone.

    Values are written as dump prints them: numbers, true, text, null for no value, dates in ISO 8601 or as
    seconds since 2001, UUIDs, {"base64": "…"} for bytes. @FILE is the content of a file: text, or the bytes of
    data. Text in double quotes is read as JSON, so that '"null"' and '"@home"' are texts. author.person names an
    element of a composite attribute. A relationship is set by the objects' names: owner=Person/p3, owner=null,
    tags=Tag/p1,Tag/p2; tags+=Tag/p3 adds and tags-=Tag/p3 removes. An expression is SQL over the properties of
    the object as they were, as in recipes: --set "title=trim(title)". A to-one is set to an object or to null:
    --set owner=Person/p3.

    The changes are made on a copy. First the model's rules are checked: mandatory values, bounds, lengths,
    patterns, uniqueness constraints and the counts of relationships; only properties that are changed are looked at.
    Deleting follows the delete rules, and links by “No Action” are emptied as well. Both sides of
    relationships, order keys, derived attributes, indexes and Z_OPT are kept right, and a store with persistent
    history gets a transaction of the author strata. Then the copy is compared with the store: exactly what is in
    the list may have changed. One rename puts it in place. The old store is kept as NAME.backup-1, and strata
    rollback restores it.

    If the store is mirrored to iCloud, the output says how many changes and deletions the app will send to all
    devices. Deletions then have to be confirmed: by typing their number, or with --confirm-deletions N.
    """

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let path = arguments[.store]
    let file = try ReceiptFile(arguments, stores: [path])
    let isJSON = arguments[.json]
    if !arguments[dryRun], arguments[.output] == nil { RecoveryNotice.restore(path, on: console) }
    let store = try StoreOpening.open(path, model: arguments[.model])
    let edit = try edit(arguments, store)
    var options = StoreEditing.Options()
    options.output = arguments[.output]
    options.isRehearsal = arguments[dryRun]
    if options.isRehearsal, options.output != nil {
      throw CoreDataError(
        .usage, "--dry-run writes no --output", hint: "Leave out one of the two.")
    }
    if !options.isRehearsal { RecoveryNotice.write(for: [options.output ?? path], to: console) }
    let reporter = ProgressReporter(console: console, isJSON: isJSON)
    options.confirmsDeletions = { mirrored in
      reporter.finish()
      return confirms(mirrored, arguments, console)
    }
    if arguments[confirm] {
      guard CutoverConfirmation.canAsk(on: console), !isJSON else {
        throw CoreDataError(
          .usage, "--confirm needs a terminal to ask at",
          hint: "Leave it out, or look at the changes with --dry-run first.")
      }
      options.confirmation = { receipt in
        reporter.finish()
        for line in totals(receipt) { console.note(line) }
        let answer = CutoverConfirmation.answer(to: "Replace the store? [y/N] ", on: console)
        return ["y", "yes"].contains(answer?.lowercased())
      }
    }
    var list = EditedList(
      limit: arguments[limit] ?? (console.isTerminal ? 100 : .max),
      writer: ChangeWriter(isJSON ? .ndjson : .table, console, isWhole: false))
    let receipt: EditReceipt
    do {
      defer { reporter.finish() }
      receipt = try StoreEditing.run(
        store, edit, options: options, isCancelled: { Interruption.isRequested },
        progress: { reporter.report($0) },
        report: {
          reporter.finish()
          try list.write($0)
        })
    }
    if isJSON {
      console.json { $0.edit(receipt) }
    } else {
      for line in list.rest { console.line(line) }
      console.report(Report(receipt))
    }
    try file?.write(JSONWriter.line { $0.edit(receipt) })
    return .done
  }

  // MARK: What is asked for

  private static func edit(_ arguments: Arguments, _ store: Store) throws -> StoreEdit {
    var edit = StoreEdit()
    edit.deletions = try arguments[deleted].map { try ObjectCommand.object($0, in: store) }
    let (given, sets) = (arguments[assignments], arguments[set])
    guard let target = arguments[target] else {
      guard sets.isEmpty, arguments[predicate] == nil, !edit.deletions.isEmpty else {
        throw CoreDataError(
          .usage, "nothing to change was given",
          hint: "Name an object and PROPERTY=VALUE, or an entity with --where and --set.")
      }
      return edit
    }
    guard sets.isEmpty, arguments[predicate] == nil else {
      edit.selection = try selection(target, arguments, given, sets, store)
      return edit
    }
    let id = try ObjectCommand.object(target, in: store)
    guard !given.isEmpty else {
      throw CoreDataError(
        .usage, "nothing to set was given for \(id)", path: store.path,
        hint: "Write title='New title' after it. To delete it: --delete \(id).")
    }
    let texts = AssignmentText(store) { path in
      do { return try FileSystem.read(path, limit: 1 << 29) } catch {
        throw CoreDataError(error, or: .unreadable).at(path: path)
      }
    }
    edit.objects = [
      .init(id, try given.flatMap { try texts.assignments($0, of: id.entity) })
    ]
    return edit
  }

  private static func selection(
    _ entity: String, _ arguments: Arguments, _ given: [String], _ sets: [String], _ store: Store
  ) throws -> StoreEdit.Selection {
    guard given.isEmpty else {
      throw CoreDataError(
        .usage, "many objects are changed by --set, and “\(given[0].prefix(60))” is no option",
        hint: "Write --set \"\(given[0].prefix(60))\".")
    }
    guard let predicate = arguments[predicate], !sets.isEmpty else {
      throw CoreDataError(
        .usage, "--where and --set belong together",
        hint: "To select all objects, use --where TRUEPREDICATE.")
    }
    var selection = StoreEdit.Selection(entity, where: predicate, [])
    let texts = AssignmentText(store) { _ in [] }
    for text in sets {
      guard let place = text.firstIndex(of: "="), place > text.startIndex else {
        throw CoreDataError(
          .usage, "--set takes PROPERTY=EXPRESSION, not “\(text.prefix(100))”")
      }
      let name = String(text[..<place])
      guard let relationship = store.model.relationship(named: name, of: entity) else {
        selection.computations.append(.init(name, String(text[text.index(after: place)...])))
        continue
      }
      guard !relationship.isToMany else {
        throw CoreDataError(
          .usage, "--set takes attributes and to-ones", entity: entity, property: name,
          hint: "A to-many is changed object by object: strata edit STORE REF \(name)+=Entity/p3")
      }
      for case .toOne(let name, let object) in try texts.assignments(text, of: entity) {
        selection.links.append(.init(name, object))
      }
    }
    return selection
  }

  private static func confirms(
    _ mirrored: EditReceipt.Mirrored, _ arguments: Arguments, _ console: Console
  ) -> Bool {
    console.note("! " + mirrored.sentence)
    if let number = arguments[confirmedDeletions] { return number == mirrored.deletions }
    guard !arguments[.json], CutoverConfirmation.canAsk(on: console) else { return false }
    let answer = CutoverConfirmation.answer(
      to: "Type \(mirrored.deletions) to delete them on all devices: ", on: console)
    return answer == String(mirrored.deletions)
  }

  // MARK: What was done

  private static func totals(_ receipt: EditReceipt) -> [String] {
    [
      "\(NumberText.counted(receipt.changed, "object")) changed, \(NumberText.grouped(receipt.deleted)) deleted, in \(NumberText.seconds(receipt.seconds)). \(receipt.roomSentence)"
    ] + (receipt.mirrored.map { ["! " + $0.sentence] } ?? [])
  }
}

/// The changes of an edit as they are printed: so many of each entity.
private struct EditedList {
  let limit: Int
  var writer: ChangeWriter
  private var counts: [String: Int] = [:]

  init(limit: Int, writer: ChangeWriter) { (self.limit, self.writer) = (limit, writer) }

  mutating func write(_ change: ObjectChange) throws {
    counts[change.entity, default: 0] += 1
    if counts[change.entity, default: 0] <= limit { try writer.write(change) }
  }

  /// What was not printed, in a line for each entity.
  var rest: [String] {
    counts.sorted { $0.key < $1.key }.filter { $0.value > limit }.map {
      "… and \(NumberText.grouped($0.value - limit)) more of \($0.key.printable); --limit all lists them"
    }
  }
}

extension JSONWriter {
  /// What an edit changed.
  package mutating func edit(_ receipt: EditReceipt) {
    object("receipt") { json in
      json.fields([
        "store": receipt.storePath, "result": receipt.resultPath,
        "uuid": receipt.uuid.isEmpty ? nil : receipt.uuid, "backup": receipt.backupPath,
        "changed": receipt.changed, "deleted": receipt.deleted,
        "transaction": receipt.transaction.map { Int($0) },
      ])
      json.objects("entities", receipt.entities) {
        ["entity": $0.entity, "changed": $0.changed, "deleted": $0.deleted]
      }
      if let mirrored = receipt.mirrored {
        json.object(
          "cloudKit", ["changes": mirrored.changes, "deletions": mirrored.deletions])
      } else {
        json.null("cloudKit")
      }
      json.objects("verified", receipt.verified) { ["what": $0.what, "count": $0.count] }
      json.checksums(
        receipt.checksums, rollingBack: receipt.backupPath == nil ? nil : receipt.storePath)
      json.fields([
        "notes": receipt.notes, "seconds": receipt.seconds,
        "verificationSeconds": receipt.verificationSeconds, "bytes": receipt.bytes,
        "bytesNeeded": receipt.bytesNeeded, "bytesFree": receipt.bytesFree,
      ])
    }
  }
}
