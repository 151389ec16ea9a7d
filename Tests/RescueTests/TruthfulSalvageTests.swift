import Demo
import Files
import Interface
import ManagedModel
import ManagedStore
import Reports
import SQLite
import TestSupport
import Testing

@testable import Rescue
@testable import Salvage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

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
    let lost = report.remarks.filter { $0.mark == .warning }.map(\.text.typed)
    #expect(lost.contains { $0.hasPrefix("Tag: its table is missing") })
    #expect(
      report.remarks.contains {
        $0.mark == .warning && $0.text.typed.hasSuffix("strata undelete \(path)")
      })
  }

  @Test("a table that is gone comes back with its rows and indexes, and what came back is no loss")
  func goneTableUndeleted() throws {
    func schema(_ path: String) throws -> Set<String> {
      let rows = try Connection(path: path, mode: .immutable).rows(
        "SELECT type || ' ' || name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")
      return Set(rows.compactMap { $0.first?.text })
    }
    let lines = try StoreDump.lines(at: path)
    let before = try schema(path)
    try change("PRAGMA secure_delete = OFF; DROP TABLE ZSTEP")
    #expect(before.contains("index ZSTEP_ZRECIPE_INDEX"))
    _ = try salvage()
    #expect(try schema(folder.path("Saved.sqlite")) == before)
    let output = folder.path("Back.sqlite")
    let report = try Restoration(Undeletion(of: path)).run(.all(entity: nil), output: output)
    #expect(report.restored.keys.sorted() == ["Step"] && report.salvage.gone == [:])
    #expect(try !report.isLossy && schema(output) == before && StoreDump.lines(at: output) == lines)
    let some = folder.path("Some.sqlite")
    let first = try #require(report.back["Step"]?.first)
    let one = try Restoration(Undeletion(of: path)).run(
      .only([ObjectID(entity: "Step", key: first)]), output: some)
    #expect(one.isLossy && one.salvage.gone["Step"] == (report.restored["Step"] ?? 0) - 1)
    let lost = one.salvage.remarks.filter { $0.mark == .warning }.map(\.text.typed)
    #expect(lost.allSatisfy { !$0.contains("strata undelete") }, "\(lost)")
  }

  @Test("the same of a store without a model, with a command that can be pasted")
  func goneTableWithoutModel() throws {
    let most = try Connection(path: path, mode: .immutable).value(
      "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Ingredient'")?.integer.map { Int($0) }
    // Two entities share this table: the one at the top stands for both.
    try change("PRAGMA secure_delete = OFF; DROP TABLE ZINGREDIENT; DROP TABLE Z_MODELCACHE")
    let report = try salvage()
    #expect(most != nil && report.gone == most.map { ["Ingredient": $0] } && report.isLossy)
    let command = "strata undelete \(path) --model MODEL"
    #expect(report.remarks.contains { $0.mark == .warning && $0.text.typed.hasSuffix(command) })
    let findings = try Diagnosis(of: path).findings.filter { $0.kind == .tableMissing }
    #expect(findings.map { $0.command?.typed } == [command] && findings.map(\.severity) == [.error])
    #expect(findings.allSatisfy { $0.first == ["ZINGREDIENT of Ingredient"] })
  }

  @Test("without a model, a table that never held an object is no loss")
  func emptyTableWithoutModel() throws {
    try change(
      """
      DELETE FROM ZTAG; UPDATE Z_PRIMARYKEY SET Z_MAX = 0 WHERE Z_NAME = 'Tag'; DROP TABLE ZTAG;
      DROP TABLE Z_MODELCACHE
      """)
    #expect(try salvage().gone == [:])
    let finding = try Diagnosis(of: path).findings.first { $0.kind == .tableMissing }
    #expect(finding?.command?.typed == "strata repair \(path) --fix table-missing --model MODEL")
    var options = RepairOptions()
    options.kinds = [.tableMissing]
    let error = #expect(throws: CoreDataError.self) {
      _ = try StoreRepair.run(path: path, options: options)
    }
    #expect(
      error?.kind == .refused && error?.message.contains("there is no model to rebuild") == true)
  }

  @Test("without model and metadata the report still says whose the rows are")
  func tablesWithoutModel() throws {
    try change("DROP TABLE Z_MODELCACHE; DELETE FROM Z_METADATA")
    let tags = try Connection(path: path, mode: .immutable).value("SELECT count(*) FROM ZTAG")?
      .integer.map { Int($0) }
    let report = try salvage()
    #expect(tags ?? 0 > 0)
    #expect(report.tables.contains { $0.entity == "Tag" && $0.rows == tags })
    #expect(report.tables.allSatisfy { $0.entity != nil || !$0.name.hasPrefix("ZRECIPE") })
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
    #expect(none.remarks.contains { $0.text.typed == "No object was found." })
    #expect(!none.isOfEmptyStore)
  }

  @Test(
    "of a store in which no object was ever saved, a -wal may be missing: that is said, and never ✓",
    arguments: ["UPDATE Z_PRIMARYKEY SET Z_MAX = 0", "DELETE FROM Z_PRIMARYKEY"])
  func neverAnObject(sql: String) throws {
    let tables = try Store(path: path).entityTables.filter(\.isWholeTable).map(\.table)
    try change(tables.map { "DELETE FROM \($0)" }.joined(separator: "; ") + "; " + sql)
    let none = try salvage()
    #expect(none.objects == 0 && none.isOfEmptyStore)
    #expect(none.isLossy && !none.lacksRows)
    let told = none.remarks.filter { $0.mark == .warning }.map(\.text.typed)
    #expect(told.contains { $0.hasPrefix("No object was ever saved") }, "\(told)")
    #expect(!told.contains("No object was found."))
    let back = try Restoration(Undeletion(of: path)).run(
      .all(entity: nil), output: folder.path("Back.sqlite"))
    #expect(back.count == 0 && back.isLossy)
  }

  @Test("a page of such a store that cannot be read is a loss")
  func neverAnObjectButDamaged() throws {
    let tables = try Store(path: path).entityTables.filter(\.isWholeTable).map(\.table)
    try change(
      tables.map { "DELETE FROM \($0)" }.joined(separator: "; ")
        + "; UPDATE Z_PRIMARYKEY SET Z_MAX = 0")
    let connection = try Connection(path: path, mode: .readOnly)
    let root = try connection.value("SELECT rootpage FROM sqlite_master WHERE name = 'ZTAG'")
    connection.close()
    let page = Int(try #require(root?.integer))
    var bytes = try FileSystem.read(path)
    for index in (page - 1) * 4096..<page * 4096 { bytes[index] = 0xA5 }
    try FileSystem.write(bytes, to: path)
    let report = try salvage()
    #expect(report.isLossy && !report.isOfEmptyStore)
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

  @Test(
    "text that is not UTF-8 is not what an app saved: it is told as lost, and the rest of its row is kept"
  )
  func garbledText() throws {
    try change("UPDATE ZTAG SET ZNAME = CAST(x'48FF80' AS TEXT) WHERE Z_PK = 2")
    let before = try Connection(path: path, mode: .immutable).rows(
      "SELECT Z_PK, Z_ENT, Z_OPT FROM ZTAG ORDER BY Z_PK")
    let report = try salvage()
    #expect(report.isLossy)
    #expect(report.tables.first { $0.name == "ZTAG" }?.cut == [2: ["ZNAME"]])
    let saved = try Connection(path: folder.path("Saved.sqlite"), mode: .immutable)
    #expect(
      try saved.rows("SELECT Z_PK, Z_ENT, Z_OPT FROM ZTAG ORDER BY Z_PK") == before)
    #expect(try saved.rows("SELECT Z_PK FROM ZTAG WHERE ZNAME IS NULL") == [[.integer(2)]])
  }

  @Test("a row whose entity is not known is saved and told: no fetch finds it")
  func unfetched() throws {
    try change("UPDATE ZINGREDIENT SET Z_ENT = 99 WHERE Z_PK IN (3, 4)")
    let report = try salvage()
    #expect(report.unfetchedRows.count == 1 && report.isLossy)
    #expect(
      report.remarks.contains { $0.mark == .warning && $0.text.typed.contains("No fetch finds") })
    let saved = try Connection(path: folder.path("Saved.sqlite"), mode: .immutable)
    #expect(try saved.value("SELECT count(*) FROM ZINGREDIENT WHERE Z_ENT = 99") == .integer(2))
  }

  @Test("bytes that an app keeps as text in a table of its own are kept as they are")
  func garbledTextOfOthers() throws {
    try change("CREATE TABLE OWN (A TEXT); INSERT INTO OWN VALUES (CAST(x'48FF80' AS TEXT))")
    let report = try salvage()
    #expect(!report.isLossy)
    let saved = try Connection(path: folder.path("Saved.sqlite"), mode: .immutable)
    #expect(try saved.value("SELECT hex(A) FROM OWN") == .text("48FF80"))
  }

  @Test("files that objects name and that are not there make no whole store")
  func missingFiles() throws {
    FileSystem.removeTree(folder.path(".Demo_SUPPORT"))
    let report = try salvage()
    #expect(report.missingFiles != nil && !report.isLossy && !report.isWhole)
  }
}

