import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Migration

@Suite(
  "A store that another program has open",
  .enabled(if: Tool.sqlite3.isAvailable, "sqlite3 is not installed"))
struct OtherUserTests {
  private static let locks = [
    ("EXCLUSIVE", "BEGIN EXCLUSIVE; UPDATE ZLOAN SET Z_OPT = 9;"),
    ("RESERVED", "BEGIN IMMEDIATE; UPDATE ZLOAN SET Z_OPT = 9;"),
    ("SHARED", "BEGIN; SELECT count(*) FROM ZLOAN;"),
  ]

  private static func place(journal mode: String) throws -> SafetyPlace {
    let place = try SafetyPlace()
    let connection = try Connection(path: place.path, mode: .readWrite)
    try connection.execute("PRAGMA journal_mode = \(mode)")
    connection.close()
    return place
  }

  @Test(
    "is not replaced, whatever lock is held, and stays as it is",
    arguments: ["WAL", "DELETE"], [0, 1, 2])
  func locked(mode: String, lock: Int) throws {
    let place = try Self.place(journal: mode)
    let before = try FileSystem.read(place.path)
    for way in [SafetyCase.inPlace, .copying, .policy] {
      let plan = try way.plan(place.path)
      let (name, sql) = Self.locks[lock]
      let other = try OtherProgram(Tool.sqlite3.path, [place.path, sql, ".shell sleep 3600"])
      defer { other.kill() }
      try other.wait { StoreLock.user(of: place.path) != nil }
      let error = failure(of: plan)
      #expect(
        error?.kind == .failed && error?.code == 134080, "\(name): \(String(describing: error))")
      #expect(error?.message.contains("is using the store") == true, "\(name)")
      #expect(try FileSystem.read(place.path) == before)
      #expect(
        try !FileSystem.list(place.folder.path).contains {
          $0.hasPrefix(StoreNames.workPrefix)
        })
    }
  }

  @Test("opened while the migration runs, it is not replaced either", arguments: ["WAL", "DELETE"])
  func openedMeanwhile(mode: String) throws {
    let place = try Self.place(journal: mode)
    let before = try FileSystem.read(place.path)
    var other: OtherProgram?
    let error = failure(of: try SafetyCase.copying.plan(place.path), isCancelled: { false }) {
      progress in
      guard other == nil, Phase(progress)?.kind == .verify else { return }
      other = try? OtherProgram(
        Tool.sqlite3.path, [place.path, Self.locks[2].1, ".shell sleep 3600"])
      try? other?.wait { StoreLock.user(of: place.path) != nil }
    }
    other?.kill()
    #expect(error?.message.contains("is using the store") == true, "\(String(describing: error))")
    #expect(try FileSystem.read(place.path) == before)
  }

  @Test("is copied into another file, with the rows that only its -wal holds")
  func live() throws {
    for way in [SafetyCase.inPlace, .copying, .chain] {
      let place = try Self.place(journal: "WAL")
      let other = try OtherProgram(
        Tool.sqlite3.path,
        [
          place.path, "INSERT INTO ZLOAN (Z_PK, Z_ENT, Z_OPT) VALUES (77, 6, 1);",
          ".shell sleep 3600",
        ])
      defer { other.kill() }
      try other.wait { (try? WriteAheadLog(besideStore: place.path).frames) ?? 0 > 0 }
      var options = MigrationOptions()
      options.output = place.folder.path("Out.sqlite")
      let log = try FileSystem.read(place.path + "-wal")
      #expect(
        failure(of: try way.plan(place.path, output: options.output), options: options) == nil)
      #expect(try Store(path: place.folder.path("Out.sqlite")).counts()["Loan"] == 3)
      #expect(try FileSystem.read(place.path + "-wal") == log)
    }
  }
}
