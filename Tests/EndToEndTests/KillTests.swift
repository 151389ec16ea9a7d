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

/// The program is killed at random moments: six of each kind of run, 48 and more with STRATA_TESTS=all,
/// and n with STRATA_KILLS=n.
@Suite(
  "Killed at any moment",
  .enabled(if: !Shell.strata.isEmpty, "the program was not built"))
struct KillTests {
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
    try run([.init(.inPlace), .init(.inPlace, hasLog: true), .init(.inPlace, objects: 6000)])
  }

  @Test("so is one that is copied, by a recipe or in a chain of two steps too")
  func copying() throws {
    try run([
      .init(.copying), .init(.recipe), .init(.copying, hasLog: true), .init(.chain),
      .init(.chain, hasLog: true),
    ])
  }

  @Test("so is one that is repaired")
  func repairing() throws {
    try run([.init(.repair), .init(.repair, hasLog: true), .init(.repair, objects: 6000)], all: 60)
  }

  /// What a scene is made of.
  private struct Setting {
    let kind: KillScene.Kind
    let hasLog: Bool
    let objects: Int

    init(
      _ kind: KillScene.Kind, hasLog: Bool = false, objects: Int = TestScale.count(500, ofAll: 1500)
    ) {
      (self.kind, self.hasLog, self.objects) = (kind, hasLog, objects)
    }

    func scene() throws -> KillScene { try KillScene(kind, hasLog: hasLog, objects: objects) }
  }

  /// - Parameter all: how many times the program is killed where everything is tried.
  private func run(_ settings: [Setting], all: Int = 48) throws {
    let scenes = try TestScale.some((settings.count + 1) / 2, of: settings).map { try $0.scene() }
    let kills = TestScale.count(6, ofAll: all, variable: "STRATA_KILLS")
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
    #expect(tally.phases.count >= min(4, kills / 3), "\(tally.phases)")
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
    let times = TestScale.count(1, ofAll: 2)
    var cancelled: [String: Int] = [:]
    let settings: [Setting] = [.init(.inPlace), .init(.repair), .init(.copying), .init(.chain)]
    // In a sample one for each signal.
    for setting in TestScale.isFull ? settings : [settings[signal == SIGINT ? 1 : 3]] {
      let scene = try setting.scene()
      let before = try Self.bytes(in: scene.base)
      // It may be over before the signal arrives: another try then.
      var here: [String: Int] = [:]
      for kind in (0..<8).flatMap({ _ in scene.kinds }) where here[kind, default: 0] < times {
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
    #expect(cancelled.count >= (TestScale.isFull ? 4 : 2), "\(cancelled)")
  }

  @Test("asked to end when all is done: 0, as if nobody had asked", arguments: [SIGINT, SIGTERM])
  func late(signal: Int32) throws {
    let scene = try KillScene(.inPlace)
    for number in 0..<TestScale.count(2, ofAll: 20) {
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
