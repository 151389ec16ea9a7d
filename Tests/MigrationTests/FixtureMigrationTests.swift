import ManagedModel
import ManagedStore
import ModelSearch
import SQLite
import TestSupport
import Testing

@testable import Migration

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite(
  "Migrations that Apple's engine did too",
  .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
struct FixtureMigrationTests {
  struct Case: Decodable, Sendable, CustomTestStringConvertible {
    var store: String
    var to: String
    var via: String?
    var mappings: [String]
    var apple: String?
    var compare: String?

    var testDescription: String { "\(store) → \(to)" }
  }

  /// The cases with one inferred step whose result Apple's file shows in full.
  static let cases: [Case] = {
    guard let bytes = try? Fixtures.bytes("cases.json"),
      let cases = try? JSONDecoder().decode([Case].self, from: Data(bytes))
    else { return [] }
    return cases.filter {
      $0.mappings.isEmpty && $0.via == nil && $0.apple != nil
        && $0.compare?.hasPrefix("everything") == true
    }
  }()

  @Test(
    "the result equals Apple's, object by object, table by table",
    arguments: TestScale.some(8, of: cases.flatMap { one in Way.allCases.map { (one, $0) } }))
  func equalsApple(_ fixture: Case, _ way: Way) throws {
    let folder = try TemporaryFolder()
    let source = try Store(path: Fixtures.path(fixture.store))
    let to = try ModelReference(Fixtures.path(fixture.to)).load()
    let plan = try way.plan(source, to: to.model)
    var options = MigrationOptions()
    options.output = folder.path("out.sqlite")
    options.allowedLosses = Set(plan.losses.map(\.name))
    _ = try StoreMigration.runAndRead(plan, options: options)

    let ours = try Store(path: folder.path("out.sqlite"))
    let apple = try Store(path: Fixtures.path(#require(fixture.apple)))
    #expect(ours.metadata.versionHashes == to.model.versionHashes)
    #expect(ours.metadata.versionHashes == apple.metadata.versionHashes)
    #expect(ours.metadata.uuid == source.metadata.uuid)
    #expect(try ours.connection.value("PRAGMA integrity_check") == .text("ok"))
    var expected = try StoreDump.lines(apple)
    if fixture.apple == "wire/store2-24-1.wiredatabase" {
      // The app asked its server for two users' handles before the store was kept.
      expected = expected.map {
        $0.replacing("handle=andre", with: "handle=∅").replacing("handle=titus", with: "handle=∅")
      }
    }
    // Apple's own result looks for external data under another store's name.
    let lines = try StoreDump.lines(ours)
    for (ours, apple) in zip(lines, expected) where ours != apple {
      Issue.record("ours:  \(ours)\napple: \(apple)")
    }
    #expect(lines.count == expected.count)
    for table in ours.database.tables.keys where table.hasPrefix("Z") {
      #expect(
        ours.database.columns(of: table) == apple.database.columns(of: table), "\(table)")
    }
    #expect(
      Set(ours.database.indexes.keys.filter { ours.database.sql[$0] != nil })
        == Set(apple.database.indexes.keys.filter { apple.database.sql[$0] != nil }))
  }
}
