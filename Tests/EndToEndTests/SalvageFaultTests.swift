import Files

#if os(Linux)
  import TestSupport
  import Testing

  /// A new store is brought to the disk by a thread of its own, which nobody hears of unless it is asked.
  @Suite(
    "A system call that fails while a store is salvaged", .serialized,
    .enabled(
      if: !Built.strata.isEmpty && Built.faultShim != nil, "the program or the shim was not built"))
  struct SalvageFaultTests {
    @Test("leaves no store, or a whole one", arguments: [Fault.Action.inputOutputError, .full])
    func failing(action: Fault.Action) throws {
      let folder = try TemporaryFolder()
      let made = try ProgramRun(
        [Built.strata, "demo", folder.path("demo"), "--objects", "300", "--no-open"],
        environment: [:], output: folder.path("made"))
      try #require(made.status == 0, "\(made.text)")
      let store = folder.path("demo/Recipes.sqlite")
      let before = try FileSystem.sha256(store)
      func run(_ variables: [String: String]) throws -> ProgramRun {
        try FileSystem.makeDirectory(folder.path("out"))
        return try ProgramRun(
          [Built.strata, "salvage", store, "--output", folder.path("out/Saved.sqlite")],
          environment: variables, output: folder.path("output"))
      }
      let log = folder.path("log")
      try #require(try run(Fault.counting(folder: folder.path("out"), log: log)).status == 0)
      let whole = try StoreDump.lines(at: folder.path("out/Saved.sqlite"))
      let calls = try String(decoding: FileSystem.read(log), as: UTF8.self)
        .split(separator: "\n").map { $0.prefix { $0 != " " } }
      let syncs = calls.indices.filter { calls[$0].hasSuffix("sync") }
      try #require(!syncs.isEmpty && calls.count > 20, "\(calls)")
      var refused = 0
      let places = Set(stride(from: 0, to: calls.count, by: max(1, calls.count / 12))).union(syncs)
      for call in TestScale.some(6, of: places.sorted()) {
        FileSystem.removeTree(folder.path("out"))
        let done = try run(
          Fault(action, at: call + 1).environment(folder: folder.path("out")))
        let output = folder.path("out/Saved.sqlite")
        let left = try FileSystem.list(folder.path("out"))
        if done.status == 0 {
          #expect(try StoreDump.lines(at: output) == whole, "\(calls[call]) \(call)")
        } else {
          refused += 1
          #expect(!left.contains { $0.hasSuffix(".sqlite") }, "\(calls[call]) \(call): \(left)")
        }
        #expect(!left.contains { $0.contains(".strata-new-") }, "\(calls[call]) \(call): \(left)")
      }
      #expect(refused > 0)
      #expect(try FileSystem.sha256(store) == before)
    }
  }
#endif
