#if os(Linux)
  import ManagedStore

  /// Disturbs a scene's command at one call, and finds out what became of the store.
  public struct Strain {
    /// How a store was found.
    public struct Tally: Sendable {
      public var runs = 0
      public var old = 0
      public var new = 0
      /// Neither until the next start made it so.
      public var between = 0
      public var recovered = 0

      public init() {}

      public static func += (one: inout Tally, other: Tally) {
        one.runs += other.runs
        one.old += other.old
        one.new += other.new
        one.between += other.between
        one.recovered += other.recovered
      }
    }

    /// What must not be.
    public struct Finding: Sendable, CustomStringConvertible {
      public var what: String
      /// The fault, and how the command ended.
      public var at: String
      /// The last it said.
      public var said: String?

      public var description: String { what + ": " + at + (said.map { "; it said: " + $0 } ?? "") }
    }

    public let scene: StrainScene
    public private(set) var tally = Tally()
    public private(set) var findings: [Finding] = []

    public init(_ scene: StrainScene) { self.scene = scene }

    /// Every fault that can be tried on the scene.
    public var faults: [Fault] {
      Fault.Action.allCases.flatMap { action in
        scene.calls.indices.filter { action != .tear || scene.calls[$0].hasPrefix("write ") }
          .map { Fault(action, at: $0 + 1) }
      }
    }

    /// - Returns: what was found, none where all is well.
    @discardableResult
    public mutating func run(_ fault: Fault) throws -> [Finding] {
      try scene.reset()
      let run = try scene.start(fault.environment(folder: scene.folder))
      tally.runs += 1
      var found: [String] = []
      if !fault.endsProgram, run.status >= 128 { found.append("it ended with \(run.status)") }
      let state = try FolderState(of: scene.place)
      found += state.exposed.map { "\($0) can be read by others" }
      let age = judge(state, run, fault, &found)
      try continueAfter(age, run, fault, &found)
      let call = scene.calls.indices.contains(fault.call - 1) ? scene.calls[fault.call - 1] : "?"
      let findings = found.map {
        Finding(
          what: $0, at: "\(fault) (\(call)), status \(run.status)",
          said: fault.endsProgram ? nil : Self.end(of: run.text))
      }
      self.findings += findings
      return findings
    }

    private static func end(of text: String) -> String {
      String(text.split(separator: "\n").last?.prefix(400) ?? "nothing")
    }

    private enum Age: Equatable { case old, new, neither }

    private func age(_ state: FolderState) -> Age {
      let name = scene.target
      // Of a store that is nowhere the backup tells.
      if state.stores[name] == scene.after.stores[name] { return .new }
      return state.stores[name] == scene.before.stores[name] ? .old : .neither
    }

    /// What the disturbed run left and said.
    private mutating func judge(
      _ state: FolderState, _ run: ProgramRun, _ fault: Fault, _ found: inout [String]
    ) -> Age {
      let age = age(state)
      switch age {
      case .old: tally.old += 1
      case .new: tally.new += 1
      case .neither: tally.between += 1
      }
      if age == .neither {
        let there = state.stores[scene.target]?.first.map { String($0.prefix(200)) }
        found.append("neither old nor new: \(there ?? "no store at its path")")
      }
      guard !fault.endsProgram else { return age }
      if run.status == 0 {
        if age != .new { found.append("status 0, and it is not new") }
        found += untold(state.differences(from: scene.after), in: run.text)
      } else {
        // What could not be removed is no success.
        let isLeft = run.status == 4 && run.text.contains("could not be ")
        if age == .new, !isLeft, !run.text.contains("in place") {
          found.append("status \(run.status), and it is new")
        }
        if age == .old {
          found += untold(state.differences(from: scene.before, ignoringLogs: true), in: run.text)
        }
      }
      return age
    }

    /// Differences of which neither the file nor a folder that it is in was named.
    private func untold(_ differences: [String], in text: String) -> [String] {
      differences.filter { difference in
        let path = difference.prefix { $0 != " " }
        // What is to be done by the next run is written there.
        if path.hasPrefix(".strata-journal-"), text.contains("next run") { return false }
        return !path.split(separator: "/").contains { text.contains($0) }
      }
    }

    /// The next start, and the same command again where it did not come to its end.
    private mutating func continueAfter(
      _ age: Age, _ run: ProgramRun, _ fault: Fault, _ found: inout [String]
    ) throws {
      let info = try scene.next()
      var state = try FolderState(of: scene.place)
      var now = self.age(state)
      if age == .neither, now != .neither { tally.recovered += 1 }
      if now == .neither {
        // A look changes nothing: what it finds is told, and mended by the next command that writes.
        if !info.text.contains("interrupted") {
          found.append("neither old nor new, and info does not tell: \(Self.end(of: info.text))")
        }
      } else if info.status != (now == .old ? scene.statuses.before : scene.statuses.after) {
        found.append("then info ends with \(info.status): \(Self.end(of: info.text))")
      }
      var told = run.text + info.text
      let isRepeatable = [.inPlace, .copying, .recipe, .chain, .repair].contains(scene.work)
      if now != .new || isRepeatable {
        let again = try scene.start()
        told += again.text
        if again.status != 0 {
          found.append("again, it ends with \(again.status): \(Self.end(of: again.text))")
        }
        state = try FolderState(of: scene.place)
        now = self.age(state)
      } else if state != scene.after {
        let settled = try scene.settle()
        told += settled.text
        if settled.status != 0 {
          found.append("settled, it ends with \(settled.status): \(Self.end(of: settled.text))")
        }
        state = try FolderState(of: scene.place)
      }
      found += untold(state.differences(from: scene.after), in: told).map { "in the end " + $0 }
      found += state.names.filter { $0.contains(".strata-") }.map { "in the end \($0) is there" }
      found += try scene.remains().map { "in the end \($0) is there" }
    }
  }
#endif
