import Files
import ManagedModel
import ManagedStore
import Migration
import SQLite
import TestSupport
import Testing

@testable import Editing

@Suite("Values that an edit sets")
struct EditedValueTests {
  /// A word as it is typed, and what the attribute is afterwards.
  static let values: [(word: String, property: String, value: String)] = [
    ("name=Soup", "name", "Soup"), ("small=-7", "small", "-7"), ("middle=70000", "middle", "70000"),
    ("large=9007199254740993", "large", "9007199254740993"), ("price=12.34", "price", "12.34"),
    ("weight=2.5e3", "weight", "2500.0"), ("ratio=0.75", "ratio", "0.75"),
    ("isDone=true", "isDone", "true"), ("day=2024-03-01T12:00:00Z", "day", "730987200.0"),
    ("day=123.5", "day", "123.5"), ("link=https://swift.org/a", "link", "https://swift.org/a"),
    ("id=00000000-0000-0000-0000-0000000000FF", "id", "000000ff"),
    ("small=null", "small", "∅"), ("day=null", "day", "∅"), ("data=null", "data", "∅"),
    ("place.street=Elm", "place.street", "Elm"), ("place.number=12", "place.number", "12"),
    ("middle=@number", "middle", "42"),
  ]

  @Test("of every type are what was typed, and nothing else changed")
  func everyType() throws {
    let scene = try EditScene()
    for (word, property, value) in Self.values {
      let before = try StoreDump.lines(at: scene.path)
      let done = try scene.edit("Item/p1", word) { _ in Array("42\n".utf8) }
      #expect(try scene.value("Item/p1", property).contains(value), "\(word)")
      let derived = property == "name" ? ["loud", "saved"] : ["saved"]
      #expect(
        done.lines == [(["~ Item/p1"] + ([property] + derived).sorted()).joined(separator: " ")])
      #expect(done.receipt.changed == 1 && done.receipt.deleted == 0)
      let after = try StoreDump.lines(at: scene.path)
      #expect(zip(before, after).filter { $0 != $1 }.count == 1 && before.count == after.count)
    }
    try scene.requireSound()
  }

  @Test("bytes come from a file or as Base64, and are marked where a file could hold them")
  func bytes() throws {
    let scene = try EditScene()
    let bytes = [UInt8](repeating: 9, count: 200_000)
    let archive = EditScene.archive
    try scene.edit(
      "Item/p1", "data=@picture", #"archive={"base64": "\#(ByteText.base64(archive))"}"#
    ) {
      #expect($0 == "picture")
      return bytes
    }
    let connection = try scene.connection()
    let column = try #require(try connection.value("SELECT ZDATA FROM ZITEM WHERE Z_PK = 1"))
    guard case .blob(let mark) = column, case .file(let name) = MarkedBytes(mark) else {
      throw CoreDataError(.failed, "the row names no file: \(column)")
    }
    let data = StoreFiles(path: scene.path).externalDataFolder
    #expect(try FileSystem.list(data) == [name])
    #expect(try FileSystem.read(data + "/" + name) == bytes)
    #expect(try connection.value("SELECT ZARCHIVE FROM ZITEM WHERE Z_PK = 1") == .blob(archive))
    connection.close()
    try scene.requireSound()
    // A new value is a new file, here and beside an output; the old one is the backup's.
    let other = [UInt8](repeating: 8, count: 150_000)
    let output = scene.folder.path("New.sqlite")
    let elsewhere = try scene.edit("Item/p2", "data=@picture", to: output) { _ in other }
    #expect(elsewhere.changes.first?.attributes.first?.new?.value.isReadable == true)
    #expect(try FileSystem.list(StoreFiles(path: output).externalDataFolder).count == 2)
    #expect(try FileSystem.list(data) == [name])
    try scene.requireSound(output)
    try scene.edit("Item/p1", "data=@picture") { _ in other }
    #expect(try FileSystem.list(data).count == 2)
    try scene.requireSound()
    _ = try StoreRollback.run(path: scene.path)
    #expect(try Store(path: scene.path).externalData().missing == [])
    let small = try scene.edit("Item/p1", #"data={"base64": "AQID"}"#)
    #expect(small.receipt.changed == 1)
    #expect(
      try scene.connection().value("SELECT ZDATA FROM ZITEM WHERE Z_PK = 1") == .blob([1, 1, 2, 3]))
  }

  @Test("text in quotes is read as JSON: null and @ can be texts")
  func quoted() throws {
    let scene = try EditScene()
    try scene.edit("Item/p1", #"place.street="null""#)
    #expect(
      try scene.connection().value("SELECT ZSTREET FROM ZITEM WHERE Z_PK = 1") == .text("null"))
    try scene.edit("Item/p1", #"place.street="@a \"b\"""#)
    #expect(
      try scene.connection().value("SELECT ZSTREET FROM ZITEM WHERE Z_PK = 1") == .text("@a \"b\""))
    try scene.edit("Item/p1", "place=null")
    #expect(try scene.value("Item/p1", "place.number") == "∅")
  }

  @Test("the version goes up by one, Z_MAX stays, derived attributes follow")
  func version() throws {
    let scene = try EditScene()
    let keys = try scene.connection().rows("SELECT * FROM Z_PRIMARYKEY ORDER BY 1")
    try scene.edit("Item/p1", "name=Cake")
    #expect(try scene.number("SELECT Z_OPT FROM ZITEM WHERE Z_PK = 1") == 8)
    #expect(try scene.number("SELECT Z_OPT FROM ZITEM WHERE Z_PK = 2") == 7)
    #expect(try scene.connection().rows("SELECT * FROM Z_PRIMARYKEY ORDER BY 1") == keys)
    #expect(try scene.value("Item/p1", "loud").contains("CAKE"))
    #expect(try scene.value("Item/p1", "saved") != "∅")
    #expect(try scene.value("Item/p2", "saved") == "∅")
  }

  @Test("a version that is the greatest whole number starts again, and stays one")
  func greatestVersion() throws {
    let scene = try EditScene()
    try scene.connection().execute("UPDATE ZITEM SET Z_OPT = \(Int64.max) WHERE Z_PK = 1")
    try scene.connection().execute("UPDATE ZITEM SET Z_OPT = NULL WHERE Z_PK = 2")
    try scene.edit(selection: .init("Item", where: "code < 3", [.init("middle", "9")]))
    #expect(try scene.number("SELECT Z_OPT FROM ZITEM WHERE Z_PK = 1") == 1)
    #expect(try scene.number("SELECT Z_OPT FROM ZITEM WHERE Z_PK = 2") == 1)
    try scene.requireSound()
  }

  @Test("a decimal that the store can keep only rounded is told with what is stored")
  func rounded() throws {
    let scene = try EditScene()
    let done = try scene.edit("Item/p1", "price=12345678901234567890.123456789", "small=2")
    let kept = try scene.value("Item/p1", "price")
    #expect(kept != "12345678901234567890.123456789")
    #expect(
      done.receipt.notes == [
        "Item/p1.price is stored as \(kept): SQLite keeps about 15 digits of a decimal"
      ])
    #expect(done.receipt.verified.first { $0.what.contains("requested") }?.count == 1)
    for price in ["-0012.340", "1.25e2", "0.1", "null"] {
      #expect(try scene.edit("Item/p1", "price=\(price)").receipt.notes == [], "\(price)")
    }
  }

  @Test("what is so already changes nothing")
  func nothing() throws {
    let scene = try EditScene()
    let before = try scene.folder.contents()
    let done = try scene.edit("Item/p1", "small=1", "owner=Person/p2", "tags+=Tag/p2")
    #expect(done.receipt.isNothing && done.changes == [])
    #expect(try scene.folder.contents() == before)
  }

  @Test("a dry run lists the same, and changes nothing; an output leaves the store alone")
  func elsewhere() throws {
    let scene = try EditScene()
    let before = try scene.folder.contents()
    let rehearsed = try scene.edit("Item/p1", "name=Cake", isRehearsal: true)
    #expect(rehearsed.receipt.resultPath == nil && rehearsed.receipt.bytesNeeded > 0)
    #expect(try scene.folder.contents() == before)
    let output = scene.folder.path("New.sqlite")
    let done = try scene.edit("Item/p1", "name=Cake", to: output)
    #expect(done.lines == rehearsed.lines && done.receipt.backupPath == nil)
    let after = try scene.folder.contents()
    #expect(after["App.sqlite"] == before["App.sqlite"])
    #expect(try scene.value("Item/p1", "name", at: output).contains("Cake"))
    try scene.requireSound(output)
  }

  @Test("wrong words are wrong usage, and name the property")
  func wrong() throws {
    let scene = try EditScene()
    for (word, property) in [
      ("small=40000", "small"), ("isDone=maybe", "isDone"), ("day=yesterday", "day"),
      ("id=1", "id"), ("owner=Tag/p1", "owner"), ("owner=Person/p99", "owner"),
      ("owner+=Person/p1", "owner"), ("name+=x", "name"), ("tags=Tag/p1,Tag/p1", "tags"),
      ("tags=", "tags"), ("tags+=", "tags"), ("tags-=Tag/p1", "tags"),
      ("place=x", "place"), ("data=abc", "data"),
    ] {
      let error = try scene.refusal(of: "Item/p1", word)
      #expect(error.kind == .usage && error.property == property, "\(word): \(error)")
    }
    #expect(try scene.refusal(of: "Item/p1", "tags= ").hint?.contains("tags=null") == true)
    #expect(try scene.refusal(of: "Item/p1", "nmae=x").hint?.contains("name") == true)
    #expect(try scene.refusal(of: "Item/p1", "loud=X").kind == .refused)
    #expect(try scene.refusal(of: "Item/p99", "name=Soup").kind == .usage)
    // Keys run through the whole hierarchy.
    #expect(try scene.refusal(of: "Item/p6", "name=Soup").hint?.contains("SpecialItem/p6") == true)
  }
}

extension PropertyValue {
  fileprivate var isReadable: Bool {
    if case .data(let data) = self { data.isReadable } else { false }
  }
}
