import ManagedStore
import RowText

/// `strata dump`: every object of a store, a line of JSON each, in a fixed order.
enum DumpCommand {
  private static let blobs = Option(
    "blobs", "print binary values in Base64 instead of their SHA-256 (files of up to 64 MB)")
  static let command = Command(
    "dump", .look, "prints every object as a line of JSON, in a fixed order",
    arguments: [Argument.store],
    options: [blobs, Option.model, Option.json.help("print errors as JSON; the dump always is")],
    example: "strata dump Recipes.sqlite > before.ndjson", run: run)

  @Sendable private static func run(
    _ arguments: Arguments, _ console: Console
  ) throws -> CommandStatus {
    let store = try StoreOpening.reading(
      arguments[.store], model: arguments[.model], checksAll: true)
    let warnings = store.warnings(naming: \.typed)
    for warning in warnings { console.note("! " + warning) }
    // A bar among the lines of the dump would spoil both.
    let bar = console.isTerminal ? nil : ProgressBar(console)
    let total = bar?.isVisible == true ? try store.counts().values.reduce(0, +) : nil
    defer { bar?.clear() }
    try ObjectLines.write(
      store, blobs: arguments[blobs],
      report: { bar?.show("dump", $0, of: total, "objects") },
      note: { console.note("! " + $0) }
    ) { console.write($0) }
    bar?.clear()
    return console.finish(store, told: warnings)
  }
}
