import Files
import ManagedStore
import TestSupport
import Testing

@testable import Commands

@Suite("strata anonymize")
struct AnonymizeCommandTests {
  private let place: StoreFolder

  init() throws { place = try StoreFolder() }

  private func path(_ name: String) -> String { place.folder.path(name) }

  private struct Told: Decodable {
    struct Body: Decodable {
      var output: String
      var uuid: String
      var replaced: Int
      var entities: [String: Int]
      var shows: [String]
      var kept: [String]
      var seeded: Bool
    }
    var anonymized: Body
  }

  @Test("the new store has the objects of the original and none of its texts")
  func store() throws {
    let store = try place.add("App.sqlite")
    let before = try FileSystem.read(store)
    let json = Captured("anonymize", store, "--output", path("Send.sqlite"), "--json")
    #expect(json.status == .done, "\(json.err)")
    try FormatsArticle.expectMembers(of: json.out, like: "{\"anonymized\"", in: ["anonymized"])
    let told = try json.decoded(Told.self).anonymized
    #expect(try told.entities == Store(path: store).counts())
    #expect(told.replaced > 0 && !told.shows.isEmpty && !told.seeded && told.kept == [])
    #expect(try told.uuid == Store(path: told.output).metadata.uuid)
    #expect(try FileSystem.read(store) == before)
    let (own, other) = (Captured("dump", store).out, Captured("dump", told.output).out)
    #expect(own != other && own.split(separator: "\n").count == other.split(separator: "\n").count)
  }

  @Test("the report is printed, and names what still shows; the seed is told")
  func printed() throws {
    let store = try place.add("App.sqlite")
    let run = Captured("anonymize", store, "--output", path("Send.sqlite"), "--seed", "1")
    #expect(run.status == .done, "\(run.err)")
    for words in ["What still shows:", "pseudonymous", "seed can test"] {
      #expect(run.out.contains(words), "\(run.out)")
    }
  }

  @Test("wrong words are wrong usage, and a file in the place is left alone")
  func refusals() throws {
    let store = try place.add("App.sqlite")
    #expect(Captured("anonymize", store).status == .usage)
    #expect(
      Captured("anonymize", store, "--output", path("A.sqlite"), "--keep", "Nobody.name").status
        == .usage)
    try FileSystem.create(path("B.sqlite"), holding: [1, 2, 3])
    #expect(Captured("anonymize", store, "--output", path("B.sqlite")).status == .refused)
    #expect(try FileSystem.read(path("B.sqlite")) == [1, 2, 3])
    #expect(Captured("anonymize", store, "--output", store).status != .done)
    #expect(FileIdentity(of: path("A.sqlite")) == nil)
  }
}
