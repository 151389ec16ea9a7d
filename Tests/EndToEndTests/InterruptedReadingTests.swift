import Files
import SQLite
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Private copies and unfinished outputs of commands that do not ask whether to go on.
@Suite(
  "A signal while a store is read, or a demo is written",
  .enabled(if: !Shell.strata.isEmpty, "not built"))
struct InterruptedReadingTests {
  private let folder: TemporaryFolder
  private var temporary: String { folder.path("tmp") }
  private var copies: [String] { (try? FileSystem.list(temporary)) ?? [] }

  init() throws {
    folder = try TemporaryFolder()
    try FileSystem.makeDirectory(folder.path("tmp"))
  }

  private func start(_ words: [String], path: String? = nil) throws -> ChildProgram {
    var environment = ["TMPDIR": temporary]
    if let path { environment["PATH"] = path }
    return try #require(ChildProgram([Shell.strata] + words, environment: environment))
  }

  private func demo(objects: Int) throws -> String {
    let made = Shell.run(
      "'\(Shell.strata)' demo '\(folder.path("demo"))' --objects \(objects) --no-open")
    try #require(made == 0)
    return folder.path("demo/Recipes.sqlite")
  }

  /// A store of which a -wal holds the newest rows: it is read from a private copy.
  private func loggedStore() throws -> String {
    let store = try demo(objects: 3000)
    let copy = folder.path("Copy.sqlite")
    let connection = try Connection(path: store, mode: .readWrite)
    try connection.execute("PRAGMA journal_mode = WAL; UPDATE ZDRAFT SET ZTITLE = 'new'")
    for suffix in ["", "-wal"] { try FileSystem.copy(store + suffix, to: copy + suffix) }
    connection.close()
    return copy
  }

  @Test("leaves no private copy", arguments: [SIGINT, SIGTERM, SIGHUP])
  func reading(signal: Int32) throws {
    let program = try start(["dump", try loggedStore()])
    program.read { $0.has("\"entity\"") }
    // Nobody reads on, so that it waits with all that it has.
    #expect(copies.contains { $0.hasPrefix("strata-copy") }, "\(copies)")
    program.signal(signal)
    #expect(program.wait() == 128 + signal)
    #expect(copies == [])
  }

  @Test("leaves a private copy where the signal cannot be caught, which the next run removes")
  func killed() throws {
    let store = try loggedStore()
    let program = try start(["dump", store])
    program.read { $0.has("\"entity\"") }
    program.signal(SIGKILL)
    #expect(program.wait() == 128 + SIGKILL)
    #expect(copies.contains { $0.hasPrefix("strata-copy") }, "\(copies)")
    #expect(Shell.run("TMPDIR='\(temporary)' '\(Shell.strata)' info '\(store)'") == 0)
    #expect(copies == [])
  }

  @Test("leaves nothing of what another program was given to read", arguments: [SIGINT, SIGKILL])
  func subprocess(signal: Int32) throws {
    let store = try demo(objects: 50)
    // A git that takes its time.
    try FileSystem.makeDirectory(folder.path("bin"))
    let git = folder.path("bin/git")
    try OtherProgram.write(script: "#!/bin/sh\nexec sleep 3\n", to: git)
    let path = folder.path("bin") + ":" + (getenv("PATH").map { String(cString: $0) } ?? "/bin")
    let program = try start(["find-model", store, folder.path("demo")], path: path)
    #expect(
      Patience.wait {
        copies.contains { FileIdentity(of: temporary + "/" + $0 + "/message") != nil }
      })
    program.signal(signal)
    #expect(program.wait() == 128 + signal)
    if signal == SIGKILL {
      #expect(copies != [])
      #expect(Shell.run("TMPDIR='\(temporary)' '\(Shell.strata)' info '\(store)'") == 0)
    }
    #expect(copies == [])
  }

  @Test("leaves nothing of a demo", arguments: [SIGINT, SIGTERM], [true, false])
  func demo(signal: Int32, isTemporary: Bool) throws {
    let place = folder.path("new")
    let program = try start(
      ["demo"] + (isTemporary ? [] : [place]) + ["--objects", "3000000", "--no-open"])
    let begun = isTemporary ? temporary : folder.path
    #expect(
      Patience.wait {
        ((try? FileSystem.list(begun)) ?? []).contains { $0.hasPrefix(".strata-new-") }
      })
    usleep(100_000)
    program.signal(signal)
    #expect(program.wait() == 128 + signal, "\(program.text)")
    #expect(try FileSystem.list(folder.path) == ["tmp"])
    #expect(copies == [])
  }
}
