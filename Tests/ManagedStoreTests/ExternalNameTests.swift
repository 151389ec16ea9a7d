import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore

/// The names of files that rows have, as the pages tell them and as SQLite does.
@Suite("Names of external data, read from pages")
struct ExternalNameTests {
  private static let model = """
    <model><entity name="Photo">
    <attribute name="data" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
    <attribute name="note" optional="YES" attributeType="String"/>
    <attribute name="thumb" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
    </entity></model>
    """

  private func store(_ folder: TemporaryFolder, _ sql: String = "") throws -> Store {
    let path = folder.path("Photos.sqlite")
    let writer = try StoreWriter(creating: path, model: Model(contents: Array(Self.model.utf8)))
    for index in 0..<3_000 {
      try writer.insert(
        "Photo",
        attributes: [
          "note": .string(String(repeating: "\u{2}", count: index % 9 == 0 ? 9_000 : 20))
        ]
      )
    }
    try writer.finish()
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      """
      UPDATE ZPHOTO SET ZDATA = CAST(x'02' || 'file' || Z_PK || x'00' AS BLOB) WHERE Z_PK % 7 = 0;
      UPDATE ZPHOTO SET ZDATA = x'01' || zeroblob(300) WHERE Z_PK % 7 = 1;
      UPDATE ZPHOTO SET ZDATA = CAST(x'02' AS TEXT) || 'text' WHERE Z_PK % 7 = 2;
      UPDATE ZPHOTO SET ZTHUMB = CAST(x'02' || 'thumb' || Z_PK || x'00' AS BLOB) WHERE Z_PK % 5 = 0;
      UPDATE ZPHOTO SET ZTHUMB = x'' WHERE Z_PK % 5 = 1;
      \(sql)
      """)
    connection.close()
    return try Store(path: path)
  }

  private func names(
    _ store: Store
  ) throws -> (told: [ExternalName]?, asked: [ExternalName]) {
    let columns =
      (store.database.tables["ZPHOTO"] ?? []).map(\.name).filter {
        ["ZDATA", "ZTHUMB"].contains($0)
      }
    let scan = try store.externalScan(of: "ZPHOTO", columns)
    let told = try store.externalNames(of: "ZPHOTO", columns, told: scan)
    return (
      told,
      try store.askedExternalNames(of: "ZPHOTO", columns).sorted {
        ($0.key, $0.column) < ($1.key, $1.column)
      }
    )
  }

  @Test("both ways find the same names, also of rows that go on on other pages")
  func agreement() throws {
    let folder = try TemporaryFolder()
    let store = try store(folder)
    let (told, asked) = try names(store)
    #expect(told == asked)
    #expect(asked.count == 428 + 600)
    #expect(asked.contains(ExternalName(key: 7, column: 0, name: "file7")))
    #expect(try store.externalData().referenced == 428 + 600)
    #expect(try store.externalFiles().report.missing.count == 428 + 600)
  }

  @Test("a column with a default is left to SQLite")
  func defaults() throws {
    let folder = try TemporaryFolder()
    let store = try store(
      folder,
      """
      ALTER TABLE ZPHOTO DROP COLUMN ZTHUMB;
      ALTER TABLE ZPHOTO ADD COLUMN ZTHUMB BLOB DEFAULT x'0261626300';
      """)
    #expect(try store.externalScan(of: "ZPHOTO", ["ZTHUMB"]) == nil)
    #expect(try store.externalData().orphaned.isEmpty)
    #expect(try names(store).asked.contains { $0.name == "abc" })
    #expect(try store.externalData().referenced == 428 + 1)
  }

  @Test("rows from before a column came have no file in it")
  func shortRows() throws {
    let folder = try TemporaryFolder()
    let store = try store(
      folder,
      "ALTER TABLE ZPHOTO DROP COLUMN ZTHUMB; ALTER TABLE ZPHOTO ADD COLUMN ZTHUMB BLOB;")
    let (told, asked) = try names(store)
    #expect(told == asked)
    #expect(asked.count == 428)
  }

  @Test("a leaf that is gone is told by nobody's reading of pages")
  func damaged() throws {
    let folder = try TemporaryFolder()
    _ = try store(folder)
    let path = folder.path("Photos.sqlite")
    let reader = try Connection(path: path, mode: .immutable)
    let size = Int(try reader.value("PRAGMA page_size")?.integer ?? 0)
    reader.close()
    var bytes = try FileSystem.read(path)
    // The first leaf of rows behind the schema's page and the table's root.
    let leaf = try #require(
      stride(from: 2 * size, to: bytes.count, by: size).first { bytes[$0] == 13 })
    for index in leaf..<leaf + size { bytes[index] = 0 }
    try FileSystem.write(bytes, to: path)
    let store = try Store(path: path)
    // What is read is a private copy of the rest, or SQLite fails by itself.
    #expect(store.damage != nil)
    #expect(try store.externalScan(of: "ZPHOTO", ["ZDATA"]) == nil)
    #expect(try store.externalData().referenced > 0)
  }
}
