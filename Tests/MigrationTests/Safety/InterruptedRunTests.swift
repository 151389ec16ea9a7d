import Files
import ManagedModel
import ManagedStore
import TestSupport
import Testing

@testable import Migration

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite("A cut-over that is interrupted")
struct InterruptedRunTests {
  @Test(
    "that fails at any step leaves everything as it was, and the next run succeeds",
    arguments: TestScale.pairs(InterruptedRun.allCases, [false, true]))
  func failing(run: InterruptedRun, withLog: Bool) throws {
    let folder = try run.prepare(withLog: withLog)
    let before = try InterruptedRun.state(of: folder.path)
    for step in run.steps where step != .done {
      let error = #expect(throws: CoreDataError.self) {
        try run.run(in: folder.path) {
          if $0 == step { throw CoreDataError(.failed, "stopped") }
        }
      }
      #expect(error?.message == "stopped", "\(step)")
      #expect(try InterruptedRun.state(of: folder.path) == before, "\(step)")
    }
    try run.run(in: folder.path) { _ in }
    #expect(try InterruptedRun.state(of: folder.path) != before)
  }

  @Test(
    "by a kill at any step is told without a trace, and the next start makes it old or new, whole",
    arguments: InterruptedRun.allCases)
  func killed(run: InterruptedRun) async throws {
    for (withLog, steps) in run.kills() {
      let whole = try run.prepare(withLog: withLog)
      try run.run(in: whole.path) { _ in }
      let after = try InterruptedRun.state(of: whole.path)
      for step in steps {
        let folder = try run.prepare(withLog: withLog)
        let before = try InterruptedRun.state(of: folder.path)
        let (path, number) = (folder.path, run.steps.firstIndex(of: step) ?? 0)
        await #expect(processExitsWith: .signal(SIGKILL)) {
          [run = run as InterruptedRun, path = path as String, number = number as Int] in
          try run.run(in: path) { if $0 == run.steps[number] { kill(getpid(), SIGKILL) } }
        }
        let store = folder.path("Library.sqlite")
        let left = try FileSystem.list(folder.path)
        let told = StoreMigration.leftovers(of: store)
        #expect(told.count == 1 && told[0].contains("interrupted"), "\(step): \(told)")
        #expect(try FileSystem.list(folder.path) == left, "\(step): looking left a trace")
        let done = StoreMigration.cleanUp(after: store)
        #expect(done.count == 1 && done[0].contains("interrupted"), "\(step): \(done)")
        #expect(StoreMigration.leftovers(of: store) == [])
        let state = try InterruptedRun.state(of: folder.path)
        let isDone = step == .done
        if isDone {
          // A rollback's backup goes last: one that is still there is still a backup.
          #expect(after.allSatisfy { state[$0] == $1 }, "\(run) \(withLog) \(step)")
          #expect(
            run.isRollback || state.count == after.count, "\(run) \(withLog): \(state.keys)")
          for name in state.keys where after[name] == nil {
            #expect(name.split(separator: "/").contains { done[0].contains($0) }, "\(name)")
          }
        } else {
          #expect(state == before, "\(run) \(withLog) \(step)")
        }
        if !isDone {
          try run.run(in: folder.path) { _ in }
          #expect(try InterruptedRun.state(of: folder.path) == after, "\(run) \(withLog) \(step)")
        }
      }
    }
  }
}