@Suite("Salvage goes on after what cannot be read")
struct SalvageGoesOnTests {
  @Test("a cell without one column is a row that is lost, and the rest is saved")
  func emptyCell() throws {
    let store = try DamagedDemo()
    let root = try #require(store.roots["ZTAG"])
    try store.change { bytes in
      let start = (root - 1) * 4096
      let page = Array(bytes[start..<start + 4096])
      guard let tree = TreePage(page, number: root, usable: 4096),
        let place = tree.cells(in: page).first,
        let cell = TreeCell(page, at: place, present: 4096, usable: 4096)
      else { return }
      // The record's header is its own length alone.
      bytes[start + cell.start] = 1
    }
    let output = store.folder.path("Saved.sqlite")
    let report = try StoreSalvage.run(path: store.path, output: output)
    #expect(report.isLossy && report.unplaced + report.unreadable == 1)
    #expect(try StoreDump.lines(at: output).count == store.lines.count - 1)
    let undeletion = try Undeletion(of: store.path)
    let back = try Restoration(undeletion).run(
      .all(entity: nil), output: store.folder.path("Back.sqlite"))
    #expect(back.salvage.unplaced + back.salvage.unreadable == 1)
  }

  @Test("a file beside the store that cannot be read is listed, and the others come along")
  func unreadableFile() throws {
    guard geteuid() != 0 else {
      print("skipped: root may read every file")
      return
    }
    let store = try DamagedDemo()
    let data = store.folder.path(".Demo_SUPPORT/_EXTERNAL_DATA")
    let names = try FileSystem.list(data)
    let locked = try #require(names.first)
    chmod(data + "/" + locked, 0)
    let report = try StoreSalvage.run(
      path: store.path, output: store.folder.path("Saved.sqlite"))
    #expect(report.unreadableFiles.count == 1 && report.isLossy)
    #expect(
      try FileSystem.list(store.folder.path(".Saved_SUPPORT/_EXTERNAL_DATA"))
        == names.filter { $0 != locked })
  }
}
