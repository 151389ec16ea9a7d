import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The program is killed at random moments. STRATA_KILLS=n makes it n of each way.
@Suite(
  "Killed at any moment", .serialized,
  .enabled(if: !Shell.strata.isEmpty, "the program was not built"))
struct KillTests {
  private static let kills =
    getenv("STRATA_KILLS").flatMap { Int(String(cString: $0)) } ?? 48

  /// How a store was found after a kill.
  private struct Tally {
    var phases: [String: Int] = [:]
    var old = 0
    var new = 0
    var cleaned = 0
  }

  @Test(
    "a store altered in place is the old or the new one, whole; the next run cleans up and succeeds"
  )
  func inPlace() throws {
    try run([
      KillScene(.inPlace), KillScene(.inPlace, hasLog: true), KillScene(.inPlace, objects: 6000),
    ])
  }

  @Test("so is one that is copied, by a recipe or in a chain of two steps too")
  func copying() throws {
    try run([
      KillScene(.copying), KillScene(.recipe), KillScene(.chain),
      KillScene(.copying, hasLog: true), KillScene(.chain, hasLog: true),
    ])
  }

  @Test("so is one that is repaired, at 60 moments")
  func repairing() throws {
    try run(
      [KillScene(.repair), KillScene(.repair, hasLog: true), KillScene(.repair, objects: 6000)],
      kills: max(60, Self.kills))
  }

  private func run(_ scenes: [KillScene], kills: Int = kills) throws {
    var generator = SeededGenerator(seed: 1_121)
    var tally = Tally()
    for number in 0..<kills {
      let scene = scenes[number % scenes.count]
      let place = try scene.fresh()
      let child = try scene.start(in: place)
      if number < 2 {
        // Before anything and after everything, however busy the machine is.
        if number == 1 { child.read { $0.has("\"receipt\"") } }
      } else if Bool.random(using: &generator) {
        let moment = Double.random(in: 0...(scene.duration * 1.1), using: &generator)
        child.read(seconds: moment)
      } else {
        // The last phase is short, and the one that matters: it is aimed at as often as the others.
        let kind = scene.kinds.randomElement(using: &generator) ?? ""
        scene.wait(for: kind, of: child, using: &generator)
        let wait = kind == "replace" ? 4000 : 12_000
        usleep(UInt32.random(in: 0...UInt32(wait), using: &generator))
      }
      child.signal(SIGKILL)
      child.wait()
      let phase =
        child.lines.contains { $0.receipt != nil }
        ? "done" : child.lines.last { $0.progress != nil }?.progress?.kind ?? "plan"
      tally.phases[phase, default: 0] += 1
      try check(place, of: scene, "kill \(number) of \(scene.kind.rawValue) in \(phase)", &tally)
    }
    print(
      "killed \(kills) times, \(tally.old) old, \(tally.new) new, "
        + "\(tally.cleaned) cleaned up after: \(tally.phases.sorted { $0.key < $1.key })")
    #expect(tally.phases.count >= 4, "\(tally.phases)")
    #expect(tally.old > 0 && tally.new > 0)
  }

  private func check(
    _ place: String, of scene: KillScene, _ name: String, _ tally: inout Tally
  ) throws {
    let path = place + "/Recipes.sqlite"
    let isNew = try isNew(path, of: scene, name)
    let left = try FileSystem.list(place).filter { $0.hasPrefix(".strata") }
    if let backup = try scene.backups(in: place).first {
      #expect(try StoreDump.lines(at: place + "/" + backup) == scene.before, "\(name)")
    }
    if isNew { tally.new += 1 } else { tally.old += 1 }

    let again = try scene.start(in: place)
    #expect(again.wait() == 0, "\(name): \(again.text)")
    let receipt = again.lines.last?.receipt
    #expect((receipt == nil) == isNew, "\(name)")
    if !isNew {
      let isTold = receipt?.notes.contains { $0.contains("interrupted") } ?? false
      // A journal alone, of a run that had made nothing yet, is taken over without a word.
      let isNothing = left.allSatisfy { $0.hasPrefix(".strata-journal-") }
      let words: Comment = "\(name): \(left) \(receipt?.notes ?? [])"
      #expect(isTold ? !left.isEmpty : isNothing, words)
      if isTold { tally.cleaned += 1 }
    }
    #expect(try StoreDump.lines(at: path) == scene.after, "\(name)")
    #expect(try StoreDump.lines(at: place + "/" + scene.backup) == scene.before, "\(name)")
    #expect(
      try FileSystem.list(place) == [".Recipes_SUPPORT", "Recipes.sqlite", scene.backup].sorted(),
      "\(name)")
  }

  /// Whether the new store is there; an issue where it is neither the old nor the new one.
  private func isNew(_ path: String, of scene: KillScene, _ name: String) throws -> Bool {
    let store = try Store(path: path)
    #expect(store.modelMatches, "\(name)")
    #expect(
      try store.connection.rows("PRAGMA integrity_check").map { $0.first?.text } == ["ok"],
      "\(name)")
    let lines = try StoreDump.lines(store)
    #expect(lines == scene.before || lines == scene.after, "\(name)")
    return lines != scene.before
  }

  @Test(
    "asked to end (SIGINT, SIGTERM) at any moment: 130, nothing changed, nothing left",
    arguments: [SIGINT, SIGTERM])
  func asked(signal: Int32) throws {
    var generator = SeededGenerator(seed: UInt64(signal))
    var cancelled: [String: Int] = [:]
    for scene in try [
      KillScene(.inPlace), KillScene(.copying), KillScene(.chain), KillScene(.repair),
    ] {
      let before = try Self.bytes(in: scene.base)
      // It may be over before the signal arrives: another try then.
      var here: [String: Int] = [:]
      for kind in (0..<8).flatMap({ _ in scene.kinds }) where here[kind, default: 0] < 2 {
        let place = try scene.fresh()
        let child = try scene.start(in: place)
        scene.wait(for: kind, of: child, using: &generator)
        usleep(UInt32.random(in: 0...2000, using: &generator))
        child.signal(signal)
        let status = child.wait()
        if status == 0 {
          // Too late: the new store is in place.
          #expect(child.lines.last?.receipt != nil)
          continue
        }
        #expect(status == 130, "\(kind): \(child.text)")
        #expect(child.lines.last?.error?.code == 134120, "\(child.text.suffix(300))")
        #expect(try Self.bytes(in: place) == before, "\(kind)")
        cancelled[kind, default: 0] += 1
        here[kind, default: 0] += 1
      }
    }
    #expect(cancelled.count >= 4, "\(cancelled)")
  }

  @Test("asked to end when all is done: 0, as if nobody had asked", arguments: [SIGINT, SIGTERM])
  func late(signal: Int32) throws {
    let scene = try KillScene(.inPlace)
    for number in 0..<20 {
      let child = try scene.start(in: try scene.fresh())
      child.read { $0.has("\"receipt\"") }
      // Until after its end, whenever that is.
      for _ in 0..<200 {
        child.signal(signal)
        usleep(50)
      }
      #expect(child.wait() == 0, "\(number)")
    }
  }

  static func bytes(in folder: String) throws -> [String: [UInt8]] {
    var result: [String: [UInt8]] = [:]
    for name in try FileSystem.list(folder) where FileSystem.isFile(folder + "/" + name) {
      result[name] = try FileSystem.read(folder + "/" + name)
    }
    return result
  }
}
