import ManagedModel
import ManagedStore

@main
struct Strata {
  static func main() {
    do {
      let store = try Store(path: CommandLine.arguments[2])
      for warning in store.warnings { Output.error(warning + "\n") }
      try DumpCommand.dump(store, blobs: false, to: Output.write)
    } catch {
      Output.error("strata: \(error)\n")
    }
  }
}
