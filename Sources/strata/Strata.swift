import ManagedModel
import ManagedStore
import Migration

@main
struct Strata {
  static func main() {
    do {
      let a = CommandLine.arguments
      let store = try Store(path: a[2])
      if a[1] == "dump" {
        for warning in store.warnings { Output.error(warning + "\n") }
        try DumpCommand.dump(store, blobs: false, to: Output.write)
      } else {
        let to = try ModelReference(a[3]).load()
        let plan = try StoreMigration.plan(
          store, to: to.model, names: ("a", to.name), archive: to.archive)
        Output.error("\(plan.losses)\n\(plan.checks)\n\(plan.notes)\n")
        var options = MigrationOptions()
        options.output = a.count > 4 ? a[4] : nil
        options.allowedLosses = Set(plan.losses.map(\.name))
        let r = try StoreMigration.run(plan, options: options)
        Output.error(
          "\(r.entities.count) \(r.verified) \(r.seconds) \(r.verificationSeconds) \(r.backupPath ?? "-")\n"
        )
      }
    } catch {
      Output.error("strata: \(error)\n")
    }
  }
}
