import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

/// The seven steps: their order, and what becomes of an error in each.
@Suite("The steps of policies")
struct PolicyStepTests {
  enum Step: String, CaseIterable, Sendable {
    case begin, createDestinationInstances, endInstanceCreation, createRelationships,
      endRelationshipCreation, performCustomValidation, end
  }

  /// Calls a closure in each step, which the tests that use it say.
  class Steps: EntityMigrationPolicy {
    func at(
      _ step: Step, _ mapping: EntityMapping, _ manager: MigrationManager, _ id: ObjectID?
    ) throws {}

    override func begin(_ mapping: EntityMapping, manager: MigrationManager) throws {
      try at(.begin, mapping, manager, nil)
    }
    override func createDestinationInstances(
      for source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      try at(.createDestinationInstances, mapping, manager, source.id)
      try super.createDestinationInstances(for: source, in: mapping, manager: manager)
    }
    override func endInstanceCreation(for mapping: EntityMapping, manager: MigrationManager) throws
    {
      try at(.endInstanceCreation, mapping, manager, nil)
    }
    override func createRelationships(
      for destination: DestinationObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      try at(.createRelationships, mapping, manager, destination.id)
      try super.createRelationships(for: destination, in: mapping, manager: manager)
    }
    override func endRelationshipCreation(
      for mapping: EntityMapping, manager: MigrationManager
    )
      throws
    {
      try at(.endRelationshipCreation, mapping, manager, nil)
    }
    override func performCustomValidation(
      for mapping: EntityMapping, manager: MigrationManager
    )
      throws
    {
      try at(.performCustomValidation, mapping, manager, nil)
    }
    override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
      try at(.end, mapping, manager, nil)
    }
  }

  /// Writes the steps down in an object of the result, made in the last of them.
  final class Recording: Steps {
    override func at(
      _ step: Step, _ mapping: EntityMapping, _ manager: MigrationManager, _ id: ObjectID?
    ) throws {
      #expect(manager.currentEntityMapping?.name == mapping.name)
      #expect((0...1).contains(manager.migrationProgress))
      let so = manager.userInfo["log"] as? [String] ?? []
      manager.userInfo["log"] =
        so + ["\(mapping.name) \(step.rawValue)" + (id.map { " \($0)" } ?? "")]
      guard step == .end, mapping.source == "B", let log = manager.userInfo["log"] as? [String]
      else { return }
      for line in log { try manager.insert("Log").set(.string(line), for: "line") }
    }
  }

  struct Broken: Error, CustomStringConvertible { var description: String { "it broke" } }

  /// Fails at the step that the mapping's user info names.
  final class Failing: Steps {
    override func at(
      _ step: Step, _ mapping: EntityMapping, _ manager: MigrationManager, _ id: ObjectID?
    ) throws {
      guard manager.mappingModel.userInfo["step"] == .string(step.rawValue) else { return }
      switch manager.mappingModel.userInfo["how"] {
      case .string("cancel"): manager.cancelMigration(with: Broken())
      case .string("known"):
        throw CoreDataError(
          .refused, code: 1570, "too short", property: "title", hint: "Lengthen it.")
      default: throw Broken()
      }
    }
  }

  static func models() throws -> (Model, Model) {
    let text = "A\n  title String\nB\n  title String\nLog\n  line String"
    return (try Classics.model("1", text), try Classics.model("2", text + "\n  note String"))
  }

  static func store(in folder: TemporaryFolder) throws -> String {
    try Classics.store(models().0, in: folder) { writer in
      try writer.insert("A", attributes: ["title": .string("one")])
      try writer.insert("A", attributes: ["title": .string("two")])
      try writer.insert("B", attributes: ["title": .string("three")])
    }
  }

  static let mappings = """
    { source: 'A', destination: 'A', policy: 'P' }, { source: 'B', destination: 'B', policy: 'P' },
    { source: 'Log', destination: 'Log', policy: 'P' }
    """

  @Test("run in Core Data's order: instances of all mappings, then links, then the end")
  func order() throws {
    let folder = try TemporaryFolder()
    let lines = try Classics.migrate(
      Self.store(in: folder), to: Self.models().1, Self.mappings, policies: ["P": Recording.self])
    #expect(
      lines.filter { $0.hasPrefix("Log/") }.map { $0.split(separator: "line=").last ?? "" } == [
        "AToA begin note=∅", "AToA createDestinationInstances A/p1 note=∅",
        "AToA createDestinationInstances A/p2 note=∅", "AToA endInstanceCreation note=∅",
        "BToB begin note=∅", "BToB createDestinationInstances B/p1 note=∅",
        "BToB endInstanceCreation note=∅",
        "LogToLog begin note=∅", "LogToLog endInstanceCreation note=∅",
        "AToA createRelationships A/p1 note=∅", "AToA createRelationships A/p2 note=∅",
        "AToA endRelationshipCreation note=∅",
        "BToB createRelationships B/p1 note=∅", "BToB endRelationshipCreation note=∅",
        "LogToLog endRelationshipCreation note=∅",
        "AToA performCustomValidation note=∅", "AToA end note=∅",
        "BToB performCustomValidation note=∅", "BToB end note=∅",
      ])
  }

  @Test(
    "an error ends the migration: 134170, the step and the object, the store untouched",
    arguments: Step.allCases)
  func errors(step: Step) throws {
    for how in ["any", "known", "cancel"] {
      let folder = try TemporaryFolder()
      let path = try Self.store(in: folder)
      let before = try folder.contents()
      let plan = try Classics.plan(
        path, to: Self.models().1, Self.mappings,
        userInfo: "{ step: '\(step.rawValue)', how: '\(how)' }", policies: ["P": Failing.self])
      let error = #expect(throws: CoreDataError.self) { try StoreMigration.runAndRead(plan) }
      #expect(try folder.contents() == before)
      #expect(error?.entity == "A")
      #expect(error?.path == path)
      let place =
        [.createDestinationInstances, .createRelationships].contains(step)
        ? "\(step.rawValue) at A/p1" : step.rawValue
      switch how {
      case "cancel":
        #expect(error?.kind == .cancelled && error?.code == 134120)
        #expect(
          error?.message
            == "the policy of “AToA” cancelled the migration in \(step.rawValue): it broke")
      case "known":
        #expect(error?.kind == .failed && error?.code == 134170)
        #expect(error?.message == "the policy of “AToA” failed in \(place): too short (title)")
        #expect(error?.hint == "Lengthen it. The store is unchanged.")
      default:
        #expect(error?.kind == .failed && error?.code == 134170)
        #expect(error?.message == "the policy of “AToA” failed in \(place): it broke")
      }
    }
  }

  /// Makes objects without any source.
  final class Adding: EntityMigrationPolicy {
    override func endInstanceCreation(for mapping: EntityMapping, manager: MigrationManager) throws
    {
      for line in ["x", "y"] { try manager.insert("Log").set(.string(line), for: "line") }
    }
  }

  @Test("a mapping without a source, or without a destination, may have a policy too")
  func withoutEnds() throws {
    let folder = try TemporaryFolder()
    let (old, new) = (
      try Classics.model("1", "A\n  title String"), try Classics.model("2", "Log\n  line String")
    )
    let path = try Classics.store(old, in: folder) { writer in
      try writer.insert("A", attributes: ["title": .string("one")])
      try writer.insert("A", attributes: ["title": .string("two")])
    }
    var policies = PolicyBindings()
    policies["IEM_Add_Log"] = Adding.self
    policies["IEM_Remove_A"] = Keeping.self
    let plan = try Store(path: path).plan(to: new, names: ("1", "2"), policies: policies)
    #expect(plan.losses == [])
    _ = try StoreMigration.runAndRead(plan)
    let lines = try StoreDump.lines(at: path).compactMap { $0.split(separator: "=").last }
    #expect(lines.sorted() == ["one", "two", "x", "y"])
  }

  /// Keeps what goes in objects of another entity.
  final class Keeping: EntityMigrationPolicy {
    override func createDestinationInstances(
      for source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
      #expect(throws: CoreDataError.self) { try manager.makeInstance(of: source, in: mapping) }
      let log = try manager.insert("Log")
      try log.set(source.value("title"), for: "line")
      try manager.associate(source, with: log, for: mapping)
      let known = try manager.destinationInstances(
        forEntityMappingName: mapping.name, sourceInstances: [source])
      #expect(known.count == 1 && known.first === log)
    }
  }
}
