import Files

#if os(Linux)
  import ManagedStore
  import TestSupport
  import Testing

  /// A new store or model is not there, or it is whole; what a run that was killed left is no obstacle.
  @Suite(
    "A system call that fails, or kills the program, while something new is written",
    .enabled(
      if: !Built.strata.isEmpty && Built.faultShim != nil, "the program or the shim was not built"))
  struct OutputFaultTests {
    enum Work: String, CaseIterable, Sendable {
      case salvage, undelete, seed, demo, export
      /// A demo whose folder is not there yet.
      case demoFolder
    }

    private struct Scene {
      let work: Work
      let folder: TemporaryFolder
      var place: String { folder.path("out") }

      init(_ work: Work) throws {
        self.work = work
        folder = try TemporaryFolder()
        try FileSystem.makeDirectory(folder.path("tmp"))
        let made = try ProgramRun(
          [Built.strata, "demo", folder.path("demo"), "--objects", "300", "--no-open"],
          environment: [:], output: folder.path("output"))
        try #require(made.status == 0, "\(made.text)")
      }

      private var words: [String] {
        let (store, model) = (
          folder.path("demo/Recipes.sqlite"), folder.path("demo/Recipes.xcdatamodeld")
        )
        return switch work {
        case .salvage: ["salvage", store, "--output", place + "/New.sqlite"]
        case .undelete: ["undelete", store, "--output", place + "/New.sqlite"]
        case .seed: ["seed", model, place + "/New.sqlite", "--objects", "300"]
        case .demo: ["demo", place, "--objects", "300", "--no-open"]
        case .demoFolder: ["demo", place + "/new", "--objects", "300", "--no-open"]
        case .export: ["find-model", store, folder.path("demo"), "--export", place + "/new"]
        }
      }

      /// What is there when all of it is.
      var output: String {
        switch work {
        case .salvage, .undelete, .seed: place + "/New.sqlite"
        case .demo: place + "/Recipes.sqlite"
        case .demoFolder: place + "/new/Recipes.sqlite"
        case .export: place + "/new/Recipes.xcdatamodel"
        }
      }

      func clear() throws {
        FileSystem.removeTree(place)
        try FileSystem.makeDirectory(place)
      }

      func run(_ variables: [String: String] = [:]) throws -> ProgramRun {
        try ProgramRun(
          [Built.strata] + words,
          environment: variables.merging(["TMPDIR": folder.path("tmp"), "HOME": folder.path]) {
            $1
          }, output: folder.path("output"))
      }

      /// Every file and folder that is there, by its path in the folder.
      func names(below inner: String = "") throws -> [String] {
        try FileSystem.list(place + inner).flatMap { name in
          let path = inner + "/" + name
          return [path] + (FileSystem.isDirectory(place + path) ? try names(below: path) : [])
        }
      }

      /// What the output holds.
      func content() throws -> [String] {
        work == .export
          ? [try FileSystem.sha256(output + "/contents")] : try StoreDump.lines(at: output)
      }
    }

    private static let actions: [Fault.Action] = [.kill, .full, .inputOutputError]

    @Test(
      "leaves nothing or all of it, says what it leaves, and the next run succeeds",
      arguments: TestScale.pairs(Work.allCases, actions))
    func fault(work: Work, action: Fault.Action) throws {
      let scene = try Scene(work)
      try scene.clear()
      let log = scene.folder.path("log")
      let counted = try scene.run(Fault.counting(folder: scene.place, log: log))
      try #require(counted.status == 0, "\(counted.text)")
      let (names, content) = (try scene.names(), try scene.content())
      #expect(!names.contains { $0.contains(".strata-") }, "\(names)")
      let calls = String(decoding: try FileSystem.read(log), as: UTF8.self)
        .split(separator: "\n").map(String.init)
      // The names change hands at the end; a few of the calls before.
      let last = calls.count - 9
      let places = Set(stride(from: 1, to: max(2, last), by: max(1, last / 3)))
        .union(max(0, last)..<calls.count)
      for call in TestScale.some(2, of: places.sorted()) {
        let at: Comment = "\(action.rawValue) at \(call + 1): \(calls[call])"
        try scene.clear()
        let done = try scene.run(
          Fault(action, at: call + 1).environment(folder: scene.place))
        let left = try scene.names()
        let isThere = FileIdentity(of: scene.output) != nil
        if isThere {
          #expect(try scene.content() == content, at)
          #expect(Set(names).isSubset(of: left), "\(at): \(left)")
        }
        if action != .kill {
          #expect(isThere == (done.status == 0 || done.status == 4), "\(at): \(done.text)")
          let isTold = done.status == 4 && done.text.contains("could not be ")
          #expect(left == (isThere ? names : []) || isTold, "\(at): \(left) \(done.text)")
        }
        let again = try scene.run()
        // A folder that was made and locked is told of.
        if left.contains(where: { $0.hasSuffix("/.strata-lock") }), !isThere {
          #expect(again.text.contains("An earlier run was interrupted"), "\(at): \(again.text)")
        }
        #expect(again.status == (isThere ? 3 : 0), "\(at): \(again.text)")
        #expect(try scene.names() == names, at)
        #expect(try scene.content() == content, at)
      }
    }

    @Test("of two processes that write one store, the later one ends with an error")
    func together() throws {
      let folder = try TemporaryFolder()
      let model = folder.path("demo/Recipes.xcdatamodeld")
      let store = folder.path("New.sqlite")
      let made = try ProgramRun(
        [Built.strata, "demo", folder.path("demo"), "--objects", "50", "--no-open"],
        environment: [:], output: folder.path("output"))
      try #require(made.status == 0, "\(made.text)")
      let first = try #require(
        ChildProgram([Built.strata, "seed", model, store, "--objects", "900000000"]))
      let isBegun = Patience.wait {
        ((try? FileSystem.list(folder.path)) ?? []).contains {
          $0.hasPrefix(".strata-new-")
            && FileIdentity(of: folder.path($0) + "/New.sqlite") != nil
        }
      }
      #expect(isBegun)
      let before = try FileSystem.list(folder.path)
      let second = try ProgramRun(
        [Built.strata, "seed", model, store, "--objects", "50"], environment: [:],
        output: folder.path("output"))
      #expect(
        second.status == 5 && second.text.contains("another strata process is writing this file"))
      #expect(try FileSystem.list(folder.path) == before)
      first.signal(9)
      #expect(first.wait() == 128 + 9)
      let third = try ProgramRun(
        [Built.strata, "seed", model, store, "--objects", "50"], environment: [:],
        output: folder.path("output"))
      #expect(third.status == 0 && third.text.contains("An earlier run was interrupted"))
      #expect(
        try FileSystem.list(folder.path).filter { $0.hasPrefix(".strata-") || $0 == "New.sqlite" }
          == ["New.sqlite"])
    }

    @Test("a store that cannot have two names is deleted all the same by a reset that is asked to")
    func resetWithoutLinks() throws {
      let folder = try TemporaryFolder()
      func run(_ words: [String], _ variables: [String: String] = [:]) throws -> ProgramRun {
        try ProgramRun(
          [Built.strata] + words, environment: variables, output: folder.path("output"))
      }
      let made = try run(["demo", folder.path("demo"), "--objects", "50", "--no-open"])
      try #require(made.status == 0, "\(made.text)")
      try FileSystem.makeDirectory(folder.path("place"))
      let (store, base) = (folder.path("place/Recipes.sqlite"), folder.path("demo/Recipes.sqlite"))
      func reset(_ variables: [String: String]) throws -> ProgramRun {
        FileSystem.remove(store)
        try FileSystem.copy(base, to: store)
        return try run(
          [
            "reset", store, "--delete-backup", "--model",
            folder.path("demo/Recipes.xcdatamodeld") + "@Recipes 2",
          ], variables)
      }
      let log = folder.path("log")
      #expect(try reset(Fault.counting(folder: folder.path("place"), log: log)).status == 0)
      let link = String(decoding: try FileSystem.read(log), as: UTF8.self)
        .split(separator: "\n").firstIndex { $0.hasPrefix("link ") }
      let done = try reset(
        Fault(.inputOutputError, at: try #require(link) + 1)
          .environment(folder: folder.path("place")))
      #expect(done.status == 0 && done.text.contains("the old store was deleted"), "\(done.text)")
      #expect(try FileSystem.list(folder.path("place")) == ["Recipes.sqlite"])
    }
  }
#endif
