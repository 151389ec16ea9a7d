import Files
import ManagedModel
import ManagedStore
import Rescue
import TestSupport

/// How fast and in how much memory a large store is salvaged, beside the sqlite3 shell's copy of it; and what doctor
/// takes of the damaged one.
enum SalvageBenchmark {
  /// - Parameter objects: of the demo store; 1,300,000 make about 230 MB, 11,500,000 about 2 GB.
  static func run(strata: String, objects: Int) throws {
    let folder = try TemporaryFolder()
    let demo = Measured.run(
      strata, ["demo", folder.path("demo"), "--objects", "\(objects)", "--no-open"])
    guard demo.status == 0 else { throw CoreDataError(.failed, "strata demo failed") }
    let path = folder.path("demo/Recipes.sqlite")
    print("demo store: \(objects) objects, \(megabytes(FileSystem.status(path)?.size ?? 0))")
    try compare("whole", path, strata, folder)
    // Without its first pages nothing but the pages themselves tells what is where.
    let damaged = folder.path("demo/Damaged.sqlite")
    try FileSystem.copyOver(path, to: damaged)
    // A process that is started takes the memory of its parent for its own peak: nothing is read here.
    let zeros = Measured.run(
      "dd", ["if=/dev/zero", "of=\(damaged)", "bs=65536", "count=1", "conv=notrunc"])
    guard zeros.status == 0 else { throw CoreDataError(.failed, "dd failed") }
    try compare("without its first 64 KB", damaged, strata, folder, beside: path)
    let doctor = Measured.run(strata, ["doctor", damaged])
    print("doctor: \(milliseconds(doctor.seconds)), \(megabytes(doctor.peakBytes))")
    guard doctor.status == 1 else {
      throw CoreDataError(.failed, "doctor said \(doctor.status)")
    }
  }

  /// Salvages a store in this process, which has symbols for a profiler.
  static func salvage(_ path: String, to output: String) throws {
    var options = StoreSalvage.Options()
    options.log = .own
    let start = Fuzzing.now()
    let report = try StoreSalvage.run(path: path, output: output, options: options)
    print(
      "\(report.tables.reduce(0) { $0 + $1.rows }) rows in \(milliseconds(Fuzzing.now() - start)), peak \(megabytes(Fuzzing.peakMemory))"
    )
  }

  private static func compare(
    _ what: String, _ path: String, _ strata: String, _ folder: TemporaryFolder,
    beside whole: String? = nil
  ) throws {
    // What was damaged has lost something; where nothing was, nothing is.
    let expected: Int32 = whole == nil ? 0 : 1
    var best: (copy: Double, salvage: Double, peak: Int) = (.infinity, .infinity, 0)
    for _ in 0..<3 {
      let (copy, saved) = (folder.path("copy.sqlite"), folder.path("saved.sqlite"))
      let backup = Measured.run("sqlite3", [whole ?? path, ".backup '\(copy)'"])
      let salvage = Measured.run(strata, ["salvage", path, "--output", saved])
      guard backup.status == 0, salvage.status == expected else {
        throw CoreDataError(.failed, "sqlite3 said \(backup.status), salvage \(salvage.status)")
      }
      best.copy = min(best.copy, backup.seconds)
      best.salvage = min(best.salvage, salvage.seconds)
      best.peak = max(best.peak, salvage.peakBytes)
      for name in try FileSystem.list(folder.path) where name != "demo" {
        FileSystem.removeTree(folder.path(name))
      }
    }
    print(
      "salvage, \(what): \(milliseconds(best.salvage)), \(ratio(best.salvage, best.copy)) the .backup (\(milliseconds(best.copy))), \(megabytes(best.peak))"
    )
  }
}
