import Files
import ManagedModel
import ManagedStore
import Rescue
import SQLite
import TestSupport
import Testing

@testable import Anonymizing
@testable import DataMasking

@Suite("A store with other values")
struct StoreAnonymizationTests {
  private let folder: TemporaryFolder
  private let path: String
  private var output: String { folder.path("Send.sqlite") }

  private static let secrets = [
    "Anna Schmidt", "anna.schmidt@example.com", "https://example.com/anna", "Geheimer Text",
    "Archived secret of Anna", "Tombstone of Anna", "Deleted secret", "own table secret",
    "com.example.author", "KeyOfAnnasApp", "External secret",
  ]

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("App.sqlite")
    let writer = try StoreWriter(creating: path, model: Self.model())
    let note = try writer.insert("Note", attributes: ["text": .string("Geheimer Text")])
    let picture = Array("External secret ".utf8) + [UInt8](repeating: 7, count: 200_000)
    for number in 0..<60 {
      var values: [String: AttributeValue] = [
        "name": .string("Anna Schmidt \(number)"), "mail": .string("anna.schmidt@example.com"),
        "link": .uri("https://example.com/anna/\(number)"), "count": .integer(Int64(number * 13)),
        "day": .date(600_000_000 + Double(number) * 86_400.5), "price": .decimal("\(number).25"),
        "id": .uuid((0..<16).map { UInt8(($0 * 31 + number * 7) & 255) }),
        "code": .string("ID-\(1000 + number)"), "isDone": .boolean(number.isMultiple(of: 2)),
      ]
      if number < 3 { values["picture"] = .bytes(picture + [UInt8(number)]) }
      if number < 20 { values["archive"] = .bytes(Self.archive(number)) }
      if number.isMultiple(of: 5) { values["note"] = .string("Geheimer Text") }
      try writer.insert(
        "Item", attributes: values, toOne: number.isMultiple(of: 3) ? ["first": note] : [:])
    }
    try writer.finish()
    try Self.extend(path)
  }

  private static func model() throws -> Model {
    var item = Entity("Item")
    func attribute(
      _ name: String, _ type: AttributeType, _ change: (inout Attribute) -> Void = { _ in }
    ) -> Attribute {
      var attribute = Attribute(name, type, optional: true)
      change(&attribute)
      return attribute
    }
    item.attributes = [
      attribute("name", .string), attribute("mail", .string), attribute("link", .uri),
      attribute("count", .integer32) { $0.validation.maximum = "900" }, attribute("day", .date),
      attribute("price", .decimal), attribute("id", .uuid),
      attribute("code", .string) { $0.validation.pattern = "ID-[0-9]{4}" },
      attribute("isDone", .boolean), attribute("archive", .transformable),
      attribute("note", .string),
      attribute("picture", .binary) { $0.allowsExternalBinaryDataStorage = true },
      attribute("upper", .string) { $0.derivation = .init(expression: "uppercase:(name)") },
    ]
    item.uniquenessConstraints = [["code"], ["count"]]
    item.relationships = [Relationship("first", to: "Note", inverse: "items", optional: true)]
    var note = Entity("Note")
    note.attributes = [attribute("text", .string)]
    note.relationships = [
      Relationship("items", to: "Item", inverse: "first", toMany: true, optional: true)
    ]
    return try Model(entities: [item, note])
  }

  private static func archive(_ number: Int) -> [UInt8] {
    let objects: [PropertyListValue] = [
      .string("$null"),
      .dictionary([
        "$class": .uid(3), "title": .uid(2), "number": .integer(Int64(number) + 400),
        "seconds": .real(1234.5),
      ]),
      .string("Archived secret of Anna \(number)"),
      .dictionary([
        "$classname": .string("TestHolder"),
        "$classes": .array([.string("TestHolder"), .string("NSObject")]),
      ]),
    ]
    return PropertyList.binary(
      .dictionary([
        "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
        "$top": .dictionary(["root": .uid(1)]), "$objects": .array(objects),
      ]))
  }

  /// What apps and Core Data itself add to a store.
  private static func extend(_ path: String) throws {
    let connection = try Connection(path: path, mode: .readWrite)
    try StoreFunctions.define(on: connection)
    for name in [
      "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
      "NSCoreDataDATriggerUpdatedAffectedObjectValue",
    ] {
      try connection.defineNullFunction(name)
    }
    connection.fireTriggers(false)
    try connection.execute("PRAGMA secure_delete = OFF")
    try connection.execute("UPDATE ZITEM SET ZUPPER = strata_case(ZNAME, 'upper')")
    try connection.execute(
      """
      CREATE TABLE AppTable (id INTEGER PRIMARY KEY AUTOINCREMENT, note TEXT UNIQUE);
      INSERT INTO AppTable (note) VALUES ('an own table secret'), ('another own table secret');
      CREATE VIRTUAL TABLE AppSearch USING fts5(body);
      INSERT INTO AppSearch VALUES ('searchable own table secret');
      CREATE VIRTUAL TABLE AppPlaces USING rtree(id, minX, maxX);
      INSERT INTO AppPlaces VALUES (1, 2, 3);
      CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
        ZAUTHORTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZQUERYGEN BLOB);
      CREATE TABLE ATRANSACTIONSTRING (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
        ZNAME VARCHAR);
      CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
        ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER,
        ZCOLUMNS BLOB, ZTOMBSTONE0 BLOB);
      INSERT INTO ATRANSACTIONSTRING VALUES (1, 16003, 1, 'com.example.author'),
        (2, 16003, 1, 'NSCloudKitMirroringDelegate.import');
      INSERT INTO ATRANSACTION VALUES (1, 16002, 1, 1, 600000000.5, NULL, NULL),
        (2, 16002, 1, 2, 600000100.5, NULL, NULL);
      INSERT INTO ACHANGE VALUES (1, 16001, 1, 1, 1, 3, 1, x'40', NULL),
        (2, 16001, 1, 2, 1, 99, 2, NULL, 'Tombstone of Anna');
      CREATE TABLE Gone (a TEXT);
      INSERT INTO Gone VALUES ('Deleted secret'), (hex(zeroblob(20000)));
      DROP TABLE Gone;
      """)
    var metadata = try StoreMetadata(connection, path: path)
    metadata.values["KeyOfAnnasApp"] = .string("anna.schmidt@example.com")
    try connection.run(
      "UPDATE Z_METADATA SET Z_PLIST = ?",
      [.blob(PropertyList.binary(.dictionary(metadata.values)))])
  }

  @discardableResult
  private func anonymized(
    _ change: (inout StoreAnonymization.Options) -> Void = { _ in }, to output: String? = nil
  ) throws -> AnonymizationReport {
    var options = StoreAnonymization.Options()
    change(&options)
    return try StoreAnonymization.run(
      Store(path: path), to: output ?? self.output, options: options)
  }

  private func rows(_ sql: String, _ path: String) throws -> [[Value]] {
    let connection = try Connection(path: path, mode: .immutable)
    try StoreFunctions.define(on: connection)
    return try connection.rows(sql)
  }

  private func expectSame(
    _ sql: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let (before, after) = (try rows(sql, path), try rows(sql, output))
    #expect(!before.isEmpty && before == after, sourceLocation: sourceLocation)
  }

  /// All bytes of the new store and of the files beside it.
  private func bytes() throws -> [UInt8] {
    let data = StoreFiles(path: output).externalDataFolder
    return try FileSystem.list(data).reduce(FileSystem.read(output)) {
      try $0 + FileSystem.read(data + "/" + $1) + Array($1.utf8)
    }
  }

  @Test("keys, references, counts, lengths, duplicates and the schema stay")
  func structure() throws {
    let report = try anonymized()
    #expect(report.entities.map(\.objects) == [60, 1])
    try expectSame("SELECT Z_PK, Z_ENT, Z_OPT, ZFIRST, ZISDONE FROM ZITEM ORDER BY 1")
    try expectSame(
      "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite%' ORDER BY 2")
    try expectSame(
      """
      SELECT length(CAST(ZNAME AS BLOB)), length(ZLINK), length(ZID), length(ZARCHIVE),
      ZNOTE IS NULL, length(ZPICTURE), length(ZNOTE) FROM ZITEM ORDER BY Z_PK
      """)
    for column in ["ZNAME", "ZMAIL", "ZLINK", "ZCOUNT", "ZPRICE", "ZID", "ZCODE", "ZNOTE"] {
      try expectSame("SELECT count(DISTINCT \(column)), count(\(column)) FROM ZITEM")
    }
    for column in ["ZCOUNT", "ZDAY", "ZPRICE"] {
      try expectSame("SELECT Z_PK FROM ZITEM ORDER BY \(column), Z_PK")
    }
    try expectSame("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY")
    try expectSame(
      "SELECT Z_PK, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS FROM ACHANGE")
    // A value that stands in two columns does so afterwards.
    let notes = try rows("SELECT DISTINCT ZNOTE FROM ZITEM WHERE ZNOTE IS NOT NULL", output)
    #expect(try notes == rows("SELECT ZTEXT FROM ZNOTE", output))
    #expect(try rows("PRAGMA freelist_count", output) == [[.integer(0)]])
    #expect(try rows("PRAGMA integrity_check", output) == [[.text("ok")]])
  }

  @Test("no text of the original is left anywhere")
  func nothingLeft() throws {
    let before = try FileSystem.read(path)
    try anonymized()
    let bytes = try bytes()
    for secret in Self.secrets {
      #expect(!Self.contains(bytes, Array(secret.utf8)), "\(secret)")
      let wide = secret.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
      #expect(!Self.contains(bytes, wide), "\(secret)")
    }
    #expect(Self.contains(before, Array("Deleted secret".utf8)))
    #expect(try FileSystem.read(path) == before)
    let own = try Set(FileSystem.list(StoreFiles(path: path).externalDataFolder))
    let other = try Set(FileSystem.list(StoreFiles(path: output).externalDataFolder))
    #expect(own.count == 3 && other.count == 3 && own.isDisjoint(with: other))
    #expect(try Store(path: output).externalData().missing == [])
  }

  private static func contains(_ bytes: [UInt8], _ text: [UInt8]) -> Bool {
    guard let first = text.first, bytes.count >= text.count else { return false }
    return bytes.withUnsafeBufferPointer { bytes in
      (0...bytes.count - text.count).contains { place in
        bytes[place] == first && (0..<text.count).allSatisfy { bytes[place + $0] == text[$0] }
      }
    }
  }

  @Test("every value is another but truth values, and rules hold")
  func values() throws {
    try anonymized()
    for column in [
      "ZNAME", "ZMAIL", "ZLINK", "ZDAY", "ZPRICE", "ZID", "ZCODE", "ZARCHIVE", "ZPICTURE",
    ] {
      let sql = "SELECT \(column) FROM ZITEM WHERE \(column) IS NOT NULL ORDER BY Z_PK"
      for (one, two) in zip(try rows(sql, path), try rows(sql, output)) { #expect(one != two) }
    }
    let codes = try rows("SELECT ZCODE FROM ZITEM", output).compactMap { $0[0].text }
    #expect(
      codes.count == 60 && codes.allSatisfy { $0.hasPrefix("ID-") && Int($0.dropFirst(3)) != nil })
    #expect(try rows("SELECT max(ZCOUNT) <= 900 FROM ZITEM", output) == [[.integer(1)]])
    #expect(
      try rows("SELECT count(*) FROM ZITEM WHERE ZUPPER IS strata_case(ZNAME, 'upper')", output)
        == [[.integer(60)]])
    let author = try rows("SELECT ZNAME FROM ATRANSACTIONSTRING ORDER BY Z_PK", output)
    #expect(author[0] != [.text("com.example.author")])
    #expect(author[1] == [.text("NSCloudKitMirroringDelegate.import")])
    let metadata = try Store(path: output).metadata
    let former = try Store(path: path).metadata
    #expect(metadata.uuid != former.uuid && metadata.values["KeyOfAnnasApp"] == nil)
    #expect(metadata.values.count == former.values.count)
    #expect(metadata.versionHashes == former.versionHashes)
    for row in try rows("SELECT ZARCHIVE FROM ZITEM WHERE ZARCHIVE IS NOT NULL", output) {
      let archive = try KeyedArchive(try #require(row[0].blob))
      #expect(archive.objects.count == 4)
    }
  }

  @Test("tables of an app's own are empty, and work; or they are copied on request")
  func ownTables() throws {
    let report = try anonymized()
    #expect(report.ownTables.map(\.name) == ["AppPlaces", "AppSearch", "AppTable"])
    #expect(report.ownTables.last?.rows == 2)
    let connection = try Connection(path: output, mode: .readWrite, isDefensive: false)
    for table in ["AppTable", "AppSearch", "AppPlaces"] {
      #expect(try connection.value("SELECT count(*) FROM \(table)")?.integer == 0)
    }
    try connection.execute(
      "INSERT INTO AppSearch VALUES ('new words'); INSERT INTO AppPlaces VALUES (1, 2, 3)")
    try connection.execute("INSERT INTO AppSearch(AppSearch) VALUES ('integrity-check')")
    #expect(try connection.value("SELECT rowid FROM AppSearch('words')")?.integer == 1)
    #expect(try connection.value("SELECT rtreecheck('AppPlaces')")?.text == "ok")
    connection.close()
    let kept = folder.path("Kept.sqlite")
    #expect(try anonymized({ $0.keepsOwnTables = true }, to: kept).keepsOwnTables)
    #expect(
      try rows("SELECT count(*) FROM AppTable WHERE note LIKE '%secret'", kept) == [[.integer(2)]])
  }

  @Test("a named attribute stays, and an unknown one is refused")
  func keep() throws {
    let report = try anonymized { $0.keep = ["Item.name", "Item.picture"] }
    #expect(report.kept == ["Item.name", "Item.picture"])
    try expectSame("SELECT ZNAME, ZUPPER IS NOT NULL FROM ZITEM ORDER BY Z_PK")
    #expect(Self.contains(try bytes(), Array("External secret".utf8)))
    #expect(!Self.contains(try bytes(), Array("anna.schmidt@".utf8)))
    for name in ["Item", "Nobody.name", "Item.nothing", "Item.first"] {
      #expect(throws: CoreDataError.self) {
        try anonymized({ $0.keep = [name] }, to: folder.path("No.sqlite"))
      }
    }
    #expect(FileIdentity(of: folder.path("No.sqlite")) == nil)
  }

  @Test("doctor says the same of both")
  func doctor() throws {
    try anonymized()
    func findings(_ path: String) throws -> [String] {
      try Diagnosis(of: path).findings
        .filter { ![.deletions, .freelist].contains($0.kind) }
        .map { "\($0.kind) \($0.entity ?? "") \($0.property ?? "") \($0.count ?? 0)" }.sorted()
    }
    #expect(try findings(path) == findings(output))
  }

  @Test("two runs share no long text; a seed gives the same twice")
  func seeds() throws {
    let others = ["A", "B", "C", "D"].map { folder.path($0 + ".sqlite") }
    for (index, path) in others.enumerated() {
      try anonymized({ if index > 1 { $0.seed = "a seed" } }, to: path)
    }
    let names = try others.map { try rows("SELECT ZNAME FROM ZITEM ORDER BY Z_PK", $0) }
    #expect(Set(names[0]).isDisjoint(with: names[1]))
    #expect(Set(names[0]).isDisjoint(with: names[2]))
    #expect(names[2] == names[3] && names[2].count == 60)
  }

  @Test("nothing is left of a run that is cancelled, and a name that is taken is refused")
  func cancelled() throws {
    var asked = 0
    #expect(throws: CoreDataError.self) {
      try StoreAnonymization.run(
        Store(path: path), to: output,
        isCancelled: {
          asked += 1
          return asked > 3
        })
    }
    let names = try FileSystem.list(folder.path)
    #expect(!names.contains { $0.contains("Send") || $0.hasPrefix(".strata") }, "\(names)")
    try anonymized()
    #expect(throws: CoreDataError.self) { try anonymized() }
  }

  @Test("a damaged store is refused")
  func damaged() throws {
    var bytes = try FileSystem.read(path)
    let root = try #require(
      try rows("SELECT rootpage FROM sqlite_master WHERE name = 'ZITEM'", path)[0][0].integer)
    let start = (Int(root) - 1) * 4096
    for place in start..<start + 200 { bytes[place] = 0xEE }
    let damaged = folder.path("Damaged.sqlite")
    try FileSystem.create(damaged, holding: bytes)
    let error = #expect(throws: CoreDataError.self) {
      try StoreAnonymization.run(Store(path: damaged), to: output)
    }
    #expect(error?.kind == .refused && error?.message.contains("damaged") == true)
    #expect(FileIdentity(of: output) == nil)
  }
}

