import TestSupport
import Testing

@testable import ManagedStore
@testable import Rescue

@Suite("Links that were removed and not found are counted")
struct MissingLinksTests {
  @Test("wiped links are counted by the row IDs of their table, and told with what was restored")
  func wiped() throws {
    let deleted = try Deleted(secure: "ON", "DELETE FROM Z_8TAGS WHERE rowid BETWEEN 200 AND 209")
    let undeletion = try Undeletion(of: deleted.demo.path)
    #expect(
      undeletion.missingLinks == [.init(relationship: "Recipe.tags", removed: 10, found: 0)])
    let sentence = "Recipe.tags: 10 row IDs of the join table are in no row"
    #expect(undeletion.notes.contains { $0.hasPrefix(sentence) && $0.contains("at most 10") })
    let (report, _, _) = try deleted.restored()
    #expect(report.salvage.notes.contains { $0.hasPrefix(sentence) })
  }

  @Test(
    "links of which all were found are not counted, nor those of a store from which none was removed"
  )
  func found() throws {
    let deleted = try Deleted("DELETE FROM Z_8TAGS WHERE rowid BETWEEN 200 AND 209")
    #expect(try Undeletion(of: deleted.demo.path).missingLinks.isEmpty)
    let demo = try DamagedDemo()
    #expect(try Undeletion(of: demo.path).missingLinks.isEmpty)
  }
}
