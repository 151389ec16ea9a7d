import ManagedModel
import ManagedStore
import ModelSearch
import SQLite
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

/// A migration of a fixture as the program asks for one: by written mappings, through versions.
struct CustomMigration {
  /// Relative to the fixtures, or absolute.
  var store: String
  /// `BUNDLE@VERSION`, the bundle relative to the fixtures.
  var to: String
  /// The version that made a store without a model in it.
  var from: String?
  /// A bundle to go through.
  var via: String?
  var mappings: [String] = []
  /// Recipes' texts.
  var recipes: [String] = []
  var policies = PolicyBindings()
  var allowed: Set<String> = []

  func model() throws -> Model { try Self.load(to) }

  static func load(_ reference: String) throws -> Model {
    try ModelReference(Fixtures.path(reference)).load().model
  }

  /// The store, copied with its -wal: nothing opens a fixture in its place.
  func open(in folder: TemporaryFolder) throws -> Store {
    let path =
      store.hasPrefix("/") ? store : try folder.copy(fixture: store, as: "before.sqlite")
    return try Store(path: path, model: from.map { try Self.load($0) })
  }

  func documents() throws -> MappingDocuments {
    var documents = try MappingDocuments(paths: mappings.map { Fixtures.path($0) })
    for (index, text) in recipes.enumerated() {
      documents.add(try Recipe(text: text, path: "recipe \(index + 1)"))
    }
    return documents
  }

  func plan(_ store: Store) throws -> MigrationPlan {
    try store.plan(
      to: try model(), names: (name(of: store), version), source: store.model,
      through: try via.map { try ModelVersions(readingFrom: Fixtures.path($0)) },
      documents: try documents(), policies: policies)
  }

  /// Plans and runs it, and looks whether the result is a store as Core Data has them.
  func migrate(in folder: TemporaryFolder, to name: String = "after.sqlite") throws -> Result {
    let before = try open(in: folder)
    let untouched = try folder.contents()
    let plan = try plan(before)
    #expect(plan.failures == [])
    var options = MigrationOptions()
    options.output = folder.path(name)
    options.allowedLosses = allowed
    let receipt = try StoreMigration.runAndRead(plan, options: options)
    let after = try Store(path: folder.path(name))
    #expect(after.modelSource == .store)
    #expect(try after.metadata.versionHashes == model().versionHashes)
    #expect(after.metadata.uuid == before.metadata.uuid)
    #expect(try after.connection.value("PRAGMA integrity_check") == .text("ok"))
    #expect(after.warnings == [] && after.drift.sentences == [])
    for (file, bytes) in untouched { #expect(try folder.contents()[file] == bytes, "\(file)") }
    return Result(before: before, after: after, plan: plan, receipt: receipt)
  }

  struct Result {
    var before: Store
    var after: Store
    var plan: MigrationPlan
    var receipt: MigrationReceipt

    /// Objects of each entity afterwards.
    var counts: [String: Int] {
      get throws { try after.counts().filter { $0.value > 0 } }
    }
  }

  private var version: String { String(to.split(separator: "@").last ?? "") }

  private func name(of store: Store) -> String {
    store.metadata.versionIdentifiers.first ?? "before"
  }
}
