#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Small inputs after problems that people reported in public, kept outside of the repository.
///
/// Tests that need them are skipped where they are absent:
/// `@Test(.enabled(if: Cases.isAvailable, "the cases are absent"))`.
public enum Cases {
  /// The folder `shared/cases` beside the package.
  public static let root: String = {
    let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    // …/<package>/Tests/TestSupport/Cases.swift
    return parts.dropLast(4).joined(separator: "/") + "/shared/cases"
  }()

  public static let isAvailable = access(root + "/README.md", R_OK) == 0

  /// The absolute path of an input such as `16/new`.
  public static func path(_ relative: String) -> String { root + "/" + relative }
}
