import Files

#if os(Linux)
  import ManagedStore
  import TestSupport
  import Testing

  /// Seven faults of each scene; `Benchmarks strain` tries every call.
  @Suite(
    "A system call that fails, or kills the program",
    .enabled(
      if: !Built.strata.isEmpty && Built.faultShim != nil, "the program or the shim was not built"))
  struct SystemCallTests {
    /// Each command once, with and without a -wal and external data in turn.
    private static let scenes: [(StrainScene.Work, hasLog: Bool, hasExternal: Bool)] = [
      (.inPlace, true, true), (.copying, false, true), (.recipe, true, false),
      (.chain, true, true), (.output, true, true), (.rollback, true, true), (.reset, true, true),
      (.reset, false, false), (.resetRollback, true, true), (.repair, true, true),
      (.repair, false, false), (.resetDeleting, true, true), (.resetDeleting, false, false),
    ]

    @Test(
      "leaves the old store or the new one, whole, nothing untold, and the next run succeeds",
      .enabled(if: TestScale.isFull, "\(TestScale.condition)"),
      arguments: scenes.indices)
    func sample(index: Int) throws {
      let (work, hasLog, hasExternal) = Self.scenes[index]
      var strain = Strain(try StrainScene(work, hasLog: hasLog, hasExternal: hasExternal))
      let faults = strain.faults
      try #require(faults.count > 100, "\(strain.scene.calls)")
      var generator = SeededGenerator(seed: UInt64(1_122 + index))
      let first = Int.random(in: 0..<faults.count, using: &generator)
      let count = 7
      for number in 0..<count {
        // Evenly over calls and actions.
        let fault = faults[(first + number * faults.count / count) % faults.count]
        for finding in try strain.run(fault) { Issue.record("\(strain.scene.name): \(finding)") }
      }
      #expect(strain.tally.runs == count && strain.tally.old > 0, "\(strain.tally)")
    }

    @Test("the shim counts what is below its folder only, and fails the call it is told to")
    func shim() throws {
      let folder = try TemporaryFolder()
      try FileSystem.makeDirectory(folder.path("in"))
      let command = """
        mkdir '\(folder.path("in"))/a'; mkdir '\(folder.path("out"))'; mkdir '\(folder.path("in"))/b'
        """
      func run(_ variables: [String: String]) throws -> ProgramRun {
        try ProgramRun(
          ["sh", "-c", command], environment: variables, output: folder.path("output"))
      }
      let log = folder.path("log")
      _ = try run(Fault.counting(folder: folder.path("in"), log: log))
      #expect(
        String(decoding: try FileSystem.read(log), as: UTF8.self)
          == "mkdir \(folder.path("in"))/a\nmkdir \(folder.path("in"))/b\n")
      for name in ["in/a", "in/b", "out"] { FileSystem.removeTree(folder.path(name)) }
      // Each program counts for itself: both have it as their first.
      let failed = try run(Fault(.noSpace, at: 1).environment(folder: folder.path("in")))
      #expect(failed.text.contains("No space left on device") && failed.status == 1)
      #expect(try FileSystem.list(folder.path) == ["in", "log", "out", "output"])
      #expect(try FileSystem.list(folder.path("in")) == [])
    }
  }
#endif
