import Files
import Interface
import ManagedModel
import ManagedStore
import Migration
import SQLite
import TestSupport
import Testing

@testable import Rescue

@Suite("A repair that cannot be leaves all as it was")
struct RepairRefusalTests {
  private static func refusal(
    _ patient: Patient, _ options: RepairOptions = RepairOptions()
  ) throws -> CoreDataError? {
    let before = try patient.folder.contents()
    let error = #expect(throws: CoreDataError.self) {
      try StoreRepair.run(path: patient.path, options: options)
    }
    #expect(try patient.folder.contents() == before)
    return error
  }

  @Test("what SQLite does not read is for salvage, and that is said")
  func beyondRepair() throws {
    let damages: [(inout [UInt8]) -> Void] = [
      { $0.removeLast($0.count / 2) },
      { $0.replaceSubrange(0..<16, with: [UInt8](repeating: 0xDE, count: 16)) },
      { $0.replaceSubrange(0..<4096, with: [UInt8](repeating: 0, count: 4096)) },
      { $0.replaceSubrange(100..<4096, with: [UInt8](repeating: 0, count: 3996)) },
    ]
    for damage in damages {
      let patient = try Patient(objects: 1500)
      try patient.spoil(damage)
      let error = try Self.refusal(patient)
      #expect(error?.kind == .unreadable, "\(String(describing: error))")
      #expect(error?.typedHint?.contains("strata salvage ") == true)
    }
  }

  @Test("a kind that it does not mend, and a model that is another, are refused")
  func wrongAsking() throws {
    let patient = try Patient(objects: 400)
    var options = RepairOptions()
    options.kinds = [.mandatory]
    #expect(try Self.refusal(patient, options)?.kind == .usage)
    options.kinds = []
    options.model = try Model(entities: [Entity("Other")])
    #expect(try Self.refusal(patient, options)?.code == .persistentStoreIncompatibleVersionHash)
  }

  @Test("a store that is in use, and an output that is there")
  func inUse() throws {
    let patient = try Patient(objects: 400)
    try patient.change(RepairFaults.sql)
    var options = RepairOptions()
    options.output = patient.path
    #expect(try Self.refusal(patient, options)?.kind == .refused)
    let other = try Connection(path: patient.path, mode: .readWrite)
    try other.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
    // Its own process's locks nobody tells; the cut-over meets them, or the look before.
    let error = #expect(throws: CoreDataError.self) { try StoreRepair.run(path: patient.path) }
    #expect(error?.code == .persistentStoreOpen || error?.kind == .failed)
    try other.execute("ROLLBACK")
    other.close()
  }

  @Test(
    "a failure at any step of the cut-over",
    arguments: TestScale.some(2, of: StoreReplacement.CutoverStep.allCases.filter { $0 != .done }))
  func cutover(step: StoreReplacement.CutoverStep) throws {
    let patient = try Patient(objects: 400)
    try patient.change(RepairFaults.sql)
    let before = try patient.folder.contents()
    let error = #expect(throws: CoreDataError.self) {
      try StoreRepair.run(path: patient.path, options: RepairOptions()) {
        if $0 == step { throw CoreDataError(.failed, "no more") }
      }
    }
    #expect(error?.message == "no more")
    #expect(try patient.folder.contents() == before)
    // The next one succeeds.
    #expect(try StoreRepair.run(path: patient.path).receipt.isDone)
  }

  @Test("a store that changes meanwhile is not written over")
  func changed() throws {
    let patient = try Patient(objects: 400)
    try patient.change(RepairFaults.sql)
    let error = #expect(throws: CoreDataError.self) {
      try StoreRepair.run(path: patient.path, options: RepairOptions()) {
        if $0 == .lock { try patient.change("UPDATE ZTAG SET Z_OPT = 9") }
      }
    }
    #expect(error?.message.contains("meanwhile") == true)
    #expect(
      try Store(path: patient.path).connection.value("SELECT max(Z_OPT) FROM ZTAG") == .integer(9))
    #expect(StoreBackup.all(of: patient.path).isEmpty)
  }

  @Test("cancelled at any moment")
  func cancelled() throws {
    let patient = try Patient(objects: 1500)
    try patient.change(RepairFaults.sql)
    let before = try patient.folder.contents()
    for kind in [MigrationProgress.Part.Kind.copy, .edit, .verify, .replace] {
      var isReached = false
      let error = #expect(throws: CoreDataError.self) {
        try StoreRepair.run(path: patient.path, isCancelled: { isReached }) { progress in
          isReached = isReached || progress.parts[progress.current].kind == kind
        }
      }
      #expect(error?.kind == .cancelled, "\(kind): \(String(describing: error))")
      #expect(try patient.folder.contents() == before, "\(kind)")
    }
  }
}
