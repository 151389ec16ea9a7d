import Files
import ManagedModel
import ManagedStore
import Migration
import SQLite
import TestSupport
import Testing

@testable import Editing

@Suite("What an edit is checked by, and what it leaves")
struct EditRuleTests {
  private func select(
    _ predicate: String?, _ sets: [(String, String)], of entity: String = "Item"
  ) -> StoreEdit.Selection {
    .init(entity, where: predicate, sets.map { .init($0.0, $0.1) })
  }

  @Test("of several rules that would be broken the first is the refusal, and the others are named")
  func several() throws {
    let scene = try EditScene()
    let refusal = try scene.refusal(of: "Item/p1", "name=x", "small=20")
    #expect([1610, 1670].contains(refusal.code?.rawValue))
    #expect(refusal.hint?.contains(refusal.code == 1610 ? "(name, 1670)" : "(small, 1610)") == true)
  }

  @Test("a broken rule is refused with the object, the property and Core Data's code")
  func rules() throws {
    let scene = try EditScene()
    for (object, word, property, code) in [
      ("Item/p1", "name=null", "name", 1570), ("Item/p1", "name=x", "name", 1670),
      ("Item/p1", "name=A name that is too long", "name", 1660),
      ("Item/p1", "name=So!!p", "name", 1680), ("Item/p1", "small=10", "small", 1610),
      ("Item/p1", "code=2", "code", 1551), ("Part/p1", "item=null", "item", 1570),
      ("Item/p1", "parts-=Part/p1", "item", 1570),
    ] {
      let error = try scene.refusal(of: object, word)
      #expect(error.kind == .refused && error.code?.rawValue == code, "\(word): \(error)")
      #expect(error.property == property && error.entity != nil, "\(word): \(error)")
      let named = property == "item" ? "Part/p1" : "Item/p1"
      #expect(error.message.contains(named), "\(error.message)")
    }
  }

  @Test("what was broken before and is not touched is no reason to refuse")
  func former() throws {
    let scene = try EditScene()
    try scene.connection().execute("UPDATE ZITEM SET ZSMALL = 99 WHERE Z_PK = 1")
    try scene.edit("Item/p1", "middle=5")
    #expect(try scene.refusal(of: "Item/p1", "small=98").code == 1610)
  }

