#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// How much the tests try: `swift test` a sample that takes minutes, `STRATA_TESTS=all swift test`
/// everything.
///
/// A suite or test that has no part in the sample carries the condition and says how it is run:
///
///     @Suite("…", .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
///
/// This target has no trait of its own for that, because the benchmarks, which link no library for
/// tests, use it too.
public enum TestScale {
  /// Whether everything is tried.
  public static let isFull = getenv(variable).map { String(cString: $0) } == "all"

  /// Shown with every suite and test that is skipped without it.
  public static let condition = "a long test: set \(variable)=all to run it"

  private static let variable = "STRATA_TESTS"

  /// How many seeds, moments or inputs a test takes.
  ///
  /// - Parameter variable: an environment variable that sets another number, if there is one.
  public static func count(_ sample: Int, ofAll all: Int, variable: String? = nil) -> Int {
    let wanted = variable.flatMap { getenv($0) }.flatMap { Int(String(cString: $0)) }
    return max(1, wanted ?? (isFull ? all : sample))
  }

  /// Every combination of two lists, or a sample in which each element of both occurs.
  public static func pairs<One, Other>(_ ones: [One], _ others: [Other]) -> [(One, Other)] {
    if isFull || ones.isEmpty || others.isEmpty {
      return ones.flatMap { one in others.map { (one, $0) } }
    }
    return (0..<max(ones.count, others.count)).map {
      (ones[$0 % ones.count], others[$0 % others.count])
    }
  }

  /// Every one, or a sample that is spread evenly over the list.
  public static func some<Element>(_ sample: Int, of all: [Element]) -> [Element] {
    guard !isFull, sample < all.count else { return all }
    return (0..<sample).map { all[$0 * all.count / sample] }
  }
}
