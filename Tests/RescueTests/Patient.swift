import Demo
import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Rescue

/// A recipe box in a folder of its own, that a test spoils and has looked at.
struct Patient {
  let folder: TemporaryFolder
  let path: String

  init(objects: Int = 1500) throws {
    folder = try TemporaryFolder()
    path = folder.path("Recipes.sqlite")
    let model = try #require(DemoModels.versions().first).model
    _ = try DemoStore.write(to: path, model: model, objects: objects)
  }

  /// Runs SQL on the store, with stand-ins for what only Core Data has.
  func change(_ sql: String) throws {
    let connection = try Connection(path: path, mode: .readWrite, isDefensive: false)
    for name in ["Insert", "Update", ""] {
      try connection.defineNullFunction("NSCoreDataDATrigger\(name)UpdatedAffectedObjectValue")
    }
    try connection.execute(sql)
    connection.close()
  }

  /// Runs SQL whose changes stay in a -wal, as beside a store that an app has open.
  func log(_ sql: String) throws {
    let live = path + ".live"
    try FileSystem.copyOver(path, to: live)
    let connection = try Connection(path: live, mode: .readWrite)
    try connection.execute(
      "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; \(sql)")
    for suffix in ["", "-wal"] {
      FileSystem.remove(path + suffix)
      try FileSystem.copyOver(live + suffix, to: path + suffix)
    }
    connection.close()
    for suffix in ["", "-wal", "-shm"] { FileSystem.remove(live + suffix) }
  }

  /// Changes bytes of the main file.
  func spoil(_ change: (inout [UInt8]) -> Void) throws {
    var bytes = try FileSystem.read(path)
    change(&bytes)
    try FileSystem.write(bytes, to: path)
  }

  /// The page that a table or an index begins with.
  func root(of name: String) throws -> Int {
    let connection = try Connection(path: path, mode: .immutable)
    let root = try connection.value(
      "SELECT rootpage FROM sqlite_master WHERE name = ?", [.text(name)])
    return Int(try #require(root?.integer))
  }

  /// Looks at the store, and that nothing of the folder is changed by that.
  func diagnosis(model: Model? = nil) throws -> Diagnosis {
    let before = try folder.contents()
    let diagnosis = try Diagnosis(of: path, model: model)
    #expect(try folder.contents() == before)
    return diagnosis
  }

  /// The one finding of a kind.
  func finding(_ kind: FindingKind) throws -> Finding {
    let found = try diagnosis().findings.filter { $0.kind == kind }
    #expect(found.count == 1, "\(found.map(\.sentence))")
    return try #require(found.first)
  }
}

extension Diagnosis {
  /// Errors and warnings, as lines.
  var alarms: [String] {
    findings.filter { $0.severity != .note }.map { "\($0.kind.rawValue): \($0.sentence)" }
  }
}
