import TestSupport
import Testing

@testable import ManagedModel
@testable import ModelWriting

@Suite("Hashes that Apple's tools wrote")
struct HashVectorTests {
  /// Fewest vectors that show something of which the fixtures have many.
  private static let least = [
    "attribute: String": 20, "attribute: Integer 16": 10, "attribute: Integer 32": 5,
    "attribute: Integer 64": 10, "attribute: Boolean": 10, "attribute: Date": 10,
    "attribute: Binary": 10, "attribute: Double": 3, "attribute: Decimal": 3, "attribute: Float": 2,
    "attribute: UUID": 3, "attribute: URI": 1, "attribute: Transformable": 5,
    "attribute: Composite": 3, "attribute: optional": 20, "attribute: mandatory": 20,
    "attribute: transient": 5, "attribute: indexed": 5, "attribute: modifier": 3,
    "attribute: external": 1, "attribute: kept": 3, "attribute: derived": 2,
    "attribute: renamed": 3, "attribute: default": 10, "relationship: to one": 10,
    "relationship: to many": 10, "relationship: ordered": 3, "relationship: mandatory": 5,
    "relationship: transient": 3, "relationship: no inverse": 3,
    "relationship: its own inverse": 1, "relationship: within the entity": 3,
    "relationship: least number": 3, "relationship: greatest number": 3,
    "relationship: modifier": 1, "relationship: renamed": 3, "delete rule: Nullify": 10,
    "delete rule: Cascade": 5, "delete rule: Deny": 1, "entity: abstract": 3,
    "entity: with a parent": 5, "entity: with a grandparent": 3, "entity: modifier": 3,
    "entity: renamed": 2, "entity: unique": 5, "entity: unique together": 3,
    "entity: compound": 3, "entity: indexes": 3, "entity: fetched": 1, "entity: info": 2,
    "entity: no properties of its own": 3, "compiled model": 3, "SwiftData": 3, "digest": 3,
    "checksum": 1,
  ]

  @Test("there are vectors of each kind, of thirteen framework versions")
  func number() throws {
    let vectors = try Vectors.load("hashes", HashVector.self)
    #expect(vectors.count >= 39)
    var counts: [String: Int] = [:]
    for fact in vectors.flatMap(\.shows) { counts[fact, default: 0] += 1 }
    for (fact, least) in Self.least {
      #expect(counts[fact, default: 0] >= least, "\(fact)")
    }
    #expect(counts.keys.filter { $0.hasPrefix("framework: ") }.count >= 13)
    #expect(vectors.allSatisfy { !$0.hashes.isEmpty })
  }

  @Test("an entity hashes as the store or the compiled model says", arguments: Vectors.hashes)
  func hashes(_ vector: HashVector) throws {
    let model = try vector.entities.model()
    #expect(model.versionHashes.mapValues(\.hex) == vector.hashes)
    if let digest = vector.digest { #expect(model.versionHashesDigest == digest) }
    if let checksum = vector.checksum { #expect(model.versionChecksum == checksum) }
  }

  @Test("and so it does when it was written as XML or archived", arguments: Vectors.hashes)
  func written(_ vector: HashVector) throws {
    let model = try vector.entities.model()
    let xml = try Model(contents: Array(model.xcdatamodelContents().utf8))
    #expect(xml.versionHashes.mapValues(\.hex) == vector.hashes)
    let archived = try Model(archive: model.archived())
    #expect(archived.versionHashes.mapValues(\.hex) == vector.hashes)
  }

  @Test("with an attribute more it hashes otherwise", arguments: Vectors.hashes)
  func changed(_ vector: HashVector) throws {
    var entities = try vector.entities.model().entities
    for index in entities.indices {
      entities[index].attributes.append(Attribute("anotherOne\(index)", .string, optional: true))
    }
    for (name, hash) in try Model(entities: entities).versionHashes {
      #expect(hash.hex != vector.hashes[name], "\(name)")
    }
  }
}