  @Test("expressions see the objects as they were, and change those that a predicate takes")
  func expressions() throws {
    let scene = try EditScene()
    let done = try scene.edit(
      selection: select(
        "code > 2", [("code", "code + 1"), ("name", "'No ' || code"), ("price", "price * 2")]))
    #expect(done.receipt.changed == 4)
    #expect(
      try scene.connection().rows("SELECT ZCODE, ZNAME FROM ZITEM ORDER BY Z_PK").map {
        "\($0[0].integer ?? 0) \($0[1].text ?? "")"
      } == ["1 Item 1", "2 Item 2", "4 No 3", "5 No 4", "6 No 5", "7 No 6"])
    #expect(try scene.value("Item/p3", "price") == "3")
    try scene.requireSound()
    // An object all of whose values are others is the same one.
    #expect(
      try scene.edit(selection: select(nil, [("text", "'All ' || text")], of: "Note")).lines == [
        "~ Note/p1 text", "~ Note/p2 text", "~ Note/p3 text",
      ])
    // Values of a unique attribute change places.
    try scene.edit(selection: select(nil, [("code", "8 - code")]))
    #expect(try scene.number("SELECT ZCODE FROM ZITEM WHERE Z_PK = 1") == 7)
    try scene.requireSound()
    let special = try scene.edit(
      selection: select("TRUEPREDICATE", [("extra", "upper(name)")], of: "SpecialItem"))
    #expect(special.lines == ["~ SpecialItem/p6 extra saved"])
  }

  @Test("only values of objects that are still there are computed again")
  func computedAgain() throws {
    let scene = try EditScene()
    let done = try scene.edit(
      deleting: ["Item/p3"], selection: select("code > 2", [("middle", "middle + 1")]))
    #expect(done.receipt.changed >= 3 && done.receipt.deleted == 1)
    #expect(done.receipt.verified.first { $0.what.contains("expressions") }?.count == 3)
  }

  @Test("an expression that is wrong, or gives what the attribute cannot hold, is refused")
  func wrongExpressions() throws {
    let scene = try EditScene()
    let unique = try scene.refusal(selection: select(nil, [("code", "1")]))
    #expect(unique.kind == .refused && unique.code == 1551 && unique.property == "code")
    #expect(
      unique.message
        == "6 objects would have the same code, which must be unique: Item/p1, Item/p2, Item/p3, Item/p4, Item/p5, …"
    )
    let pairs = try scene.refusal(selection: select(nil, [("code", "code / 2 * 2")]))
    #expect(
      pairs.message
        == "4 objects would have the same code as another, which must be unique (first: Item/p2, Item/p3)"
    )
    let two = try scene.refusal(of: "Item/p1", "code=6")
    #expect(
      two.message
        == "2 objects would have the same code, which must be unique: Item/p1, SpecialItem/p6")
    let type = try scene.refusal(selection: select("code = 3", [("middle", "name")]))
    #expect(type.kind == .refused && type.property == "middle" && type.message.contains("Item/p3"))
    for expression in ["nme", "count(", "random()", "(SELECT 1)"] {
      let error = try scene.refusal(selection: select(nil, [("middle", expression)]))
      #expect(error.kind == .usage && error.property == "middle", "\(error)")
    }
    #expect(try scene.refusal(selection: select("nme = 1", [("middle", "1")])).kind == .usage)
    let long = try scene.refusal(selection: select(nil, [("name", "name || ' and more'")]))
    #expect(long.code == 1660 && long.message.contains("6 objects") == false)
  }

  @Test("history gets a transaction of strata with the properties, and what deletions leave")
  func history() throws {
    let scene = try EditScene(hasHistory: true)
    let done = try scene.edit(
      "Item/p1", "name=Cake", "owner=Person/p1", "tags+=Tag/p4", deleting: ["Item/p2"])
    #expect(done.receipt.transaction == 3)
    let store = try Store(path: scene.path)
    let last = try #require(try store.transactions(limit: 1)?.first)
    #expect(last.number == 3 && last.author == "strata" && last.process == "strata")
    let changes = try store.changes(of: 3)
    let updates = Dictionary(
      uniqueKeysWithValues: changes.filter { $0.kind == .update }.map {
        ("\($0.object)", $0.properties ?? [])
      })
    let item = try #require(updates["Item/p1"])
    #expect(item.contains("name") && item.contains("owner"))
    #expect(item.contains { $0.hasPrefix("tags") } && item.contains("price") == false)
    #expect(updates["Person/p1"]?.contains { $0.hasPrefix("items") } == true)
    #expect(updates["Person/p2"]?.contains { $0.hasPrefix("items") } == true)
    #expect(updates["Pass/p2"] == ["item"])
    #expect(updates["Tag/p4"] != nil && updates["Person/p3"] == nil)
    let deletions = changes.filter { $0.kind == .delete }
    #expect(Set(deletions.map { "\($0.object)" }) == ["Item/p2", "Part/p3", "Part/p4"])
    for table in ["ATRANSACTION", "ACHANGE", "ATRANSACTIONSTRING"] {
      #expect(try scene.number("SELECT count(*) FROM \(table) WHERE Z_OPT IS NOT NULL") == 0)
    }
    let kept = deletions.first { "\($0.object)" == "Part/p3" }?.tombstones.first?.value
    #expect(kept == .value(.string("Part 1 of Item/p2")))
    #expect(
      try scene.connection().rows("SELECT Z_ENT, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000")
        .map { $0[1].integer } == [Int64(4 + changes.count), 3, 2])
    try scene.requireSound()
  }

  @Test("a date that no calendar shows is written, as Core Data would, and said")
  func oddDates() throws {
    let scene = try EditScene()
    let sensible = try scene.edit("Item/p1", "day=2024-03-01")
    #expect(sensible.receipt.notes.isEmpty)
    let odd = try scene.edit("Item/p1", "day=1e17")
    #expect(
      odd.receipt.notes == [
        "Item/p1.day is not a date that an app can show: 1e+17 seconds, about 3,168,873,851 years after 2001"
      ])
    #expect(
      try scene.connection().value("SELECT ZDAY FROM ZITEM WHERE Z_PK = 1")?.integer
        == 100_000_000_000_000_000)
    // Milliseconds since 1970, and by an expression; what was odd before and is left is not said.
    let many = try scene.edit(selection: select("code > 2", [("day", "1709251200000")]))
    #expect(many.receipt.notes.count == 2, "\(many.receipt.notes)")
    #expect(
      many.receipt.notes.first
        == "Item/p3.day is not a date that an app can show: 1709251200000.0 seconds, about 54,164 years after 2001; as milliseconds since 1970 it would be 2024-03-01T00:00:00Z; 2 other objects have one as well",
      "\(many.receipt.notes)")
  }

  @Test("a mirrored store says what its app will send, and deletions must be confirmed")
  func mirrored() throws {
    let scene = try EditScene(hasHistory: true, isMirrored: true)
    let changed = try scene.edit("Item/p1", "name=Cake")
    #expect(changed.receipt.mirrored == .init(changes: 1, deletions: 0))
    let error = try scene.refusal(deleting: ["Item/p2"])
    #expect(error.kind == .refused && error.message.contains("3 objects"))
    let done = try scene.edit(deleting: ["Item/p2"], confirming: 3)
    #expect(done.receipt.mirrored?.deletions == 3)
    let silent = try EditScene(isMirrored: true)
    #expect(
      try silent.edit("Item/p1", "name=Cake").receipt.mirrored == .init(changes: 0, deletions: 0))
    // An app that does not notice deletes nothing elsewhere: there is nothing to confirm.
    let unseen = try silent.edit(deleting: ["Item/p2"])
    #expect(unseen.receipt.deleted == 3 && unseen.receipt.mirrored?.deletions == 0)
  }

  @Test("triggers of the app's own write on; tables of its own that have none stay")
  func ownTriggers() throws {
    let scene = try EditScene()
    try scene.connection().execute(
      """
      CREATE TABLE AppLog (n INTEGER PRIMARY KEY, name TEXT);
      CREATE TRIGGER AppTrigger AFTER UPDATE OF ZNAME ON ZITEM
      BEGIN INSERT INTO AppLog (name) VALUES (NEW.ZNAME); END
      """)
    try scene.edit("Item/p1", "name=Cake")
    #expect(try scene.connection().rows("SELECT name FROM AppLog") == [[.text("Cake")]])
  }

  @Test("a rollback gives all rows as they were")
  func rollback() throws {
    let scene = try EditScene(hasHistory: true)
    let bytes = try FileSystem.read(scene.path)
    let done = try scene.edit("Item/p1", "name=Cake", "tags=null", deleting: ["Item/p2"])
    #expect(done.receipt.backupPath == scene.folder.path("App.backup-1"))
    #expect(try FileSystem.read(scene.path) != bytes)
    _ = try StoreRollback.run(path: scene.path)
    #expect(try FileSystem.read(scene.path) == bytes)
  }

  @Test("an edit that dies before the rename leaves the old store, and the next one runs")
  func interrupted() throws {
    struct Stop: Error {}
    for step in StoreReplacement.CutoverStep.allCases where step != .done {
      let scene = try EditScene()
      let bytes = try FileSystem.read(scene.path)
      let store = try Store(path: scene.path)
      var edit = StoreEdit()
      edit.objects = [
        .init(.init(entity: "Item", key: 1), [.attribute("name", .string("Cake"))])
      ]
      #expect(throws: (any Error).self) {
        try StoreEditing.run(
          store, edit, options: .init(), report: { _ in },
          before: { if $0 == step { throw Stop() } })
      }
      #expect(try FileSystem.read(scene.path) == bytes, "\(step)")
      #expect(try scene.edit("Item/p1", "name=Cake").receipt.changed == 1)
      try scene.requireSound()
    }
  }

  @Test(
    "a store that an app has open is refused, and can be edited into another file",
    .enabled(if: Tool.sqlite3.isAvailable, "sqlite3 is not installed"),
    arguments: ["WAL", "DELETE"])
  func open(mode: String) throws {
    let scene = try EditScene()
    try scene.connection().execute("PRAGMA journal_mode = \(mode)")
    let app = try OtherProgram(
      Tool.sqlite3.path, [scene.path, "BEGIN IMMEDIATE; SELECT 1;", ".shell sleep 3600"])
    defer { app.kill() }
    try app.wait { StoreLock.user(of: scene.path) != nil }
    let before = try FileSystem.read(scene.path)
    #expect {
      try scene.edit("Item/p1", "name=Cake")
    } throws: {
      ($0 as? CoreDataError)?.kind == .failed
    }
    #expect(try FileSystem.read(scene.path) == before)
    let output = scene.folder.path("New.sqlite")
    #expect(try scene.edit("Item/p1", "name=Cake", to: output).receipt.changed == 1)
  }

  @Test("a damaged store is refused")
  func damaged() throws {
    let scene = try EditScene()
    var bytes = try FileSystem.read(scene.path)
    for place in 8192..<min(bytes.count, 20000) { bytes[place] = 0xA5 }
    FileSystem.removeTree(scene.path)
    try FileSystem.create(scene.path, holding: bytes)
    #expect(throws: (any Error).self) { try scene.edit("Item/p1", "name=Cake") }
    #expect(try FileSystem.read(scene.path) == bytes)
  }
}
