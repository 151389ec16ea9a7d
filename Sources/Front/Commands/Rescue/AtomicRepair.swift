import AtomicStores
import Files
import JSON
import ManagedModel
import ModelSearch
import Rescue

/// What `strata repair` does with an XML or binary store: it puts lost version hashes into a copy. All else is
/// repaired in a store of the SQLite type that is made of it.
enum AtomicRepair {
  /// - Parameters:
  ///   - origin: the store, which was read with the model of `options`.
  ///   - receipt: where the receipt goes.
  /// - Throws: ``CoreDataError``: refused where there is nothing to put in, or the rest would not stay as it is; usage
  ///   where no model or no output is named.
  static func run(
    _ origin: AtomicCopy.Origin, _ options: RepairOptions, _ receipt: ReceiptFile?, asJSON: Bool,
    _ console: Console
  ) throws -> CommandStatus {
    let conversion = ShellText.command("convert", origin.path, "--output", "NEW.sqlite")
    guard options.kinds.isEmpty, options.kept == nil, options.entity == nil else {
      throw CoreDataError(
        .refused,
        "--fix, --keep and --entity choose repairs of a store of the SQLite type, and this is \(origin.form.noun)",
        path: origin.path,
        hint: "Convert it to an SQLite store, and repair that: " + conversion)
    }
    guard origin.faults.contains(where: { $0.kind == .metadata }) else {
      throw CoreDataError(
        .refused,
        "of \(origin.form.noun) only lost version hashes are repaired, and it has its own",
        path: origin.path,
        hint: "Convert it to an SQLite store, and repair that: " + conversion)
    }
    guard let model = options.model else {
      throw CoreDataError(
        .usage, "the version hashes are those of a model, which has to be given", path: origin.path,
        hint: "Name the model with --model.")
    }
    if let damage = origin.faults.first(where: { $0.kind == .damage }) {
      throw CoreDataError(
        .refused, "not repaired: \(damage.sentence.asClause)", path: origin.path,
        hint: "What can be read of it: "
          + ShellText.command("salvage", origin.path, "--output", "NEW.sqlite"))
    }
    if let misfit = origin.faults.first(where: { $0.kind == .values }) {
      throw CoreDataError(
        .refused, "the model does not fit the store: \(misfit.sentence.asClause)",
        path: origin.path, hint: "Give the model that made the store.")
    }
    let trial = try options.isRehearsal ? PrivateFolder(.disk) : nil
    guard
      let output = trial.map({ $0.path + "/" + FileSystem.name(of: origin.path) })
        ?? options.output
    else {
      throw CoreDataError(
        .refused, "\(origin.form.noun) is never changed in place", path: origin.path,
        hint: "Name the repaired copy with --output.")
    }
    if trial == nil { RecoveryNotice.write(forOutput: output, to: console) }
    let made = try withExtendedLifetime(trial) {
      try NewStorePlace.require(output, besides: [origin.path])
      return try AtomicMetadata.write(origin.path, with: model, to: output)
    }
    let line = JSONWriter.line { json in
      json.object(
        "repaired",
        [
          "store": origin.path, "output": trial == nil ? output : nil,
          "entities": model.versionHashes.count, "objects": made.objects,
          "keepsMetadata": made.keepsMetadata,
        ])
    }
    let hashes = NumberText.counted(
      model.versionHashes.count, "entity", plural: "entities")
    let objects = "all \(NumberText.counted(made.objects, "object")) stay as they were"
    let rest =
      made.keepsMetadata
      ? "the other metadata and \(objects)"
      : "other metadata could not be read and are not in it; \(objects)"
    if asJSON {
      console.write(line)
    } else if trial != nil {
      console.line("✓ the version hashes of \(hashes) would be written; \(rest)")
    } else {
      console.line("✓ \(output.printable): the version hashes of \(hashes) were written; \(rest)")
    }
    try receipt?.write(line)
    return .done
  }
}
