import ExportText
import Files
import JSON
import ManagedModel
import ManagedStore

/// `strata export`: objects as tables in a folder, with the files that their attributes hold.
package enum ExportCommand {
  private static let entities = Argument(list: "ENTITY", .entity)
  private static let folder = Option(
    "output", "FOLDER", .folder, "write into this folder, which must be new or empty"
  ).required
  private static let predicate = Option.predicate.help(
    "only objects of ENTITY that match, as an NSPredicate: name == \"Ann\"")
  private static let columns = Option(
    "columns", "A,B,C", "properties and key paths: title,author.name,tags.name,steps.@count")
  private static let follow = Option(
    "follow", "RELATIONSHIP,…",
    "export what the objects reach through these relationships, too, each object once")
  private static let format = Option<RowFormat?>(
    "format", "FORMAT", among: [.csv, .json, .ndjson, .markdown],
    "the format of the tables (default csv)")
  private static let quoteFormulas = Option(
    "quote-formulas", "put an apostrophe before text in CSV that a spreadsheet would run")
  package static let command = Command(
    "export", .look, "writes tables, pictures and other files of objects to a folder",
    arguments: [Argument.store, entities],
    options: [
      folder, predicate, columns, follow, format, quoteFormulas, Option.json, Option.model,
    ],
    details: help,
    example: "strata export Recipes.sqlite --output Ann Person --where 'name == \"Ann\"' "
      + "--follow recipes,steps",
    statuses:
      "1 if a file of the store is missing, 3 if FOLDER is not empty, 130 if it was cancelled",
    run: Interruption.watched(run))

  private static let help = """
    Each entity has a table of its own objects; naming an entity exports those below it, too. Recipe/p12 in its
    place exports that object. Binary values, and Transformable values whose content is a file, are written as
    files/Entity-p12-property.jpg, and the table names these files. A to-many is a list of references (a JSON
    array in CSV). In CSV, NULL is an empty cell and an empty text is "". The folder and its files can be read by
    their owner only.
    """

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let place = arguments[folder]
    let path = try checked(place, besides: arguments[.store])
    let store = try StoreOpening.reading(
      arguments[.store], model: arguments[.model], checksAll: true)
    var options = StoreExport.Options()
    (options.entities, options.predicate) = try chosen(
      arguments[entities], arguments[predicate], in: store)
    options.columns = arguments[columns].map { $0.split(separator: ",").map(String.init) }
    options.follow = arguments[follow].map { $0.split(separator: ",").map(String.init) } ?? []
    options.format = arguments[format] ?? .csv
    options.quotesFormulas = arguments[quoteFormulas]
    RecoveryNotice.write(forOutput: path, to: console)
    let bar = ProgressBar(console)
    let report: StoreExport.Report
    do {
      defer { bar.clear() }
      report = try write(store, to: path, options) { bar.show("export", $0, of: nil, "objects") }
    }
    arguments[.json]
      ? console.json { $0.export(report, folder: path) }
      : print(report, folder: path, options, to: console)
    return console.finish(store, report.missing > 0 ? .no : .done)
  }

  /// Entities, or the objects of one that are named by references such as `Recipe/p12`, as a predicate.
  ///
  /// - Throws: ``CoreDataError`` of kind usage for references beside something else, or to no object.
  private static func chosen(
    _ names: [String], _ predicate: String?, in store: Store
  ) throws -> (entities: [String], predicate: String?) {
    let objects = names.compactMap { ObjectID($0) }
    guard let entity = objects.first?.entity else { return (names, predicate) }
    let keys = objects.map { "\($0.key)" }.joined(separator: ", ")
    for object in objects where try store.object(object, related: 0) == nil {
      throw ObjectCommand.noObject(object, in: store)
    }
    guard objects.count == names.count, objects.allSatisfy({ $0.entity == entity }),
      predicate == nil
    else {
      throw CoreDataError(
        .usage, "single objects are exported of one entity, and without --where",
        hint: "Name the entity, and the objects by their keys: --where 'key IN {\(keys)}'")
    }
    // An attribute may be called as what tables show of an object.
    let names = objects.map { "\"\($0)\"" }.joined(separator: ", ")
    return ([entity], "SELF IN {\(names)}")
  }

  /// Writes the tables in a private folder beside the place, which gets its name when all is in it.
  private static func write(
    _ store: Store, to path: String, _ options: StoreExport.Options,
    _ progress: @escaping (Int) -> Void
  ) throws -> StoreExport.Report {
    let output = try PendingOutput(for: path, makesFolders: true)
    let name = FileSystem.name(of: path)
    let report = try StoreExport.write(
      store, to: output.folder.createFolder(name), options,
      isCancelled: { Interruption.isRequested }, progress: progress)
    try output.sync(name, files: report.tables.count + report.files)
    try Interruption.check()
    // An empty folder in the place makes room; one that is not empty stays, and is a refusal.
    let (parent, own) = try FileSystem.opened(path)
    parent.removeEmptyFolder(own)
    try output.finish()
    return report
  }

  /// The folder as it will be made, without links.
  ///
  /// - Throws: ``CoreDataError`` of kind refused where something is there, of kind usage where nothing may be.
  private static func checked(_ place: String, besides store: String) throws -> String {
    var path = place
    while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
    if FileSystem.isDirectory(path) { path = FileSystem.canonical(path) }
    if FileSystem.isDirectory(path) {
      PendingOutput.removeAbandoned(beside: path)
      guard try FileSystem.list(path).isEmpty else {
        throw CoreDataError(
          .refused, "the folder is not empty", path: place,
          hint: "Name a new folder, or an empty one.")
      }
      guard path != FileSystem.canonical(".") else {
        throw CoreDataError(
          .usage, "the export cannot replace the folder that it is run in", path: place,
          hint: "Name a new folder in it.")
      }
    } else if FileSystem.status(path) != nil || FileSystem.target(ofLink: path) != nil {
      throw CoreDataError(
        .refused, "a file has that name", path: place, hint: "Name a new folder, or an empty one.")
    }
    try ExportPlace.check(path + "/table", besides: [store], makesFolder: true)
    return path
  }

  private static func print(
    _ report: StoreExport.Report, folder: String, _ options: StoreExport.Options,
    to console: Console
  ) {
    var rows = [["entity", "objects", "file"]]
    rows += report.tables.map { [$0.entity.printable, NumberText.grouped($0.objects), $0.file] }
    if !report.tables.isEmpty { console.table([.left, .right, .left], rows) }
    if report.missing > 0 {
      console.line(
        "! \(NumberText.counted(report.missing, "file")) of the store cannot be read. First: \(report.firstMissing.printable)"
      )
    }
    if report.dangling > 0 {
      console.line(
        "! \(NumberText.counted(report.dangling, "reference")) to missing objects followed")
    }
    if report.formulas > 0 {
      console.line(
        "! \(NumberText.counted(report.formulas, "cell")) of text that a spreadsheet would run as formulas"
          + (options.quotesFormulas
            ? ": written with an apostrophe" : "; --quote-formulas guards them"))
    }
    let files =
      report.files == 0
      ? ""
      : " and \(NumberText.counted(report.files, "file")) of \(NumberText.grouped(report.bytes)) bytes"
    console.line(
      "✓ exported: \(NumberText.counted(report.objects, "object"))\(files) to \(folder.printable)")
  }
}

extension JSONWriter {
  fileprivate mutating func export(_ report: StoreExport.Report, folder: String) {
    object("export") { json in
      json.fields([
        "folder": folder, "objects": report.objects, "files": report.files,
        "bytes": report.bytes, "missing": report.missing,
        "firstMissing": report.missing > 0 ? report.firstMissing : nil,
        "formulas": report.formulas, "dangling": report.dangling,
      ])
      json.objects("tables", report.tables) {
        ["entity": $0.entity, "file": $0.file, "objects": $0.objects]
      }
    }
  }
}
