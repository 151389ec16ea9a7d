import Rescue
import Testing

@Suite("Kinds of findings")
struct FindingKindTests {
  @Test("each has a title, an advice and a name for a command line", arguments: FindingKind.allCases)
  func facts(kind: FindingKind) {
    #expect(!kind.title.isEmpty && !kind.advice.isEmpty)
    #expect(kind.rawValue.allSatisfy { $0.isLowercase || $0 == "-" })
  }
}
