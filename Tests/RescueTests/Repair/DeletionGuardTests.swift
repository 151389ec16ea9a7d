import Files
import Interface
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Rescue

@Suite("A repair does not take from deleted objects what restores them")
struct DeletionGuardTests {
  /// A recipe box from which a recipe was deleted behind Core Data's back: its steps still name it.
  private static func patient(key: Int = 5) throws -> Patient {
    let patient = try Patient(objects: 400)
    try patient.change("PRAGMA secure_delete = OFF; DELETE FROM ZRECIPE WHERE Z_PK = \(key)")
    return patient
  }

  @Test("it is refused with the number of objects and the command, and the store is as it was")
  func refused() throws {
    let patient = try Self.patient()
    let before = try patient.folder.contents()
    for isRehearsal in [false, true] {
      var options = RepairOptions()
      options.isRehearsal = isRehearsal
      let error = #expect(throws: CoreDataError.self) {
        try StoreRepair.run(path: patient.path, options: options)
      }
      #expect(error?.kind == .refused)
      #expect(error?.message.hasPrefix("1 deleted object can still be read (Recipe 1)") == true)
      #expect(error?.message.contains("to-one-dangling") == true)
      #expect(error?.typedHint?.contains("strata undelete \(patient.path)") == true)
      #expect(error?.hint?.contains("isForced") == true)
    }
    #expect(try patient.folder.contents() == before)
  }

  @Test("asked for all the same, or written elsewhere, it is done")
  func forced() throws {
    let patient = try Self.patient()
    var options = RepairOptions()
    options.output = patient.folder.path("Repaired.sqlite")
    #expect(try StoreRepair.run(path: patient.path, options: options).receipt.isDone)
    options = RepairOptions()
    options.isForced = true
    try patient.repair(options, mending: [.toOneDangling])
  }

  @Test("links that deleted objects have no part in are repaired")
  func others() throws {
    let patient = try Patient(objects: 400)
    try patient.change(
      """
      PRAGMA secure_delete = OFF; DELETE FROM ZTAG WHERE Z_PK = 2 AND 0;
      UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 9 WHERE Z_NAME = 'Recipe';
      UPDATE ZSTEP SET ZRECIPE = 88888 WHERE Z_PK = 3
      """)
    try #require(try patient.diagnosis().findings.contains { $0.kind == .deletions })
    try patient.repair(mending: [.toOneDangling])
  }

  @Test("counters are repaired, whatever was deleted")
  func counters() throws {
    let patient = try Self.patient()
    var options = RepairOptions()
    options.kinds = [.primaryKey]
    try patient.change("UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_NAME = 'Tag'")
    #expect(try StoreRepair.run(path: patient.path, options: options).receipt.isDone)
  }
}
