import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("What could be the former one under another name")
struct RenameGuessTests {
  private static func note(_ names: [String]) throws -> Model {
    var note = Entity("Note")
    note.attributes = names.map { Attribute($0, .string, optional: true) }
    return try Model(entities: [note])
  }

  /// What a plan suggests for each loss, and what could be its former one by the guess itself.
  private static func suggestions(
    _ before: [String], _ after: [String], lost: [String]
  ) throws -> [String: (plan: String?, guess: String?)] {
    let (source, destination) = (try note(before), try note(after))
    let folder = try TemporaryFolder()
    let path = folder.path("Notes.sqlite")
    let writer = try StoreWriter(creating: path, model: source)
    try writer.insert(
      "Note", attributes: Dictionary(uniqueKeysWithValues: before.map { ($0, .string("x")) }))
    try writer.finish()
    let plan = try Way.copying.plan(Store(path: path), to: destination)
    let mapping = try MappingInference.mapping(from: source, to: destination)
    let guess = RenameGuess(mapping, from: source, to: destination)
    let taker = mapping.entityMappings[0]
    return Dictionary(
      uniqueKeysWithValues: lost.map { name in
        let candidates =
          source.attribute(named: name, of: "Note").map {
            guess.candidates(for: $0, of: "Note", in: taker)
          } ?? []
        return (
          name,
          (
            plan.losses.first { $0.property == name }?.suggestion,
            RenameGuess.best(
              for: name, among: candidates, rivals: lost.filter { $0 != name })
          )
        )
      })
  }

  @Test("the only one that came is the former of the only one that is gone")
  func only() throws {
    let found = try Self.suggestions(["title", "code"], ["title", "memo"], lost: ["code"])
    #expect(found["code"]?.guess == "memo")
    #expect(found["code"]?.plan?.hasPrefix("If Note.memo is the former “code”") == true)
  }

  /// The plan named the new one as the former of both, lint of neither.
  @Test("of two that are gone, neither is what came unless it is alike")
  func rivals() throws {
    let found = try Self.suggestions(["code", "hue"], ["memo"], lost: ["code", "hue"])
    #expect(found.values.allSatisfy { $0.plan == nil && $0.guess == nil })
    let alike = try Self.suggestions(["code", "hue"], ["codes"], lost: ["code", "hue"])
    #expect(alike["code"]?.guess == "codes")
    #expect(alike["code"]?.plan?.hasPrefix("If Note.codes is the former “code”") == true)
    #expect(alike["hue"]?.guess == nil && alike["hue"]?.plan == nil)
  }

  @Test("an entity that has half of the attributes is likely, the first of several")
  func entities() throws {
    func entity(_ name: String, _ attributes: [String]) -> Entity {
      var entity = Entity(name)
      entity.attributes = attributes.map { Attribute($0, .string, optional: true) }
      return entity
    }
    let source = try Model(entities: [entity("Memo", ["a", "b"])])
    let destination = try Model(
      entities: [entity("Note", ["a", "c"]), entity("Page", ["b", "d"]), entity("Odd", ["e"])])
    let mapping = try MappingInference.mapping(from: source, to: destination)
    let guess = RenameGuess(mapping, from: source, to: destination)
    #expect(guess.newEntity(like: "Memo") == "Note")
    #expect(guess.shared("Memo", "Odd") == (0, 2))
  }
}
