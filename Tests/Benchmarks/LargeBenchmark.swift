import Files
import ManagedModel
import ManagedStore
import TestSupport

/// Everything that is done with a store, on one of some gigabytes beside one of 240 MB: seconds for each
/// gigabyte, and the largest memory that the program held. To be run by hand: it takes minutes, and room
/// for three such files.
enum LargeBenchmark {
  private struct Size {
    var path: String
    var bytes: Int
    var runs: [Measured] = []
  }

  private static let small = 1_300_000

  static func run(strata: String, objects: Int) throws {
    let folder = try TemporaryFolder()
    var sizes: [Size] = []
    var names: [String] = []
    for count in [small, objects] {
      let place = folder.path("\(count)")
      let demo = Measured.run(strata, ["demo", place, "--objects", "\(count)", "--no-open"])
      guard demo.status == 0 else { throw CoreDataError(.failed, "strata demo failed") }
      let path = place + "/Recipes.sqlite"
      var size = Size(path: path, bytes: FileSystem.status(path)?.size ?? 0)
      print("\(count) objects, \(megabytes(size.bytes)), written in \(milliseconds(demo.seconds))")
      let steps = try Store(path: path).counts()["Step"] ?? 0
      let backup = place + "/backup.sqlite"
      func peer() -> Measured {
        FileSystem.remove(backup)
        defer { FileSystem.remove(backup) }
        return Measured.run("sqlite3", ["file:\(path)?immutable=1", ".backup '\(backup)'"])
      }
      let commands: [(String, () -> Measured)] = [
        ("sqlite3 .backup", peer),
        ("info", { Measured.run(strata, ["info", path]) }),
        ("first page of Step", { Measured.run(strata, ["rows", path, "Step"]) }),
        (
          "last page of Step",
          { Measured.run(strata, ["rows", path, "Step", "--offset", "\(max(0, steps - 100))"]) }
        ),
        (
          "filter with an index",
          {
            Measured.run(
              strata,
              [
                "rows", path, "Recipe", "--where", "createdAt < CAST(568200000, 'NSDate')",
                "--limit", "all",
              ])
          }
        ),
        (
          "filter without one",
          { Measured.run(strata, ["rows", path, "Step", "--where", "text == 'nothing of this'"]) }
        ),
        ("dump", { Measured.run(strata, ["dump", path]) }),
        ("plan", { Measured.run(strata, ["plan", path, "--to", model(place)]) }),
        (
          "migrate in place, with a backup",
          { Measured.run(strata, ["migrate", path, "--to", model(place)]) }
        ),
        (
          "verify",
          {
            Measured.run(
              strata, ["verify", place + "/Recipes.backup-1", path, "--to", model(place)])
          }
        ),
        ("rollback", { Measured.run(strata, ["rollback", path, "--no-backup"]) }),
      ]
      names = commands.map(\.0)
      for (name, command) in commands {
        let run = command()
        if run.status != 0 { print("\(name) ended with status \(run.status)") }
        size.runs.append(run)
      }
      sizes.append(size)
    }
    for (index, name) in names.enumerated() {
      let (one, large) = (sizes[0], sizes[1])
      let perGigabyte = [one, large].map { $0.runs[index].seconds / (Double($0.bytes) / 1e9) }
      print(
        "\(name): \(milliseconds(one.runs[index].seconds)) and \(milliseconds(large.runs[index].seconds)), \(megabytes(one.runs[index].peakBytes)) and \(megabytes(large.runs[index].peakBytes)); a gigabyte takes \(ratio(perGigabyte[1], perGigabyte[0])) as long"
      )
    }
  }

  private static func model(_ place: String) -> String { place + "/Recipes.xcdatamodeld" }
}
