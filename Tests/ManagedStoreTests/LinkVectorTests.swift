import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

@Suite("Links as Apple's engine stores them")
struct LinkVectorTests {
  @Test("there are to-ones, ordered to-manys, join tables, and one that is its own inverse")
  func number() throws {
    let vectors = try Vectors.load("links", LinkVector.self)
    #expect(vectors.count >= 12)
    #expect(vectors.flatMap(\.links.values).flatMap(\.values).filter { $0.count > 1 }.count >= 20)
    let columns = vectors.flatMap(\.rows.values).flatMap { $0 }.flatMap(\.keys)
    for kind in ["Z_FOK_PARENT", "Z_FOK_1FAVORITES", "REFLEXIVE", "Z1_BOOK"] {
      #expect(columns.contains(kind), "\(kind)")
    }
  }

  @Test("each object is linked with what an independent reader found", arguments: Vectors.links)
  func links(_ vector: LinkVector) throws {
    let model = try vector.entities.model()
    #expect(StoreSchema.freshNumbers(of: model) == vector.entities.numbers)
    let folder = try TemporaryFolder()
    let path = folder.path("Store.sqlite")
    try StoreCreation.create(at: path, model: model, uuid: "A-B-C")
    let connection = try Connection(path: path, mode: .readWrite)
    for (table, rows) in vector.rows {
      for row in rows {
        let columns = row.keys.sorted()
        let values = columns.map { "\(row[$0] ?? 0)" }
        try connection.execute(
          "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")))"
        )
      }
    }
    try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 9999 WHERE Z_SUPER = 0")
    connection.close()
    let store = try Store(path: path)
    var found: [String: [String: [String]]] = [:]
    for entity in model.entities {
      let cursor = try ObjectCursor(store, entity: entity.name)
      while let object = try cursor.next() {
        var links: [String: [String]] = [:]
        for (entry, related) in zip(cursor.table.relationships, object.relationships) {
          links[entry.relationship.name] =
            switch related {
            case .toOne(let id): id.map { [$0.description] } ?? []
            case .toMany(let ids): ids.map(\.description)
            }
        }
        found["\(entity.name)/p\(object.key)"] = links
      }
    }
    #expect(found == vector.links)
    #expect(store.warnings == [])
  }
}
