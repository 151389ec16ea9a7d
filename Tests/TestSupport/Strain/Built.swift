import Files

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What was built with the tests, found beside them.
public enum Built {
  /// The program itself; empty where it was not built.
  public static let strata = path("strata") ?? ""

  /// The library that lets system calls fail, compiled when it is first asked for; `nil` where it cannot be,
  /// and on macOS, for which it is not written.
  ///
  /// As a target of the package it would have to be a product, which programs that use the libraries would get.
  public static let faultShim: String? = {
    #if os(Linux)
      let library = own + "/libFaultShim.so"
      // Another process may compile it at the same time.
      let made = library + ".\(getpid())"
      let sources = ["Fate", "FileCalls", "PathCalls"].map { "\(package)/Tests/FaultShim/\($0).c" }
      let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
      let end = try? Subprocess.run(
        Tool.clang.path, ["-shared", "-fPIC", "-O1", "-o", made] + sources + ["-ldl"],
        environment: ["PATH=" + path], output: { _ in })
      return end?.status == 0 && rename(made, library) == 0 ? library : nil
    #else
      return nil
    #endif
  }()

  private static let package = folder(#filePath, up: 4)
  private static let own = folder(CommandLine.arguments[0], up: 1)

  private static func folder(_ path: String, up levels: Int) -> String {
    path.split(separator: "/", omittingEmptySubsequences: false).dropLast(levels)
      .joined(separator: "/")
  }

  private static func path(_ name: String) -> String? {
    [own, package + "/.build/debug"].map { $0 + "/" + name }.first { access($0, R_OK) == 0 }
  }
}
