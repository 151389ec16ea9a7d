#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What was built with the tests, found beside them.
public enum Built {
  /// The program itself; empty where it was not built.
  public static let strata = path("strata") ?? ""

  /// The library that lets system calls fail, where there is one.
  public static let faultShim = path("libFaultShim.so")

  private static func path(_ name: String) -> String? {
    let package = #filePath.split(separator: "/", omittingEmptySubsequences: false)
      .dropLast(4).joined(separator: "/")
    let own = CommandLine.arguments[0].split(separator: "/", omittingEmptySubsequences: false)
      .dropLast().joined(separator: "/")
    return [own, package + "/.build/debug"].map { $0 + "/" + name }
      .first { access($0, R_OK) == 0 }
  }
}
