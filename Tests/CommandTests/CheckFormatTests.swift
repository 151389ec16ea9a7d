import Files
import TestSupport
import Testing

@testable import Commands

@Suite("Migrations for a build server")
struct CheckFormatTests {
  private let place: StoreFolder
  private let store: String
  private let lossy: String

  init() throws {
    place = try StoreFolder()
    store = try place.add("App.sqlite")
    lossy = place.bundle + "@Recipes 3"
  }

  @Test("plan has a case for each loss and check, and fails over those that refuse it")
  func plan() throws {
    let junit = Captured("plan", store, "--to", lossy, "--format", "junit")
    #expect(junit.status == .refused && junit.out.hasPrefix("<?xml"))
    #expect(junit.out.contains("<failure") && junit.out.contains("name=\"loss: "))
    let github = Captured("plan", store, "--to", lossy, "--format", "github")
    #expect(github.status == .refused && github.out.hasPrefix("::error file=\(store)"))
    let fine = Captured("plan", store, "--to", place.bundle, "--format", "junit")
    #expect(fine.status == .done && fine.out.contains("failures=\"0\""))
    #expect(!fine.out.contains("<failure"))
    let refused = Captured("plan", store, "--to", place.bundle + "@Recipes 4", "--format", "github")
    #expect(refused.status == .refused && refused.out.contains("134190"), "\(refused.out)")
    #expect(
      Captured("plan", store, "--to", lossy, "--format", "junit", "--json").status == .usage)
  }

  @Test("rehearse has a case for each store, with its time")
  func rehearse() throws {
    let other = try place.add("Other.sqlite")
    try FileSystem.write(Array("no store".utf8), to: place.folder.path("broken.sqlite"))
    let told = Captured(
      "rehearse", store, other, place.folder.path("broken.sqlite"), "--to", place.bundle,
      "--format", "junit")
    #expect(told.status == .unreadable)
    #expect(told.out.contains("tests=\"3\" failures=\"1\""), "\(told.out)")
    #expect(told.out.contains("<testcase name=\"\(other)\"") && told.out.contains("time=\""))
    #expect(told.lines.first?.hasPrefix("<?xml") == true)
  }

  @Test("verify has a case for each difference, one that passes if none exists")
  func verify() throws {
    let result = place.folder.path("New.sqlite")
    #expect(Captured("migrate", store, "--to", place.bundle, "--output", result).status == .done)
    let same = Captured("verify", store, result, "--to", place.bundle, "--format", "junit")
    #expect(same.status == .done && same.out.contains("tests=\"1\" failures=\"0\""), "\(same.out)")
    let github = Captured("verify", store, result, "--to", place.bundle, "--format", "github")
    #expect(github.status == .done && github.out.isEmpty)
    let none = Captured(
      "verify", store, place.folder.path("none.sqlite"), "--to", place.bundle, "--format", "github")
    #expect(none.status == .unreadable && none.out.hasPrefix("::error "))
  }
}