@Suite("Data of the same kind")
struct DataPseudonymTests {
  private let data = DataPseudonyms(Pseudonyms(key: [9]))

  @Test("what begins as a file of a kind does so afterwards, with the size of pictures")
  func files() throws {
    let png: [UInt8] =
      [
        0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 2, 128,
        0, 0, 1,
      ]
      + [224, 8, 2, 0, 0, 0] + Array("tEXtAuthor Anna".utf8)
    let jpeg: [UInt8] =
      [0xFF, 0xD8, 0xFF, 0xE1, 0, 10] + Array("Exif Ann".utf8)
      + [0xFF, 0xC0, 0, 11, 8, 1, 224, 2, 128, 1, 1, 0x11, 0] + [UInt8](repeating: 65, count: 200)
    for bytes in [
      png, jpeg, Array("%PDF-1.7 of Anna".utf8), Array("{\"a\": \"Anna\"}".utf8), [1], [0, 255],
    ] {
      let other = data.data(bytes)
      #expect(other.count == bytes.count && other != bytes)
      #expect(DataKind(other) == DataKind(bytes))
    }
    #expect(data.data([]) == [])
  }

  @Test("gzip keeps its length, and is unpacked to other content of the kind", arguments: [1, 2])
  func gzip(_ layers: Int) throws {
    let text = #"{"name": "Anna Schmidt", "list": [1, 2, 3], "again": "Anna Schmidt"}"#
    var bytes = Array(String(repeating: text, count: 1).utf8)
    for _ in 0..<layers { bytes = Self.packed(bytes) }
    let other = data.data(bytes)
    #expect(other.count == bytes.count && other != bytes)
    let decoded = DecodedData(other)
    #expect(decoded.problem == nil && decoded.layers == layers || data.shortened == 1)
    #expect(!String(decoding: decoded.bytes, as: UTF8.self).contains("Anna"))
    #expect(DecodedData(other).problem == nil)
  }

