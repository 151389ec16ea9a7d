#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A program of others that tests run.
///
/// Tests that need one are skipped where it is missing:
/// `@Test(.enabled(if: Tool.sqlite3.isAvailable, "sqlite3 is not installed"))`. With `STRATA_CI` set, as
/// `.ci/run` sets it, they run all the same, and fail.
public enum Tool: String, CaseIterable, Sendable {
  case sqlite3, tmux, git, python3, bash
  /// Swift has it with it.
  case clang
  /// Programs that pack the archives that strata opens.
  case xz, bzip2, zstd, zip, tar

  /// Whether a missing tool is a failure.
  public static let areRequired = getenv("STRATA_CI") != nil

  /// Whether tests that need the tool are to run.
  public var isAvailable: Bool { isInstalled || Self.areRequired }

  /// Whether it is in /usr/bin or in one of the folders of PATH.
  public var isInstalled: Bool { found != nil }

  /// The program; where it is missing, the place that it has on most systems.
  public var path: String { found ?? "/usr/bin/" + rawValue }

  private var found: String? { Self.places[self] }

  /// The system's own comes first: what version managers put before it takes longer to start.
  private static let places: [Tool: String] = {
    let path = getenv("PATH").map { String(cString: $0) } ?? "/bin"
    let folders = ["/usr/bin"] + path.split(separator: ":").map(String.init)
    var places: [Tool: String] = [:]
    for tool in allCases {
      places[tool] = folders.map { "\($0)/\(tool.rawValue)" }.first { access($0, X_OK) == 0 }
    }
    return places
  }()
}
