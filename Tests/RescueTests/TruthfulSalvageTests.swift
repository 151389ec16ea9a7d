import Demo
import Files
import Interface
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Rescue

/// What salvage must not call saved.
@Suite("Salvage says what it did not save")
struct TruthfulSalvageTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("Demo.sqlite")
    _ = try DemoStore.write(
      to: path, model: #require(DemoModels.versions().first).model, objects: 1_000)
  }

  private func change(_ sql: String) throws {
    let connection = try Connection(path: path, mode: .readWrite)
    defer { connection.close() }
    try StoreFunctions.define(on: connection)
    try connection.execute(sql)
  }

  private func salvage(_ meanwhile: @escaping () -> Void = {}) throws -> SalvageReport {
    try StoreSalvage.run(
      path: path, output: folder.path("Saved.sqlite"),
      isCancelled: {
        meanwhile()
        return false
      })
  }

  @Test("a table that is gone, though keys of its entity were given out, is a loss")
  func goneTable() throws {
    let most = try Connection(path: path, mode: .immutable).value(
      "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'")?.integer.map { Int($0) }
    try change("PRAGMA secure_delete = OFF; DROP TABLE ZTAG")
    let report = try salvage()
    #expect(most != nil && report.gone["Tag"] == most && report.gone.count == 1)
    #expect(report.isLossy && !report.isWhole)
    let lost = report.remarks.filter { $0.sign == "!" }.map(\.text)
    #expect(lost.contains { $0.hasPrefix("Tag: its table is not there") })
    #expect(report.remarks.contains { $0.text.contains("strata undelete") })
  }

  @Test("a table that is gone of which no key was given out is none")
  func emptyTable() throws {
    try change(
      "DELETE FROM ZTAG; UPDATE Z_PRIMARYKEY SET Z_MAX = 0 WHERE Z_NAME = 'Tag'; DROP TABLE ZTAG")
    #expect(try salvage().gone == [:])
  }

  @Test("a table whose objects were all deleted is no loss, and a store without one object is")
  func noObjects() throws {
    let tables = try Store(path: path).entityTables.filter(\.isWholeTable).map(\.table)
    try change("DELETE FROM ZTAG")
    let one = try salvage()
    #expect(one.gone == [:] && one.objects > 0)
    #expect(!one.isLossy)
    FileSystem.remove(folder.path("Saved.sqlite"))
    FileSystem.removeTree(folder.path(".Saved_SUPPORT"))
    try change(tables.map { "DELETE FROM \($0)" }.joined(separator: "; "))
    let none = try salvage()
    #expect(none.objects == 0 && none.isLossy)
    #expect(none.remarks.contains { $0.text == "No object was found." })
  }

  @Test("a store that another program changes meanwhile is not called saved")
  func changedMeanwhile() throws {
    var isChanged = false
    let report = try salvage {
      guard !isChanged else { return }
      isChanged = true
      try? change("UPDATE ZTAG SET Z_OPT = Z_OPT + 1")
    }
    #expect(isChanged && report.isChanged && report.isLossy)
  }

  @Test("files that objects name and that are not there make no whole store")
  func missingFiles() throws {
    FileSystem.removeTree(folder.path(".Demo_SUPPORT"))
    let report = try salvage()
    #expect(report.missingFiles != nil && !report.isLossy && !report.isWhole)
  }
}