  /// A gzip whose content is not packed.
  private static func packed(_ content: [UInt8]) -> [UInt8] {
    let count = content.count
    var result: [UInt8] =
      [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255, 1, UInt8(count & 255), UInt8(count >> 8)]
      + [~UInt8(count & 255), ~UInt8(count >> 8)] + content
    var sum: UInt32 = 0xFFFF_FFFF
    for byte in content {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
    }
    result.append(number: ~sum)
    result.append(number: UInt32(count))
    return result
  }

  @Test("an archive that cannot be read becomes bytes that cannot be read")
  func unreadable() throws {
    let bytes = Array("bplist00 with a text of Anna and no trailer".utf8)
    let other = data.data(bytes)
    #expect(other.count == bytes.count && other.starts(with: Array("bplist00".utf8)))
    #expect(other.dropFirst(8) != bytes.dropFirst(8) && data.unreadable == 1)
  }

  @Test("any bytes become as many bytes")
  func anything() throws {
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<300 {
      var bytes = Fuzzed.bytes(&generator)
      if bytes.count % 3 == 0 { bytes = Array("bplist00".utf8) + bytes }
      if bytes.count % 5 == 0 { bytes = [0x1F, 0x8B, 8] + bytes }
      #expect(data.data(bytes).count == bytes.count)
    }
  }

  private enum Fuzzed {
    static func bytes(_ generator: inout SeededGenerator) -> [UInt8] {
      (0..<Int.random(in: 0...120, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
    }
  }
}
