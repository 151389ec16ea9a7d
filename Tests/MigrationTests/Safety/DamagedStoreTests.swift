import Files
import ManagedModel
import ManagedStore
import SQLite
import Synchronization
import TestSupport
import Testing

@testable import Migration

@Suite("A damaged store")
struct DamagedStoreTests {
  @Test(
    "ends in an error or in a result that was verified, soon, and is not touched",
    arguments: SafetyCase.allCases)
  func damaged(way: SafetyCase) throws {
    let made = try SafetyPlace(books: 60)
    let whole = try #require(made.before["Library.sqlite"])
    var generator = SeededGenerator(seed: 20_261_121 &+ UInt64(way.rawValue.utf8.count))
    let count = TestScale.count(10, ofAll: 100)
    let usual = try Self.questions(of: way, on: made)
    var (failed, passed) = (0, 0)
    for number in 0..<count {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...12, using: &generator) {
        // Small changes, or a stretch of noise; mostly behind the first page, which all need.
        let low = Int.random(in: 0..<8, using: &generator) == 0 ? 16 : 4096
        let start = Int.random(in: low..<bytes.count, using: &generator)
        let length = [1, 1, 2, 8, 300].randomElement(using: &generator) ?? 1
        for index in start..<min(start + length, bytes.count) {
          bytes[index] = UInt8.random(in: 0...255, using: &generator)
        }
      }
      try FileSystem.write(bytes, to: made.path)
      let output = made.folder.path("Out.sqlite")
      var options = MigrationOptions()
      options.output = output
      let asked = Atomic(0)
      do {
        var plan = try way.plan(made.path, output: output)
        // Only whether it ends well is asked, not whether a person would accept the losses.
        options.allowedLosses = Set(plan.losses.map(\.name))
        plan.checks = []
        let receipt = try StoreMigration.runAndRead(
          plan, options: options,
          isCancelled: { asked.add(1, ordering: .relaxed).newValue > 100 * usual })
        passed += 1
        #expect(!receipt.verified.isEmpty)
        #expect(try Store(path: output).modelMatches)
      } catch let error as CoreDataError {
        failed += 1
        #expect(error.kind != .cancelled, "damage \(number) took too long")
        #expect(FileSystem.status(output) == nil)
      } catch {
        Issue.record("damage \(number): not an error for people: \(error)")
      }
      FileSystem.remove(output)
      FileSystem.removeTree(made.folder.path(".Out_SUPPORT"))
      #expect(try FileSystem.read(made.path) == bytes, "damage \(number)")
      #expect(try made.changes().allSatisfy { $0 == "Library.sqlite" }, "damage \(number)")
    }
    #expect(failed > count / 10, "\(failed) failed, \(passed) passed")
    if TestScale.isFull { #expect(passed > 0) }
  }

  /// How often a migration of the whole store asks whether to go on: the measure of its steps.
  private static func questions(of way: SafetyCase, on made: SafetyPlace) throws -> Int {
    let asked = Atomic(0)
    var options = MigrationOptions()
    options.output = made.folder.path("Out.sqlite")
    _ = try StoreMigration.run(
      way.plan(made.path, output: options.output), options: options,
      isCancelled: {
        asked.add(1, ordering: .relaxed)
        return false
      })
    FileSystem.remove(made.folder.path("Out.sqlite"))
    FileSystem.removeTree(made.folder.path(".Out_SUPPORT"))
    let count = asked.load(ordering: .relaxed)
    #expect(count > 0)
    return max(1, count)
  }
}
