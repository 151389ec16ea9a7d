import Testing

@testable import Interface
@testable import Rescue

@Suite("What helps against a finding")
struct FindingTextTests {
  private static func text(_ kind: FindingKind, hints: Bool = true) -> String {
    let finding = Finding(
      kind, "3 of 4 are missing.", entity: "Recipe", property: "photo", count: 3,
      in: StorePlace(path: "Recipes.sqlite"))
    return FindingText(finding, hints: hints).lines(width: 200).map(\.text).joined(separator: "\n")
  }

  @Test("what brings missing files back is told before what gives them up")
  func externalMissing() throws {
    for hints in [true, false] {
      let text = Self.text(.externalMissing, hints: hints)
      let folder = try #require(text.firstRange(of: "put that folder beside the store"))
      let null = try #require(text.firstRange(of: "the values to NULL"))
      let command = try #require(text.firstRange(of: "--fix external-missing"))
      #expect(folder.lowerBound < null.lowerBound && null.lowerBound < command.lowerBound)
    }
    let text = Self.text(.externalMissing)
    let again = try #require(text.firstRange(of: "→ P: check again"))
    let repair = try #require(text.firstRange(of: "→ f: "))
    let folder = try #require(text.firstRange(of: "put that folder beside the store"))
    #expect(folder.lowerBound < again.lowerBound && again.lowerBound < repair.lowerBound)
  }

  @Test("a -wal of another store: what helps is in sight at 80x24")
  func foreignLog() throws {
    let finding = Finding(
      .walForeign,
      "81 frames of the -wal are not applied: the -wal belongs to another store, or to another state of this one (after its last commit the database has 137 pages, and its first page counts 170). The store is read without it: SQLite and Core Data would mix the two. The main file alone has 3,676 rows; with the -wal, its tables have 1,097.",
      in: StorePlace(path: "fw/store.sqlite"))
    // The pane has 37 columns and 13 lines then.
    let lines = FindingText(finding).lines(width: 37).map(\.text)
    #expect(lines.prefix(13).contains { $0.hasPrefix("→ s: salvage it") })
    #expect(lines.last == "Core Data reports no error.")
  }

  @Test(
    "an option of a command that is advised has its key beside it", arguments: FindingKind.allCases)
  func keys(_ kind: FindingKind) {
    let finding = Finding(kind, "", in: StorePlace(path: "Recipes.sqlite"))
    // A command line has no keys.
    #expect(!finding.advice.typed.contains(" asks for it"))
    let shown = FindingText(finding).lines(width: 1000).map(\.text)
    #expect(shown.contains { $0.contains(" asks for it)") } == finding.advice.typed.contains("--"))
  }
}
