import Files
import ManagedModel
import TestSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// How soon there is something to read, and how much is sent to the terminal for it.
extension InterfaceBenchmark.Bench {
  private static let times = 15

  /// The whole first screen: the rows with their names, and the keys in its last line.
  ///
  /// In turn with tig, which is a terminal program that shows a list, too.
  func firstPaint() throws {
    let repository = try smallRepository()
    var (own, tigs): ([Double], [Double]) = ([], [])
    for _ in 0..<Self.times {
      own.append(try paint { try open() })
      if let repository { tigs.append(try paintTig(in: repository)) }
    }
    tell("first screen after the start", own)
    if tigs.isEmpty {
      say("tig or git is not installed: the first screen is compared with nothing")
    } else {
      tell("first screen of tig, on 50 commits", tigs)
      say("the first screen beside that of tig: \(ratio(median(own), median(tigs)))")
    }
    for term in ["xterm-256color", "screen-256color", "vt100"] {
      var silent: [Double] = []
      for _ in 0..<Self.times { silent.append(try paint { try open(term: term, answers: false) }) }
      tell("first screen, \(term) that answers nothing", silent)
    }
    var restored: [Double] = []
    for _ in 0..<Self.times { restored.append(try paint { try open(isFresh: false) }) }
    tell("first screen, as it was left the last time", restored)
  }

  private func paint(_ open: () throws -> PseudoTerminal) throws -> Double {
    let start = Fuzzing.now()
    let terminal = try open()
    try wait(terminal, for: "Entities", "Amount/p1 ", "→ butter", "palette")
    defer { terminal.quit() }
    return Fuzzing.now() - start
  }

  private func paintTig(in repository: String) throws -> Double {
    let start = Fuzzing.now()
    guard
      let terminal = PseudoTerminal(
        ["/usr/bin/tig", "-C", repository], width: 120, height: 36,
        environment: ["HOME": folder.path("home")])
    else { throw CoreDataError(.failed, "no terminal") }
    // The row before the status line, and that.
    try wait(terminal, for: "commit number 17.", "[main]")
    defer { terminal.quit() }
    return Fuzzing.now() - start
  }

  /// A repository with 50 commits; `nil` where there is no git or no tig.
  private func smallRepository() throws -> String? {
    guard FileSystem.status("/usr/bin/tig") != nil else { return nil }
    let path = folder.path("repository")
    try FileSystem.makeDirectory(path)
    let name = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
    var words = [["init", "-q", "-b", "main"]]
    for number in 1...50 {
      words.append(
        name + ["commit", "-q", "--allow-empty", "-m", "commit number \(number)."])
    }
    for words in words {
      guard Measured.run("git", ["-C", path] + words).status == 0 else { return nil }
    }
    return path
  }

  /// What keys cost a line that is slow.
  func bytes() throws {
    let terminal = try open()
    try wait(terminal, for: "Entities", "Amount")
    settle(terminal)
    say("bytes of the first screen: \(terminal.received)")
    let pages = ["\u{1B}[6~", "\u{1B}[5~"].flatMap { Array(repeating: $0, count: 10) }
    for (name, keys) in [
      ("PageDown or PageUp", pages), ("another screen", ["2", "3", "1", "5", "1"]),
    ] {
      var sent: [Int] = []
      for key in keys {
        let before = terminal.received
        terminal.send(key)
        settle(terminal)
        sent.append(terminal.received - before)
      }
      tell(bytes: name, sent)
    }
    terminal.quit()
  }

  /// Reads until nothing came for a while.
  private func settle(_ terminal: PseudoTerminal) {
    while terminal.read(seconds: 0.4) > 0 {}
  }

  func tell(_ what: String, _ seconds: [Double]) {
    say("\(what): \(spread(seconds, milliseconds)) (\(seconds.count) times)")
  }

  func tell(bytes what: String, _ counts: [Int]) {
    say("bytes to the terminal, \(what): \(spread(counts) { "\($0)" }) (\(counts.count) times)")
  }

  private func spread<Number: Comparable>(
    _ numbers: [Number], _ text: (Number) -> String
  ) -> String {
    let sorted = numbers.sorted()
    func at(_ share: Double) -> String {
      text(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))])
    }
    return "p50 \(at(0.5)), p95 \(at(0.95)), max \(at(1))"
  }
}

/// A line that is seen even where what comes next fails.
func say(_ line: String) {
  print(line)
  fflush(nil)
}
