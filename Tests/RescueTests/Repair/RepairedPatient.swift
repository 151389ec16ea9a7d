import Files
import ManagedModel
import ManagedStore
import Migration
import SQLite
import TestSupport
import Testing

@testable import Rescue

extension Patient {
  /// Every object as a line, by what the line begins with; as far as the store opens.
  func lines(model: Model? = nil) throws -> [String: String] {
    let store = try Store(
      path: path, files: StoreFiles(path: path), model: model, isLenient: true)
    return Dictionary(
      try StoreDump.lines(store).map { line in
        (String(line.prefix { $0 != " " }), line)
      }
    ) { first, _ in first }
  }

  /// Repairs the store, and sees to everything that must be true of any repair: doctor finds nothing
  /// of what was mended, only objects in the list are other ones, and a rollback brings the very bytes
  /// back.
  @discardableResult
  func repair(
    _ options: RepairOptions = RepairOptions(), mending kinds: Set<FindingKind>,
    leaving left: [FindingKind] = []
  ) throws -> [RepairChange] {
    let before = try lines(model: options.model)
    let old = try FileSystem.read(path)
    let found = try diagnosis(model: options.model).findings
    for kind in kinds { #expect(found.contains { $0.kind == kind }, "\(kind)") }
    let repaired = try StoreRepair.run(path: path, options: options)
    let receipt = repaired.receipt
    #expect(receipt.resultPath == path && receipt.isDone)
    #expect(Set(receipt.left.map(\.kind)) == Set(left), "\(receipt.left.map(\.sentence))")
    let now = try Diagnosis(of: path).findings
    #expect(!now.contains { kinds.contains($0.kind) }, "\(now.map(\.sentence))")
    var changes: [RepairChange] = []
    try repaired.log?.forEach { changes.append($0) }
    #expect(changes.count == receipt.count)
    try expect(before, onlyChangedBy: changes)
    try expectSound()
    let backup = try #require(receipt.backupPath)
    #expect(try FileSystem.read(backup) == old)
    #expect(StoreBackup.all(of: path).first?.origin == .repair)
    let result = try FileSystem.read(path)
    _ = try StoreRollback.run(path: path)
    #expect(try FileSystem.read(path) == old)
    // And on to the repaired one again, for whoever goes on with it.
    try FileSystem.write(result, to: path)
    return changes
  }

  private func expect(
    _ before: [String: String], onlyChangedBy changes: [RepairChange]
  ) throws {
    let after = try lines()
    var told = Set(
      changes.compactMap { change in change.key.map { "\(change.entity ?? "")/p\($0)" } })
    // The other end of a link.
    for change in changes {
      for text in [change.old, change.new].compactMap({ $0 }) {
        told.formUnion(text.split(separator: " ").map(String.init))
      }
    }
    for key in Set(before.keys).union(after.keys) where before[key] != after[key] {
      #expect(told.contains(key), "\(before[key] ?? "∅") – \(after[key] ?? "∅")")
    }
  }

  private func expectSound() throws {
    let connection = try Connection(path: path, mode: .immutable)
    #expect(
      try connection.rows("PRAGMA integrity_check").map { $0.first?.text } == ["ok"])
    #expect(try Store(path: path).modelMatches)
  }
}
