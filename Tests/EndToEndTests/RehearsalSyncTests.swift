import Files

#if os(Linux)
  import TestSupport
  import Testing

  /// What is brought to the disk: a copy that is removed in the end need not outlast the machine.
  @Suite(
    "External data that is copied",
    .enabled(
      if: !Built.strata.isEmpty && Built.faultShim != nil, "the program or the shim was not built"))
  struct RehearsalSyncTests {
    @Test(
      "is brought to the disk beside an output, and not for a rehearsal", .timeLimit(.minutes(2)))
    func syncs() throws {
      let folder = try TemporaryFolder()
      let temporary = folder.path("tmp")
      try FileSystem.makeDirectory(temporary)
      func synced(_ arguments: [String]) throws -> [String] {
        let log = folder.path("log")
        FileSystem.remove(log)
        var variables = Fault.counting(folder: folder.path, log: log)
        variables["TMPDIR"] = temporary
        let run = try ProgramRun(
          [Built.strata] + arguments, environment: variables, output: folder.path("text"))
        try #require(run.status == 0, "\(run.text)")
        return String(decoding: try FileSystem.read(log), as: UTF8.self)
          .split(separator: "\n").map(String.init).filter { $0.hasPrefix("fsync ") }
      }
      _ = try synced(["demo", folder.path("demo"), "--objects", "300", "--no-open"])
      let (store, model) = (
        folder.path("demo/Recipes.sqlite"), folder.path("demo/Recipes.xcdatamodeld@Recipes 2")
      )
      let rehearsed = try synced(["rehearse", store, "--to", model])
      #expect(!rehearsed.contains { $0.contains("_SUPPORT") })
      #expect(rehearsed.contains { $0.contains(temporary) && $0.contains("strata-journal") })
      let made = try synced([
        "migrate", store, "--to", model, "--output", folder.path("New.sqlite"),
      ])
      let names = try FileSystem.list(folder.path("demo/.Recipes_SUPPORT/_EXTERNAL_DATA"))
      try #require(!names.isEmpty)
      #expect(names.allSatisfy { name in made.contains { $0.hasSuffix(name) } })
      // A file that comes into a folder which is there already is one of its names.
      try FileSystem.create(
        folder.path("photo"), holding: [UInt8](repeating: 7, count: 200_000))
      let edited = try synced(["edit", store, "Recipe/p1", "photo=@\(folder.path("photo"))"])
      #expect(edited.contains { $0.hasSuffix("/demo/.Recipes_SUPPORT/_EXTERNAL_DATA") })
    }
  }
#endif
