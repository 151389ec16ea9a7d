import Files
import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Migration

/// One verdict on empty mandatory relationships, whichever way a migration is carried out.
@Suite("Mandatory relationships that end up empty")
struct EmptyRelationshipTests {
  private static let chapters =
    #"<relationship name="chapters" optional="YES" toMany="YES" ordered="YES" destinationEntity="Book" inverseName="book"/>"#
    .replacing(#"destinationEntity="Book""#, with: #"destinationEntity="Chapter""#)

  private static func mandatory(_ minimum: String) throws -> Model {
    try Library.model(replacing: [
      (chapters, chapters.replacing(#"optional="YES" "#, with: minimum))
    ])
  }

  @Test("a mandatory to-many without a minimum is told and never refused", arguments: Way.allCases)
  func told(_ way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    let before = try StoreDump.lines(at: path)
    let plan = try way.plan(Store(path: path), to: Self.mandatory(""))
    #expect(plan.failures == [])
    if way != .policies {
      #expect(
        Set(plan.checks.map { "\($0.code) \($0.entity).\($0.property ?? "") \($0.rows)" }) == [
          "1570 Book.chapters 2", "1570 Manual.chapters 1", "1570 Novel.chapters 1",
        ])
      #expect(plan.failures.isEmpty)
    }
    _ = try StoreMigration.runAndRead(plan)
    #expect(try StoreDump.lines(at: path) == before)
  }

  @Test("one that must have some is refused with the rows, before the run", arguments: Way.allCases)
  func refused(_ way: Way) throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    let bytes = try FileSystem.read(path)
    let plan = try way.plan(Store(path: path), to: Self.mandatory(#"minCount="1" "#))
    // With a mapping model it is NSMigrationManager that validates.
    let code: CoreDataError.Code =
      way.isMapped ? .validationRelationshipLacksMinimumCount : .migration
    if way != .policies {
      #expect(
        Set(plan.failures.map { "\($0.code) \($0.entity).\($0.property ?? "") \($0.rows)" }) == [
          "\(code) Book.chapters 2", "\(code) Manual.chapters 1", "\(code) Novel.chapters 1",
        ])
    }
    // A policy could have set them: that is found after the run, with the same code.
    let error = #expect(throws: CoreDataError.self) { _ = try StoreMigration.runAndRead(plan) }
    #expect(error?.code == code && error?.kind == .refused && error?.property == "chapters")
    #expect(try FileSystem.read(path) == bytes)
  }
}
