import Files

#if os(Linux)
  import Glibc
  import ManagedStore
  import SQLite

  /// A store and one command that changes it, to be disturbed at any system call.
  public final class StrainScene {
    public enum Work: String, CaseIterable, Sendable {
      case inPlace, copying, recipe, chain, output, rollback, reset, repair
      /// A rollback of a reset.
      case resetRollback
      /// A reset that keeps no backup.
      case resetDeleting
    }

    public let work: Work
    /// Whether the newest rows of the store are in its -wal only.
    public let hasLog: Bool
    /// Whether there is external data, with other files in the support folder.
    public let hasExternal: Bool
    let program: String
    private let root: TemporaryFolder
    /// Before and after an undisturbed run.
    private(set) public var before: FolderState
    private(set) public var after: FolderState
    /// Calls that an undisturbed run makes and that change something: kind and path of each.
    private(set) public var calls: [String] = []
    /// What `info` answers before and after.
    private(set) var statuses: (before: Int32, after: Int32) = (0, 0)

    public init(
      _ work: Work, hasLog: Bool, hasExternal: Bool, program: String = Built.strata
    ) throws {
      (self.work, self.hasLog, self.hasExternal) = (work, hasLog, hasExternal)
      self.program = program
      root = try TemporaryFolder()
      let made = try ProgramRun(
        [program, "demo", root.path("base"), "--objects", "12", "--no-open"],
        environment: [:], output: root.path("output"))
      guard made.status == 0 else { throw FixtureError.missing("the demo: \(made.text)") }
      try FileSystem.rename(root.path("base/Recipes.xcdatamodeld"), to: root.path(Self.models))
      try DemoVersions.prepare(root.path(Self.models), recipesIn: root.path)
      before = try FolderState(of: root.path("base"))
      after = before
      try prepareStore()
      try reset()
      before = try FolderState(of: place)
      statuses.before = try next().status
      let log = root.path("calls")
      let run = try start(Fault.counting(folder: folder, log: log))
      guard run.status == 0 else { throw FixtureError.missing("\(name): \(run.text)") }
      calls = String(decoding: try FileSystem.read(log), as: UTF8.self)
        .split(separator: "\n").map { String($0).replacing(folder + "/", with: "") }
      statuses.after = try next().status
      after = try FolderState(of: place)
      // Not all of the scenes' external files are there.
      if !hasExternal { try SecondReader.expectAgreement(at: place + "/" + target) }
    }

    public var name: String {
      work.rawValue + (hasLog ? " with a -wal" : "") + (hasExternal ? " and external data" : "")
    }

    /// All that a run may touch: its calls below it count.
    var folder: String { root.path("run") }
    var place: String { folder + "/place" }
    var store: String { place + "/" + Self.store }
    /// The name of what the command makes, in the folder.
    var target: String { work == .output ? "Out.sqlite" : Self.store }

    private static let store = "Recipes.sqlite"
    private static let models = "Recipes.xcdatamodeld"

    private func prepareStore() throws {
      let path = root.path("base/" + Self.store)
      let support = root.path("base/.Recipes_SUPPORT")
      FileSystem.removeTree(support)
      if hasExternal { try Self.makeSupport(support) }
      // Private, all of it: so it has to stay.
      for name in try FileSystem.list(root.path("base")) {
        let path = root.path("base/" + name)
        chmod(path, FileSystem.isDirectory(path) ? 0o700 : 0o600)
      }
      let connection = try Connection(path: path, mode: .readWrite)
      try connection.execute("UPDATE ZRECIPE SET ZPHOTO = NULL")
      for (number, name) in (hasExternal ? Self.externalNames : []).enumerated() {
        try connection.run(
          """
          UPDATE ZRECIPE SET ZPHOTO = ?
          WHERE Z_PK = (SELECT Z_PK FROM ZRECIPE ORDER BY Z_PK LIMIT 1 OFFSET ?)
          """, [.blob([2] + Array(name.utf8) + [0]), .integer(Int64(number))])
      }
      connection.close()
      switch work {
      case .rollback: try settle(arguments(.inPlace))
      case .resetRollback: try settle(arguments(.reset))
      case .repair: try Self.spoil(path)
      default: break
      }
      if hasLog { try writeLog(path) }
    }

    private static let externalNames = [
      "6C5B5A0E-2C36-4B7E-9D0B-1D7B5B6E0001", "6C5B5A0E-2C36-4B7E-9D0B-1D7B5B6E0002",
    ]

    /// Two external data files, and what Core Data or an app may keep beside them.
    private static func makeSupport(_ support: String) throws {
      let external = support + "/_EXTERNAL_DATA"
      try FileSystem.makeDirectory(external)
      for (number, name) in externalNames.enumerated() {
        let bytes = [UInt8](repeating: UInt8(number + 1), count: 150_000 + number)
        try FileSystem.write(bytes, to: external + "/" + name)
      }
      try FileSystem.makeDirectory(support + "/other/inner")
      try FileSystem.write(Array("kept".utf8), to: support + "/other/keep")
      try FileSystem.write(Array("kept too".utf8), to: support + "/other/inner/keep")
      guard symbolicLink(support + "/L", to: "other/keep") else {
        throw FixtureError.missing("a symbolic link")
      }
    }

    /// Lets the base be what a command makes of it.
    private func settle(_ words: [String]) throws {
      try reset()
      let run = try ProgramRun(
        [program] + words, environment: environment, output: root.path("output"))
      guard run.status == 0 else { throw FixtureError.missing("\(name): \(run.text)") }
      FileSystem.removeTree(root.path("base"))
      try FileSystem.rename(place, to: root.path("base"))
    }

    /// Faults of each sort that a repair mends.
    private static func spoil(_ path: String) throws {
      let connection = try Connection(path: path, mode: .readWrite)
      try connection.execute(RepairFaults.sql)
      connection.close()
    }

    /// Adds rows that are in the -wal only.
    private func writeLog(_ path: String) throws {
      let connection = try Connection(path: path, mode: .readWrite)
      let wrote = try connection.value("PRAGMA journal_mode = WAL")
      guard wrote == .text("wal") else { throw FixtureError.missing("a store in WAL mode") }
      try connection.execute(
        """
        INSERT INTO ZDRAFT (Z_PK, Z_ENT, Z_OPT, ZTITLE)
        SELECT 900, Z_ENT, 1, 'in the log' FROM Z_PRIMARYKEY WHERE Z_NAME = 'Draft';
        UPDATE Z_PRIMARYKEY SET Z_MAX = 900 WHERE Z_NAME = 'Draft'
        """)
      // Copied while it is open: closing would merge the log.
      try Self.copyTree(root.path("base"), to: root.path("copy"))
      connection.close()
      FileSystem.remove(root.path("copy/" + Self.store + "-shm"))
      FileSystem.removeTree(root.path("base"))
      try FileSystem.rename(root.path("copy"), to: root.path("base"))
    }

    /// Puts everything back as it was before the command.
    func reset() throws {
      FileSystem.removeTree(folder)
      try FileSystem.makeDirectory(folder)
      try Self.copyTree(root.path("base"), to: place)
      for name in ["state", "temporary"] {
        try FileSystem.makeDirectory(folder + "/" + name, permissions: 0o700)
      }
    }

    private var environment: [String: String] {
      ["XDG_STATE_HOME": folder + "/state", "TMPDIR": folder + "/temporary", "HOME": folder]
    }

    private func arguments(_ work: Work) -> [String] {
      let models = root.path(Self.models)
      let second = ["migrate", store, "--json", "--to", models + "@Recipes 2"]
      return switch work {
      case .inPlace: second + ["--strategy", "in-place"]
      case .copying: second + ["--strategy", "copy"]
      case .recipe: second + ["--mapping", root.path("one.json5")]
      case .chain:
        [
          "migrate", store, "--json", "--to", models + "@Recipes 5", "--via", models, "--mapping",
          root.path("two.json5"),
        ]
      case .output: second + ["--output", place + "/Out.sqlite"]
      case .rollback, .resetRollback: ["rollback", store, "--json"]
      case .reset: ["reset", store, "--json", "--model", models + "@Recipes 2"]
      case .resetDeleting: arguments(.reset) + ["--delete-backup"]
      case .repair: ["repair", store, "--json"]
      }
    }

    /// Runs the command, disturbed or not.
    func start(_ variables: [String: String] = [:]) throws -> ProgramRun {
      try ProgramRun(
        [program] + arguments(work), environment: environment.merging(variables) { $1 },
        output: root.path("output"))
    }

    /// Runs a command that writes and has nothing to do, and so only cleans up what others left.
    func settle() throws -> ProgramRun {
      let version = [.rollback, .resetRollback, .repair].contains(work) ? "Recipes" : "Recipes 2"
      return try ProgramRun(
        [program, "migrate", place + "/" + target, "--to", root.path(Self.models) + "@" + version],
        environment: environment, output: root.path("output"))
    }

    /// Runs what comes next: a look at the store, as a person would have after an accident.
    func next() throws -> ProgramRun {
      // Copies that a killed program left are only removed when they are a minute old.
      for name in try FileSystem.list(folder + "/temporary") {
        var times = [timeval](repeating: timeval(tv_sec: time(nil) - 3600, tv_usec: 0), count: 2)
        utimes(folder + "/temporary/" + name, &times)
      }
      return try ProgramRun(
        [program, "info", store], environment: environment, output: root.path("output"))
    }

    /// Copies that are left in the temporary folder.
    func remains() throws -> [String] {
      try FileSystem.list(folder + "/temporary").map { "temporary/" + $0 }
    }

    /// Copies a folder with modes and links.
    private static func copyTree(_ from: String, to: String) throws {
      try FileSystem.makeDirectory(to)
      for name in try FileSystem.list(from) {
        let (source, target) = (from + "/" + name, to + "/" + name)
        var info = stat()
        guard lstat(source, &info) == 0 else { continue }
        switch info.st_mode & S_IFMT {
        case S_IFDIR: try copyTree(source, to: target)
        case S_IFLNK:
          var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
          guard readlink(source, &buffer, buffer.count - 1) > 0, symlink(buffer, target) == 0
          else { throw FixtureError.missing(target) }
        default:
          let file = try FileSystem.copy(source, to: target)
          FileAttributes.copy(from: .named(source), to: file)
        }
      }
      try FileAttributes.copy(from: .folder(Folder(from)), to: Folder(to))
    }
  }
#endif
