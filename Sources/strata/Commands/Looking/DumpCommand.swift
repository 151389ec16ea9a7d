import ManagedStore
import RowText

/// `strata dump`: every object of a store, a line of JSON each, in a fixed order.
enum DumpCommand {
  @Sendable static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let store = try StoreOpening.reading(
      arguments[0], model: arguments.value("model"), checksAll: true)
    let warnings = store.warnings(naming: \.typed)
    for warning in warnings { console.note("! " + warning) }
    // A bar among the lines of the dump would spoil both.
    let bar = console.isTerminal ? nil : ProgressBar(console)
    let total = bar?.isVisible == true ? try store.counts().values.reduce(0, +) : nil
    defer { bar?.clear() }
    try ObjectLines.write(
      store, blobs: arguments.flag("blobs"),
      report: { bar?.show("dump", $0, of: total, "objects") },
      note: { console.note("! " + $0) }
    ) { console.write($0) }
    bar?.clear()
    return console.finish(store, told: warnings)
  }
}
