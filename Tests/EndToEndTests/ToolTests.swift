import TestSupport
import Testing

/// What tests need beside strata.
struct ToolTests {
  @Test("in CI every program that tests run is installed", arguments: Tool.allCases)
  func installed(_ tool: Tool) {
    #expect(
      tool.isInstalled || !Tool.areRequired,
      "\(tool.rawValue) is not installed: without STRATA_CI, the tests that need it would be skipped"
    )
  }
}
