import Files
import ManagedModel
import ManagedStore
import TestSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// How soon the interface answers, with a migration at work, and whether the engine minds it.
enum InterfaceBenchmark {
  private static let keys = 200

  /// - Parameters:
  ///   - strata: the release binary.
  ///   - objects: of the demo store.
  static func run(strata: String, objects: Int) throws {
    let folder = try TemporaryFolder()
    let demo = Measured.run(
      strata, ["demo", folder.path("demo"), "--objects", "\(objects)", "--no-open"])
    guard demo.status == 0 else { throw CoreDataError(.failed, "strata demo failed") }
    let bench = Bench(strata: strata, folder: folder)
    say("\(objects) objects, \(megabytes(FileSystem.status(bench.path)?.size ?? 0))")
    try bench.firstPaint()
    try bench.idle()
    try bench.latency(keys: keys, isMigrating: false)
    try bench.bytes()
    try bench.latency(keys: keys, isMigrating: true)
    try bench.slowTerminal()
  }

  struct Bench {
    let strata: String
    let folder: TemporaryFolder
    var path: String { folder.path("demo/Recipes.sqlite") }

    func open(
      term: String = "xterm-256color", answers: Bool = true, isFresh: Bool = true
    ) throws
      -> PseudoTerminal
    {
      guard
        let terminal = PseudoTerminal(
          [strata, path] + (isFresh ? ["--fresh"] : []), width: 120, height: 36,
          environment: [
            "XDG_STATE_HOME": folder.path("state"), "XDG_CONFIG_HOME": folder.path("config"),
            "TERM": term,
          ], answers: answers)
      else { throw CoreDataError(.failed, "no terminal") }
      return terminal
    }

    /// Seconds, or an error that shows the screen.
    @discardableResult
    func wait(_ terminal: PseudoTerminal, for texts: String...) throws -> Double {
      guard
        let seconds = terminal.wait(until: { screen in
          let text = screen.text
          return texts.allSatisfy(text.contains)
        })
      else {
        throw CoreDataError(
          .failed, "“\(texts.joined(separator: ", "))” did not come:\n\(terminal.screen.text)")
      }
      return seconds
    }

    func idle() throws {
      let terminal = try open()
      try wait(terminal, for: "Entities", "Amount")
      let settled = Fuzzing.now()
      while Fuzzing.now() - settled < 3 { terminal.read(seconds: 0.1) }
      guard let before = terminal.processorSeconds else { return }
      let start = Fuzzing.now()
      while Fuzzing.now() - start < 10 { terminal.read(seconds: 0.5) }
      let used = (terminal.processorSeconds ?? before) - before
      say("idle for 10 s: \((used * 1000).rounded()) ms of processor, \(used * 10) %")
      terminal.quit()
    }

    /// The row with the mark of the selected one among the rows.
    private func mark(_ screen: DrawnScreen) -> Int? {
      screen.rows.indices.dropFirst(2).first {
        screen.rows[$0].dropFirst(20).contains("▌") && screen.rows[$0].first == "│"
      }
    }

