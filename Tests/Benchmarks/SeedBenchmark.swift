import Files
import ManagedModel
import ManagedStore
import TestSupport

/// How many objects a second `strata seed` writes, and the memory it takes.
enum SeedBenchmark {
  /// - Parameters:
  ///   - strata: the release binary.
  ///   - objects: of each store.
  ///   - models: besides that of the recipe box.
  static func run(strata: String, objects: Int, models: [String]) throws {
    let folder = try TemporaryFolder()
    let demo = Measured.run(
      strata, ["demo", folder.path("demo"), "--objects", "50", "--no-open"])
    guard demo.status == 0 else { throw CoreDataError(.failed, "strata demo failed") }
    for model in [folder.path("demo/Recipes.xcdatamodeld")] + models {
      for count in [objects / 10, objects] {
        var best = Measured(seconds: .infinity, peakBytes: 0, status: -1)
        let store = StoreFiles(path: folder.path("Seeded.sqlite"))
        for _ in 0..<3 {
          FileSystem.remove(store.path)
          FileSystem.removeTree(store.supportFolder)
          let run = Measured.run(strata, ["seed", model, store.path, "--objects", "\(count)"])
          guard run.status == 0 else { throw CoreDataError(.failed, "strata seed failed") }
          if run.seconds < best.seconds { best = run }
        }
        print(
          "\(FileSystem.name(of: model)): \(count) objects in \(milliseconds(best.seconds)), \(Int(Double(count) / best.seconds)) a second, \(megabytes(FileSystem.status(store.path)?.size ?? 0)), peak \(megabytes(best.peakBytes))"
        )
      }
    }
  }
}
