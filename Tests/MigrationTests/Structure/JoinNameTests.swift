import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Migration

@Suite("The name of a join table within one entity")
struct JoinNameTests {
  private static func name(_ store: Store) throws -> String {
    try #require(store.schema.join(of: "likes", in: "Person")).name
  }

  @Test(
    "a migration leaves the name as it stands, with a new number too",
    arguments: [Gallery.likes, Gallery.likedBy], Way.allCases)
  func stands(_ side: StoreSchema.JoinTable.Side, _ way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try Gallery.store(in: folder, named: side)
    let base = side.relationship.uppercased()
    #expect(try Self.name(Store(path: path)) == "Z_2" + base)
    #expect(try Store(path: path).warnings == [])
    let lines = try StoreDump.lines(at: path)
    let (result, receipt) = try Gallery.migrate(
      path, to: Gallery.model([Gallery.shift]), way, in: folder)
    #expect(try Self.name(result) == "Z_3" + base)
    #expect(try StoreDump.lines(result) == lines)
    #expect(result.warnings == [])
    // The entity's properties are the same: Core Data looks for the same side.
    #expect(!receipt.notes.contains { $0.contains("may look for") })
  }

  @Test(
    "where the entity’s properties change, plan and receipt name the other name",
    arguments: [Gallery.likes, Gallery.likedBy])
  func told(_ side: StoreSchema.JoinTable.Side) throws {
    let folder = try TemporaryFolder()
    let path = try Gallery.store(in: folder, named: side)
    let other = side == Gallery.likes ? Gallery.likedBy : Gallery.likes
    let (result, receipt) = try Gallery.migrate(
      path, to: Gallery.model([Gallery.attribute("note", for: "Person")]), .inPlace, in: folder)
    #expect(try Self.name(result) == "Z_2" + side.relationship.uppercased())
    let note = try #require(receipt.notes.first { $0.contains("may look for") })
    #expect(note.contains("Z_2\(other.relationship.uppercased()) instead"))
    #expect(note.contains("--join-name \(other)"))
  }

  @Test(
    "compared afterwards, a table that either side may name is found under both",
    arguments: [Gallery.likes, Gallery.likedBy])
  func compared(_ side: StoreSchema.JoinTable.Side) throws {
    let folder = try TemporaryFolder()
    let path = try Gallery.store(in: folder, named: side)
    let model = try Gallery.model([Gallery.attribute("note", for: "Person")])
    let (result, _) = try Gallery.migrate(path, to: model, .inPlace, in: folder)
    let before = try Store(path: path)
    let after = try Store(path: result.path, model: model)
    let report = try StoreVerification.compare(
      before: before, after: after,
      mapping: MappingInference.mapping(from: before.model, to: model))
    #expect(report.differences == [])
  }

  @Test("the name is chosen, in every way", arguments: Way.allCases)
  func chosen(_ way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try Gallery.store(in: folder, named: Gallery.likes)
    let model = try Gallery.model([Gallery.attribute("note", for: "Person")])
    let (kept, _) = try Gallery.migrate(path, to: model, way, in: folder)
    let (turned, receipt) = try Gallery.migrate(
      path, to: model, way, joinNames: ["Person.likedBy"], in: folder)
    #expect(try Self.name(kept) == "Z_2LIKES")
    #expect(try Self.name(turned) == "Z_2LIKEDBY")
    #expect(turned.database.tables["Z_2LIKEDBY"]?.first?.name == "Z_2LIKES")
    #expect(!turned.database.contains("Z_2LIKES"))
    #expect(turned.database.indexes["Z_2LIKEDBY_Z_2LIKEDBY_INDEX"] == "Z_2LIKEDBY")
    #expect(try StoreDump.lines(turned) == StoreDump.lines(kept))
    #expect(receipt.notes.contains { $0.contains("named from Person.likedBy, as was chosen") })
    #expect(!receipt.notes.contains { $0.contains("may look for") })
  }

  @Test("a new one takes the later relationship, and the other name is told")
  func new() throws {
    let folder = try TemporaryFolder()
    let path = try Gallery.store(in: folder)
    let (result, receipt) = try Gallery.migrate(
      path,
      to: Gallery.model([
        (
          "<relationship name=\"words\"",
          """
          <relationship name="over" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="under"/>
          <relationship name="under" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="over"/>
          <relationship name="words"
          """
        )
      ]), .inPlace, in: folder)
    #expect(result.database.contains("Z_6UNDER"))
    let notes = receipt.notes.filter { $0.contains("may look for") }
    #expect(notes.count == 1)
    #expect(notes.first?.contains("Z_6OVER instead") == true)
  }

  @Test(
    "what is no such relationship is refused in a sentence",
    arguments: [
      ("Person", "names no relationship"),
      ("Person.nobody", "has no relationship “Person.nobody”"),
      ("Nobody.likes", "has no relationship “Nobody.likes”"),
      ("Person.name", "has no relationship “Person.name”"),
      ("Photo.place", "is no side of a many-to-many"),
      ("Person.friends", "is no side of a many-to-many"),
      ("Photo.albums", "from Album.photos (Z_1PHOTOS), always"),
    ])
  func refused(_ name: String, _ sentence: String) throws {
    let folder = try TemporaryFolder()
    let path = try Gallery.store(in: folder)
    let model = try Gallery.model([Gallery.attribute("note", for: "Person")])
    let error = #expect(throws: CoreDataError.self) {
      _ = try Way.inPlace.plan(Store(path: path), to: model, joinNames: [name])
    }
    #expect(error?.kind == .usage)
    #expect(error?.message.contains(sentence) == true, "\(error?.message ?? "")")
    #expect(error?.hint != nil)
  }

  @Test("both sides of one table are refused")
  func both() throws {
    let folder = try TemporaryFolder()
    let path = try Gallery.store(in: folder)
    #expect(throws: CoreDataError.self) {
      _ = try Way.inPlace.plan(
        Store(path: path), to: Gallery.model([Gallery.attribute("note", for: "Person")]),
        joinNames: ["Person.likes", "Person.likedBy"])
    }
  }
}
