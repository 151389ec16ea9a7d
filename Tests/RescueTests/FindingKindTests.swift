import Interface
import ManagedModel
import Migration
import Testing
import Texts

@testable import Rescue

@Suite("Kinds of findings")
struct FindingKindTests {
  @Test(
    "each has a title, an advice and a name for a command line", arguments: FindingKind.allCases)
  func facts(kind: FindingKind) {
    #expect(!kind.title.isEmpty && kind.advice.text.hasSuffix("."))
    #expect(kind.rawValue.allSatisfy { $0.isLowercase || $0 == "-" })
    #expect(kind.rawValue.first != "-")
  }

  @Test("each has its row in the table, and each row its kind")
  func table() {
    let table = MessageTable.findings
    #expect(table.faults == [])
    #expect(table.rows.map(\.name) == FindingKind.allCases.map(\.rawValue))
    #expect(Set(FindingKind.table.keys) == Set(FindingKind.allCases))
  }

  @Test(
    "what Core Data says is in the catalogue of errors",
    arguments: FindingKind.allCases.filter { $0.error != nil })
  func errors(kind: FindingKind) throws {
    let error = try #require(kind.error)
    #expect(ErrorCatalogue.meaning(of: error.code, domain: error.domain.rawValue) != nil)
  }

  @Test("no error is named that Core Data and SQLite do not report")
  func unreported() {
    let silent: [FindingKind] = [
      .emptyMain, .joinDangling, .joinNull, .storageClass, .range, .textEncoding, .archive,
      .history,
      .externalMissing, .externalUnreadable,
    ]
    #expect(silent.allSatisfy { $0.error == nil })
    #expect(FindingKind.joinDangling.severity == .warning)
  }

  @Test("a command names the store as a shell takes it")
  func commands() {
    let odd = StorePlace(path: "/tmp/it's a store.sqlite")
    #expect(
      Remedy.salvage.command(for: .cutOff, odd)?.typed
        == "strata salvage '/tmp/it'\\''s a store.sqlite' --output '/tmp/it'\\''s a store-salvaged.sqlite'"
    )
    let dashed = StorePlace(path: "-a.sqlite", model: "A B.momd")
    #expect(
      Remedy.salvageByModel.command(for: .metadata, dashed)?.typed
        == "strata salvage ./-a.sqlite --output ./-a-salvaged.sqlite --model 'A B.momd'")
    #expect(
      Remedy.salvageByModel.command(for: .metadata, StorePlace(path: "a.sqlite"))?.typed
        == "strata salvage a.sqlite --output a-salvaged.sqlite --model MODEL")
    #expect(Remedy.none.command(for: .encrypted, odd) == nil)
  }

  @Test(
    "lines of SQLite's check are told apart",
    arguments: [
      ("row 127 missing from index ZAMOUNT_ZINGREDIENT_INDEX", FindingKind.indexWrong),
      ("wrong # of entries in index ZSTEP_ZRECIPE_INDEX", .indexWrong),
      ("the index ZSTEP_ZRECIPE_INDEX of ZSTEP cannot be read", .indexWrong),
      ("non-unique entry in index Z_Recipe_UNIQUE_identifier", .uniqueness),
      ("Main freelist: freelist leaf count too big on page 202", .freelist),
      ("Main freelist: Bad ptr map entry key=202 expected=(2,0) got=(5,3)", .freelist),
      ("Main freelist: Failed to read ptrmap key=127", .pointerMap),
      ("Page 658 is never used", .freelist),
      ("Failed to read ptrmap key=18", .pointerMap),
      ("On tree page 19 cell 0: Failed to read ptrmap key=204", .pointerMap),
      ("On tree page 19 cell 0: Rowid 4 out of order", .pageUnreadable),
      ("database disk image is malformed", .pageUnreadable),
    ] as [(String, FindingKind)])
  func lines(line: String, kind: FindingKind) {
    #expect(PageLayer.kind(of: line) == kind)
  }
}
