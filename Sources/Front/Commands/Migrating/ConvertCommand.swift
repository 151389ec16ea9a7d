import AtomicStores
import Files
import JSON
import ManagedModel
import ManagedStore
import ModelSearch

/// `strata convert`: an XML or binary store as a new one of the SQLite type.
package enum ConvertCommand {
  private static let output = Option("output", "FILE", .file, "write the new store here").required
  package static let command = Command(
    "convert", .migrate, "makes an SQLite store from an XML or binary store",
    arguments: [Argument.store], options: [output, Option.model, Option.json], details: help,
    example: "strata convert Notes.xml --output Notes.sqlite --model Notes.momd",
    statuses:
      "1 if an object, a value or a reference was not converted, 3 if a file is there already or the model is not the store's, 130 if it was cancelled",
    readsAtomicStores: true, run: Interruption.watched(run))

  private static let help = """
    The new store has the old one's UUID, metadata and keys: Core Data's own conversion gives new keys, so that
    object URIs that an app has saved elsewhere no longer hold. A model with the store's version hashes is needed:
    give it with --model, or put it beside the store. An XML store whose objects show all of its model needs none.
    A Transformable of a binary store is archived by NSKeyedArchiver, as Foundation's transformers do; a transformer
    of the app's own may expect another form, which is reported. A value that does not fit its attribute's type is
    kept as text. The store itself is never modified.
    """

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let place = arguments[output]
    let path = arguments[.store]
    guard AtomicStoreForm(at: path) != nil else {
      guard FileSystem.isDatabase(path) else {
        try StoreFiles(path: path).check()
        throw CoreDataError(.unreadable, "neither an XML store nor a binary one", path: path)
      }
      throw CoreDataError(.usage, "the store is of the SQLite type already", path: path)
    }
    RecoveryNotice.write(forOutput: place, to: console)
    try NewStorePlace.require(place, besides: [path])
    let bar = ProgressBar(console)
    let report: AtomicReport
    do {
      defer { bar.clear() }
      let contents = try AtomicContents(path: path) { done in
        try Interruption.check()
        bar.show("reading", done, of: nil, "objects")
      }
      let model =
        try StoreOpening.model(arguments[.model])
        ?? ModelBundle.version(besideStore: path, making: contents.versionHashes)?.model
      let names = try AtomicModel(model, for: contents)
      try requireModel(names, of: contents)
      report = try AtomicConversion(contents, names).write(to: place) { done in
        try Interruption.check()
        bar.show("converting", done, of: contents.objects, "objects")
      }
    }
    arguments[.json]
      ? console.json { $0.conversion(report, to: place) } : print(report, to: place, console)
    return report.losses.isEmpty ? .done : .no
  }

  /// Core Data opens a store only with a model that has its hashes.
  private static func requireModel(_ names: AtomicModel, of contents: AtomicContents) throws {
    // Emptied metadata state none: a model that is given is taken at its word.
    guard !names.matches, !contents.versionHashes.isEmpty || names.source != .given else { return }
    let hint =
      "Give the model that the store was saved with: --model MODEL; strata find-model looks for it."
    switch names.source {
    case .given:
      throw CoreDataError(
        .refused, code: .persistentStoreIncompatibleVersionHash,
        "the model's version hashes are not the store's", path: contents.path, hint: hint)
    case .rebuilt:
      throw CoreDataError(
        .refused, code: .migrationMissingSourceModel,
        "\(contents.form.noun) has no model in it, and its objects do not show all of it",
        path: contents.path, hint: hint)
    }
  }

  private static func print(_ report: AtomicReport, to place: String, _ console: Console) {
    var rows = [["entity", "objects"]]
    rows += report.entities.map { [$0.name.printable, NumberText.grouped($0.objects)] }
    if !report.entities.isEmpty { console.table([.left, .right], rows) }
    for sentence in report.losses + report.warnings { console.line("! " + sentence.printable) }
    for note in report.notes { console.line("· " + note.printable) }
    console.line(
      "✓ converted: \(NumberText.counted(report.objects, "object")) to \(place.printable), with the keys that they had"
    )
  }
}

extension JSONWriter {
  fileprivate mutating func conversion(_ report: AtomicReport, to place: String) {
    object("converted") { json in
      json.fields([
        "store": place, "objects": report.objects, "losses": report.losses,
        "warnings": report.warnings, "notes": report.notes,
      ])
      json.numbers("entities", report.entities.map { ($0.name, $0.objects) })
    }
  }
}