    func latency(keys: Int, isMigrating: Bool) throws {
      let terminal = try open()
      try wait(terminal, for: "Entities", "Amount")
      while terminal.read(seconds: 0.5) > 0 {}
      if isMigrating { try startMigration(terminal, isFirst: true) }
      var (outputs, effects, isDown) = ([Double](), [Double](), true)
      var sent: [Int] = []
      while outputs.count < keys {
        if isMigrating, !isAtWork(terminal) { try startMigration(terminal, isFirst: false) }
        // A frame comes in parts.
        _ = terminal.wait(atMost: 2, until: { mark($0) != nil })
        guard let row = mark(terminal.screen) else {
          throw CoreDataError(.failed, "no row is selected:\n\(terminal.screen.text)")
        }
        let before = terminal.received
        let start = Fuzzing.now()
        terminal.send(isDown ? "j" : "k")
        while terminal.read(seconds: 0.001) == 0, Fuzzing.now() - start < 5 {}
        let output = Fuzzing.now() - start
        guard terminal.wait(atMost: 5, until: { mark($0) != row }) != nil else {
          throw CoreDataError(.failed, "a key had no effect:\n\(terminal.screen.text)")
        }
        if !isMigrating || isAtWork(terminal) {
          outputs.append(output)
          effects.append(Fuzzing.now() - start)
        }
        isDown.toggle()
        let isCounted = !isMigrating || isAtWork(terminal)
        // A person does not type in step with the frames.
        let pause = Double.random(in: 0.002...0.02)
        let pressed = Fuzzing.now()
        while Fuzzing.now() - pressed < pause { terminal.read(seconds: 0.001) }
        // With what came until the next key: while it migrates, progress too.
        if isCounted { sent.append(terminal.received - before) }
      }
      // A run that is killed would have to be recovered by whoever opens the store next.
      if isMigrating {
        try discardMigration(terminal)
        try wait(terminal, for: "asks, then migrates")
      }
      terminal.quit()
      let when = isMigrating ? "while it migrates" : "at rest"
      tell("key to first output, \(when)", outputs)
      tell("key to its effect on the screen, \(when)", effects)
      tell(bytes: "j or k, \(when)", sent)
    }

    private func isAtWork(_ terminal: PseudoTerminal) -> Bool {
      let header = terminal.screen.row(0)
      return header.contains("▶ ") && !header.contains("waits")
    }

    /// A migration that is thrown away in the end, so that it can be run as often as needed.
    private func startMigration(_ terminal: PseudoTerminal, isFirst: Bool) throws {
      if isFirst { terminal.send("4") } else { try discardMigration(terminal) }
      try wait(terminal, for: "asks, then migrates")
      if isFirst { terminal.send("p") }
      terminal.send("\r")
      try wait(terminal, for: "On disk")
      terminal.send("y")
      try wait(terminal, for: "▶ ")
      terminal.send("1")
      try wait(terminal, for: "▸1 Browse", "│▌")
    }

    private func discardMigration(_ terminal: PseudoTerminal) throws {
      try wait(terminal, for: "▶ waits")
      terminal.send("4")
      try wait(terminal, for: "discard the result")
      // Escape is told from the start of a sequence by what follows it.
      terminal.send("\u{1B}")
      try wait(terminal, for: "Discard the result?")
      terminal.send("y")
    }

    /// From y to the backup's name, which the cut-over makes.
    func slowTerminal() throws {
      var times: [String: [Double]] = [:]
      for _ in 0..<3 {
        for isSlow in [false, true] {
          let terminal = try open()
          try wait(terminal, for: "Entities", "Amount")
          terminal.send("4")
          try wait(terminal, for: "asks, then migrates")
          let backup = folder.path("demo/Recipes.backup-1")
          terminal.send("\r")
          try wait(terminal, for: "On disk")
          let start = Fuzzing.now()
          terminal.send("y")
          while FileSystem.status(backup) == nil, Fuzzing.now() - start < 120 {
            // Twenty bytes each hundredth of a second are 2 kB/s.
            if isSlow { _ = terminal.read(seconds: 0, limit: 20) }
            if isSlow { usleep(10_000) } else { terminal.read(seconds: 0.01) }
          }
          times[isSlow ? "2 kB/s" : "fast", default: []].append(Fuzzing.now() - start)
          while FileSystem.status(folder.path("demo/.strata-journal-Recipes.sqlite")) != nil {
            terminal.read(seconds: 0.01)
          }
          try wait(terminal, for: "receipt")
          terminal.quit()
          guard Measured.run(strata, ["rollback", path, "--no-backup"]).status == 0 else {
            throw CoreDataError(.failed, "the rollback failed")
          }
        }
      }
      for (name, seconds) in times.sorted(by: { $0.key < $1.key }) {
        tell("migration, terminal \(name)", seconds)
      }
      let none = Measured.run(
        strata,
        [
          "migrate", path, "--to", folder.path("demo/Recipes.xcdatamodeld") + "@Recipes 2",
          "--output", folder.path("out"),
        ])
      say("the same without one, into another file: \(milliseconds(none.seconds))")
    }

  }
}
