import Testing

@testable import ManagedStore
@testable import Rescue

@Suite("What SQLite's check of a file comes to")
struct PageLayerTests {
  private static func findings(_ problems: [String]) -> [Finding] {
    let damage = FileDamage(problems: problems)
    return PageLayer(place: StorePlace(path: "a.sqlite"), damage: damage, tables: []).findings()
  }

  @Test("pages below an index's page that cannot be read are not called free")
  func rootOfIndex() throws {
    let unused = (8173...8271).map { "Page \($0) is never used" }
    let found = Self.findings(["Page 21: btreeInitPage() returns error code 11"] + unused)
    #expect(found.map(\.kind) == [.indexWrong], "\(found)")
    // Nothing but the list says so.
    #expect(Self.findings(unused).map(\.kind) == [.freelist])
  }

  @Test("one object is not reported as many")
  func oneObject() {
    var damage = FileDamage(problems: ["database disk image is malformed"])
    damage.holes = [FileDamage.Hole(table: "ZNOTE", first: 5, last: 5, counts: [nil: 1])]
    let found = PageLayer(place: StorePlace(path: "a.sqlite"), damage: damage, tables: [])
      .findings()
    #expect(found.first?.sentence.hasPrefix("1 row of the table ZNOTE cannot be read") == true)
  }
}
