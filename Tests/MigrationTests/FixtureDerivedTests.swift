import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Migration

@Suite(
  "Derived attributes of a real store", .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
struct FixtureDerivedTests {
  private static let fixture = "coredataplus/SampleModel2/SampleModel2_V1.sqlite"

  private func migrate(_ path: String, to model: Model) throws {
    let plan = try Store(path: path).plan(to: model, names: ("1", "2"))
    var options = MigrationOptions()
    options.allowedLosses = Set(plan.losses.map(\.name))
    options.keepsBackup = false
    _ = try StoreMigration.runAndRead(plan, options: options)
  }

  private func triggers(_ store: Store) -> [String: String] {
    store.database.sql.filter { store.database.triggers[$0.key] != nil }
  }

  @Test("a count that was taken away and comes back has the values and triggers of Core Data")
  func comesBack() throws {
    let folder = try TemporaryFolder()
    let path = try folder.copy(fixture: Self.fixture)
    let (model, before, counts) = try {
      let store = try Store(path: path)
      let rows = try store.connection.rows("SELECT Z_PK, ZPAGESCOUNT FROM ZBOOK ORDER BY 1")
      return (store.model, triggers(store), rows)
    }()
    var entities = model.entities
    for index in entities.indices { entities[index].attributes.removeAll(where: \.isDerived) }
    try migrate(path, to: Model(entities: entities))
    #expect(try triggers(Store(path: path)).isEmpty)
    try migrate(path, to: model)
    let store = try Store(path: path)
    let after = try store.connection.rows("SELECT Z_PK, ZPAGESCOUNT FROM ZBOOK ORDER BY 1")
    #expect(counts.count > 50)
    #expect(after == counts)
    #expect(before.count == 5)
    #expect(triggers(store) == before)
  }

  @Test("triggers of a count stay as Core Data wrote them when the table is changed")
  func stays() throws {
    let folder = try TemporaryFolder()
    let path = try folder.copy(fixture: Self.fixture)
    let (model, before) = try {
      let store = try Store(path: path)
      return (store.model, triggers(store))
    }()
    var entities = model.entities
    let index = try #require(entities.firstIndex { $0.name == "Page" })
    entities[index].attributes.append(Attribute("note", .string, optional: true))
    try migrate(path, to: Model(entities: entities))
    #expect(try triggers(Store(path: path)) == before)
  }

  @Test(
    "all triggers and the R-tree of Photos survive a migration",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func photos() throws {
    let folder = try TemporaryFolder()
    let path = try folder.copy(fixture: "system/Photos-10.15.7.sqlite")
    let (model, before) = try {
      let store = try Store(path: path)
      return (store.model, triggers(store))
    }()
    var entities = model.entities
    let index = try #require(entities.firstIndex { $0.name == "GenericAsset" })
    entities[index].attributes.append(Attribute("note", .string, optional: true))
    try migrate(path, to: Model(entities: entities))
    let store = try Store(path: path)
    #expect(triggers(store) == before)
    #expect(before.count == 59)
    let rows = try store.connection.value("SELECT count(*) FROM Z_RT_GenericAsset_boundedByRect")
    #expect(rows == .integer(29))
  }
}
