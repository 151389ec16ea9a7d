import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Migration

/// A store with composite attributes, and the models that it is migrated to.
enum CompositeCase {
  /// The library of the samples, changed: entities by name.
  static func model(_ change: (inout [String: Entity]) throws -> Void) throws -> Model {
    var entities = Dictionary(
      uniqueKeysWithValues: try CompositeSamples.library().entities.map { ($0.name, $0) })
    try change(&entities)
    return try Model(entities: Array(entities.values))
  }

  /// Every object's values and links, by object and property.
  static func values(at path: String) throws -> [String: [String: String]] {
    var objects: [String: [String: String]] = [:]
    for line in try StoreDump.lines(at: path) {
      let parts = line.split(separator: " ").map(String.init)
      var values: [String: String] = [:]
      for part in parts.dropFirst() {
        guard let mark = part.firstIndex(where: { $0 == "=" || $0 == "→" }) else { continue }
        values[String(part[..<mark])] = String(part[part.index(after: mark)...])
      }
      objects[parts.first ?? ""] = values
    }
    return objects
  }

  struct Result {
    var before: [String: [String: String]]
    var after: [String: [String: String]]
    var plan: MigrationPlan
    var receipt: MigrationReceipt
    /// What the plan says would be lost; `nil` where only a policy could tell.
    var losses: [Loss]?
    /// Rows of one column in the order of keys.
    var column: (String) throws -> [Value]
    /// Names of the columns of ZITEM, sorted.
    var columns: [String]
  }

  /// Migrates the sample store with all losses allowed, and looks at what every migrated store must
  /// be.
  static func migrate(to destination: Model, _ way: Way) throws -> Result {
    let folder = try TemporaryFolder()
    let path = folder.path("Library.sqlite")
    try CompositeSamples.writeLibrary(to: path)
    let before = try values(at: path)
    let plan = try way.plan(Store(path: path), to: destination)
    var options = MigrationOptions()
    options.allowedLosses = Set(plan.losses.map(\.name))
    let receipt = try StoreMigration.runAndRead(plan, options: options)
    var result = try look(at: path, destination, before, plan, receipt)
    if way == .policies { result.losses = nil }
    return result
  }

  static func look(
    at path: String, _ destination: Model, _ before: [String: [String: String]],
    _ plan: MigrationPlan, _ receipt: MigrationReceipt
  ) throws -> Result {
    let store = try Store(path: path)
    // The model in the store, read back, has the hashes that the metadata tell.
    #expect(store.modelSource == .store)
    #expect(store.modelMatches)
    #expect(store.model.versionHashes == destination.versionHashes)
    #expect(store.warnings == [])
    #expect(try store.connection.value("PRAGMA integrity_check") == .text("ok"))
    let fresh = StoreSchema(model: destination)
    for table in fresh.tables {
      let there = Set(store.database.columns(of: table.name)).subtracting([
        "Z_PK", "Z_ENT", "Z_OPT",
      ])
      #expect(there == Set(table.columns.map(\.name)), "\(table.name)")
    }
    let connection = store.connection
    return Result(
      before: before, after: try values(at: path), plan: plan, receipt: receipt,
      losses: plan.losses,
      column: { name in
        try connection.rows("SELECT \(name) FROM ZITEM ORDER BY Z_PK").compactMap(\.first)
      }, columns: store.database.columns(of: "ZITEM").sorted())
  }
}

extension Entity {
  mutating func edit(_ name: String, _ body: (inout Attribute) -> Void) {
    guard let index = attributes.firstIndex(where: { $0.name == name }) else { return }
    body(&attributes[index])
  }

  mutating func remove(_ name: String) { attributes.removeAll { $0.name == name } }
}

extension Attribute {
  mutating func edit(element name: String, _ body: (inout Attribute) -> Void) {
    guard let index = elements.firstIndex(where: { $0.name == name }) else { return }
    body(&elements[index])
  }

  mutating func remove(element name: String) { elements.removeAll { $0.name == name } }

  func defaulting(to value: AttributeValue) -> Attribute {
    var copy = self
    copy.defaultValue = value
    return copy
  }
}
