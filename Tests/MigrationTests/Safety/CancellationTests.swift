import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Migration

@Suite("Cancelling")
struct CancellationTests {
  @Test(
    "in each phase of each way: 134120, and nothing has changed",
    arguments: TestScale.some(3, of: SafetyCase.allCases))
  func everyPhase(way: SafetyCase) throws {
    let phases = try Phase.all(of: way, in: SafetyPlace())
    #expect(Set(phases.map(\.kind)).count >= 5, "\(phases)")
    let place = try SafetyPlace()
    let plan = try way.plan(place.path)
    for phase in phases {
      var isReached = false
      let error = failure(of: plan, isCancelled: { isReached }) {
        if Phase($0) == phase { isReached = true }
      }
      #expect(isReached, "\(phase)")
      #expect(
        error?.kind == .cancelled && error?.code == 134120, "\(phase): \(String(describing: error))"
      )
      #expect(try place.changes() == [], "\(phase)")
    }
    #expect(failure(of: plan) == nil)
  }

  @Test("while it is planned, at any moment: 134120", arguments: SafetyCase.allCases)
  func planning(way: SafetyCase) throws {
    let place = try SafetyPlace()
    var asked = 0
    _ = try way.plan(
      place.path,
      isCancelled: {
        asked += 1
        return false
      })
    #expect(asked > 0)
    for last in Set([0, asked / 2, asked - 1]) {
      // What helper threads have done in time is not asked about: a run may ask less often than another.
      var last = last
      var error: CoreDataError?
      while error == nil, last >= 0 {
        var count = 0
        do {
          _ = try way.plan(
            place.path,
            isCancelled: {
              count += 1
              return count > last
            })
        } catch let failure as CoreDataError {
          error = failure
        }
        last = count - 1
      }
      #expect(error?.kind == .cancelled && error?.code == 134120, "\(last) of \(asked)")
      #expect(try place.changes() == [], "\(last) of \(asked)")
    }
  }

  @Test(
    "into another file, in each phase: no file, no external data",
    arguments: TestScale.some(3, of: SafetyCase.allCases))
  func output(way: SafetyCase) throws {
    let place = try SafetyPlace()
    var options = MigrationOptions()
    options.output = place.folder.path("Out.sqlite")
    let plan = try way.plan(place.path, output: options.output)
    let phases = try Phase.all(of: way, in: SafetyPlace())
    for phase in phases {
      var isReached = false
      let error = failure(of: plan, options: options, isCancelled: { isReached }) {
        if Phase($0) == phase { isReached = true }
      }
      #expect(error?.code == 134120, "\(phase): \(String(describing: error))")
      #expect(try place.changes() == [], "\(phase)")
    }
    #expect(failure(of: plan, options: options) == nil)
    #expect(try place.changes().allSatisfy { $0.hasPrefix("Out") || $0.hasPrefix(".Out_SUPPORT/") })
  }
}
