import Files
import TestSupport
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Tests/Benchmarks/rescue.py is run over many stores by hand. Here each damage that the shared tool makes meets one
/// small store.
@Suite(
  "Nothing false is said of a store, whatever happened to it",
  .enabled(if: DamageSweep.isPossible, "python3 or the shared tools are absent"),
  .enabled(if: !Built.strata.isEmpty, "the program was not built"))
struct DamageSweepTests {
  @Test("of each kind of damage one", arguments: 0..<TestScale.count(1, ofAll: DamageSweep.parts))
  func sweep(part: Int) throws {
    let all = try DamageSweep.kinds()
    try #require(all.count > 60, "\(all)")
    let own = all.indices.filter { $0 % DamageSweep.parts == part }.map { all[$0] }
    let kinds = TestScale.some(3, of: own)
    let sweep = try DamageSweep.run(
      [DamageSweep.script, Built.strata, DamageSweep.shared, "--once", "600", "--damages"] + kinds)
    #expect(sweep.status == 0, "\(sweep.text)")
    #expect(sweep.text.contains("\(kinds.count) cases, 0 violations"), "\(sweep.text)")
  }
}

private enum DamageSweep {
  /// They run beside each other.
  static let parts = 8
  static let shared = Fixtures.root + "/.."
  static let script =
    #filePath.split(separator: "/", omittingEmptySubsequences: false)
    .dropLast(2).joined(separator: "/") + "/Benchmarks/rescue.py"
  private static let tool = shared + "/tools/damage.py"
  static let isPossible =
    Fixtures.isAvailable && access(tool, R_OK) == 0 && Tool.python3.isAvailable

  /// The names of all damages.
  static func kinds() throws -> [String] {
    try run([tool, "list"]).text.split(separator: "\n").compactMap { line in
      line.split(separator: " ").first.map(String.init)
    }
  }

  /// Runs a script, with what it wrote.
  static func run(_ words: [String]) throws -> (status: Int32, text: String) {
    let folder = try TemporaryFolder()
    let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
    var written: [UInt8] = []
    let end = try Subprocess.run(
      Tool.python3.path, ["-B"] + words,
      environment: ["PATH=" + path, "TMPDIR=" + folder.path, "HOME=" + folder.path, "LANG=C.UTF-8"]
    ) { written += $0 }
    let result = try #require(end)
    return (result.status, String(decoding: written, as: UTF8.self) + result.message)
  }
}
