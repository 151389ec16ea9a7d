import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Commands

@Suite("Values that nothing wrote on purpose")
struct OddValueTests {
  private func store(in folder: TemporaryFolder) throws -> String {
    var thing = Entity("Thing")
    var photo = Attribute("photo", .binary, optional: true)
    photo.allowsExternalBinaryDataStorage = true
    thing.attributes = [
      Attribute("text", .string, optional: true), Attribute("date", .date, optional: true),
      Attribute("price", .decimal, optional: true), Attribute("number", .double, optional: true),
      photo,
    ]
    let path = folder.path("Odd.sqlite")
    let writer = try StoreWriter(creating: path, model: Model(entities: [thing]))
    for _ in 1...6 { try writer.insert("Thing") }
    try writer.finish()
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute(
      """
      PRAGMA journal_mode = DELETE;
      UPDATE ZTHING SET ZTEXT = CAST(x'6148FF4B' AS TEXT), ZDATE = 9e999, ZNUMBER = -9e999
        WHERE Z_PK = 1;
      UPDATE ZTHING SET ZTEXT = 'whole ' || char(65533), ZDATE = 1e300, ZPRICE = 0.1,
        ZNUMBER = -9223372036854775808.0 WHERE Z_PK = 2;
      UPDATE ZTHING SET ZDATE = -63114076800.5, ZPRICE = 9007199254740993 WHERE Z_PK = 3;
      UPDATE ZTHING SET ZDATE = 'soon', ZPRICE = x'3132', ZNUMBER = 'many' WHERE Z_PK = 4;
      UPDATE ZTHING SET ZPHOTO = x'02' || CAST('AB-12' || char(0) AS BLOB) WHERE Z_PK = 5;
      UPDATE ZTHING SET ZPHOTO = x'02' || CAST('../../etc/passwd' || char(0) AS BLOB),
        ZPRICE = 'twelve' WHERE Z_PK = 6;
      """)
    connection.close()
    return path
  }

  @Test("what fits no attribute is shown as it is, everywhere, and nothing is lost in a dump")
  func odd() throws {
    let folder = try TemporaryFolder()
    let path = try store(in: folder)
    let dump = Captured("dump", path, "--blobs").lines.map(String.init)
    #expect(dump.count == 6)
    #expect(dump[0].contains(#""date":"inf","number":"-inf""#))
    #expect(dump[0].contains(#""text":{"base64":"YUj/Sw=="}"#))
    #expect(dump[1].contains(#""date":1e+300"#) && dump[1].contains(#""text":"whole \#u{FFFD}""#))
    #expect(dump[1].contains(#""price":"0.1""#))
    // The least Int64 has no absolute value that is one.
    #expect(dump[1].contains("\"number\":-9.2233720368547"))
    #expect(dump[2].contains(#""price":"9007199254740993""#))
    #expect(dump[2].contains(#""date":-63114076800.5"#))
    #expect(dump[3].contains(#""date":"soon","number":"many""#))
    #expect(dump[4].contains(#""photo":{"missing":true}"#))
    #expect(dump[5].contains(#""photo":{"missing":true}"#))
    let table = Captured("rows", path, "Thing")
    #expect(table.status == .done)
    #expect(table.out.contains("! not UTF-8: aH\u{FFFD}K"))
    #expect(table.out.contains("! file missing"))
    for key in 1...6 {
      #expect(Captured("object", path, "Thing/p\(key)").status == .done)
      #expect(Captured("object", path, "Thing/p\(key)", "--json").status == .done)
    }
    #expect(Captured("object", path, "Thing/p5").out.contains("! the file AB-12 is missing"))
  }

  @Test("odd values can be filtered and sorted")
  func filtered() throws {
    let folder = try TemporaryFolder()
    let store = try Store(path: store(in: folder))
    for (text, keys) in [
      ("text CONTAINS \"K\"", [1]), ("text MATCHES \"aH.K\"", [1]),
      ("date > CAST(1e299, \"NSDate\")", [1, 2, 4]), ("date < \"0001-01-02\"", [3]),
      ("number < -1e308", [1]), ("price == \"9007199254740993\"", [3]),
      ("price > \"9007199254740992.5\"", [3]), ("price == nil", [1, 5]),
    ] as [(String, [Int64])] {
      let filter = try RowFilter(text, entity: "Thing", store: store)
      let page = try store.rows(RowQuery(entity: "Thing", filter: filter))
      #expect(page.rows.map(\.id.key) == keys, "\(text)")
    }
    for property in ["date", "price", "number", "text", "photo"] {
      var seen: [Int64] = []
      var query = RowQuery(entity: "Thing", sort: .init(property: property), limit: 1)
      while let row = try store.rows(query).rows.first, seen.count < 10 {
        seen.append(row.id.key)
        query.anchor = .after(row.cursor)
      }
      #expect(seen.sorted() == [1, 2, 3, 4, 5, 6], "\(property)")
      #expect(try store.cursor(at: 3, in: query)?.key == seen[3])
    }
  }
}
