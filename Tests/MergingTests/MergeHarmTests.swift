import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Merging

@Suite("What a merge must not lose, double or decide in silence")
struct MergeHarmTests {
  private let library: Library

  init() throws { library = try Library() }

  /// A store of what a closure inserts.
  private func made(
    _ name: String, _ model: Model, _ fill: (StoreWriter) throws -> Void
  ) throws -> Store {
    let path = library.folder.path(name + ".sqlite")
    let writer = try StoreWriter(creating: path, model: model)
    try fill(writer)
    try writer.finish()
    return try Store(path: path)
  }

  private func number(_ entity: String) throws -> Int64 {
    try #require(try Store(path: library.base).table(of: entity)).entityID
  }

  @Test(
    "objects without a value of what pairs the others are refused with their numbers, and pair by key",
    arguments: [false, true])
  func withoutValues(all: Bool) throws {
    var item = Entity("Item")
    item.attributes = [
      Attribute("uuid", .string, optional: true), Attribute("title", .string, optional: true),
    ]
    let model = try Model(entities: [item])
    let stores = try ["One", "Two"].map { name in
      try made(name, model) { writer in
        for number in 0..<3 {
          var values: [String: AttributeValue] = ["title": .string("Item \(number)")]
          if number == 2, !all { values["uuid"] = .string("U") }
          try writer.insert("Item", attributes: values)
        }
      }
    }
    let refusal = #expect(throws: CoreDataError.self) {
      try StoreMerge.run(stores[0], stores[1], to: library.output)
    }
    #expect(refusal?.kind == .refused)
    let numbers = all ? "Item (3 objects in" : "Item without uuid (2 objects in"
    #expect(refusal?.message.contains(numbers) == true, "\(refusal?.message ?? "")")
    #expect(FileIdentity(of: library.output) == nil)
    let rehearsal = try StoreMerge.run(stores[0], stores[1], to: nil)
    #expect(!rehearsal.canRun && rehearsal.unpaired.map(\.old) == [all ? 3 : 2])
    var options = MergeOptions()
    options.matches = [.key]
    let report = try StoreMerge.run(stores[0], stores[1], options: options, to: library.output)
    #expect(report.added == 0 && report.conflictCount == 0)
  }

  @Test("a reference to an object that is left out later gives the newer store's back")
  func leftOutTarget() throws {
    var owner = Entity("Owner")
    owner.attributes = [Attribute("code", .string), Attribute("ownerID", .string)]
    owner.uniquenessConstraints = [["code"]]
    owner.relationships = [
      Relationship("docs", to: "Doc", inverse: "owner", toMany: true, ordered: true, optional: true)
    ]
    var doc = Entity("Doc")
    doc.attributes = [Attribute("docID", .string)]
    doc.relationships = [Relationship("owner", to: "Owner", inverse: "docs", optional: true)]
    let model = try Model(entities: [owner, doc])
    func store(_ name: String, codes: [String], owner: Int) throws -> Store {
      try made(name, model) { writer in
        let owners = try codes.enumerated().map {
          try writer.insert(
            "Owner", attributes: ["code": .string($1), "ownerID": .string("\(name)\($0)")])
        }
        try writer.insert(
          "Doc", attributes: ["docID": .string("D")], toOne: ["owner": owners[owner]],
          positions: ["owner": 7])
      }
    }
    let base = try store("Base0", codes: ["A", "B"], owner: 0)
    let (one, two) = (library.folder.path("O.sqlite"), library.folder.path("N.sqlite"))
    for path in [one, two] { try FileSystem.copyOver(base.path, to: path) }
    for (path, sql) in [
      (
        one,
        """
        INSERT INTO ZOWNER (Z_PK, Z_ENT, Z_OPT, ZCODE, ZOWNERID) SELECT 3, Z_ENT, 1, 'DUP', 'E' FROM ZOWNER LIMIT 1;
        UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_NAME = 'Owner'; UPDATE ZDOC SET ZOWNER = 3
        """
      ), (two, "UPDATE ZOWNER SET ZCODE = 'DUP' WHERE Z_PK = 2"),
    ] {
      let connection = try Connection(path: path, mode: .readWrite)
      connection.fireTriggers(false)
      try connection.execute(sql)
      connection.close()
    }
    var options = MergeOptions()
    options.matches = [.attributes(entity: "Owner", names: ["ownerID"])]
    options.preferences = [.old]
    let report = try StoreMerge.run(
      Store(path: one), Store(path: two), base: base, options: options, to: library.output)
    #expect(report.leftOut == 1 && report.lostLinks == 1)
    let place = try library.rows("SELECT Z_FOK_OWNER FROM ZDOC", two)
    #expect(try library.texts("SELECT ZOWNER FROM ZDOC") == ["1"])
    #expect(try library.rows("SELECT Z_FOK_OWNER FROM ZDOC") == place)
    // Where both changed it, the newer store's counts.
    let connection = try Connection(path: two, mode: .readWrite)
    connection.fireTriggers(false)
    try connection.execute("UPDATE ZDOC SET ZOWNER = 2")
    connection.close()
    let other = library.folder.path("Other.sqlite")
    let conflict = try StoreMerge.run(
      Store(path: one), Store(path: two), base: base, options: options, to: other)
    #expect(try library.texts("SELECT ZOWNER FROM ZDOC", other) == ["2"])
    #expect(conflict.conflicts.map(\.winner) == [.new] && conflict.conflictCount == 1)
  }

  @Test("a long chain of objects that need each other is left out as a whole")
  func chain() throws {
    var node = Entity("Node")
    node.attributes = [Attribute("code", .string), Attribute("nodeID", .string)]
    node.uniquenessConstraints = [["code"]]
    node.relationships = [
      Relationship("previous", to: "Node", inverse: "next"),
      Relationship("next", to: "Node", inverse: "previous", toMany: true, optional: true),
    ]
    let model = try Model(entities: [node])
    let count = 4000
    func store(_ name: String, _ codes: [String]) throws -> Store {
      let store = try made(name, model) { writer in
        for (index, code) in codes.enumerated() {
          try writer.insert(
            "Node", attributes: ["code": .string(code), "nodeID": .string("N\(index)")])
        }
      }
      let connection = try Connection(path: store.path, mode: .readWrite)
      try connection.execute("UPDATE ZNODE SET ZPREVIOUS = max(1, Z_PK - (Z_PK > 2))")
      try connection.execute("UPDATE ZNODE SET ZPREVIOUS = 2 WHERE Z_PK = 2")
      connection.close()
      return try Store(path: store.path)
    }
    let old = try store("Long", ["A", "DUP"] + (2..<count).map { "C\($0)" })
    let new = try store("Short", ["DUP"])
    var options = MergeOptions()
    options.matches = [.attributes(entity: "Node", names: ["nodeID"])]
    options.preferences = [.new]
    let report = try StoreMerge.run(old, new, options: options, to: library.output)
    #expect(report.leftOut == count - 1)
    #expect(try library.texts("SELECT count(*) FROM ZNODE") == ["1"])
  }

  @Test(
    "a value whose file is missing gives way to content, and its name is never another file's")
  func missingFiles() throws {
    let name = "00000000-2222-4333-8444-000000000002"
    let column = ByteText.hex(MarkedBytes.file(name: name).column)
    let gone = ByteText.hex(MarkedBytes.file(name: "99999999-2222-4333-8444-000000000000").column)
    let key = try library.add(library.old, "Added")
    try Library.change(
      library.old,
      """
      UPDATE ZTHING SET ZCOVER = x'\(gone)' WHERE Z_PK = 1; UPDATE ZTHING SET ZCOVER = x'\(gone)' WHERE Z_PK = 5;
      UPDATE ZTHING SET ZCOVER = NULL WHERE Z_PK = 2; UPDATE ZTHING SET ZCOVER = x'\(column)' WHERE Z_PK = \(key);
      """)
    FileSystem.remove(StoreFiles(path: library.old).externalDataFolder + "/" + name)
    for hasBase in [true, false] {
      let place = library.folder.path("\(hasBase).sqlite")
      let report = try library.merge(withBase: hasBase, to: place) {
        $0.preferences = [.old]
        if !hasBase { $0.matches = [.key] }
      }
      let lost = report.losses.filter { $0.reason == .missingFile }
      #expect(lost.map { $0.change.b?.key } == [1])
      #expect(report.conflictCount == (hasBase ? 0 : 2))
      let query = "SELECT ZCOVER FROM ZTHING WHERE Z_PK = 1"
      #expect(try library.texts(query, place) == library.texts(query, library.new))
      #expect(report.missingFiles == 2)
      let added = try library.texts("SELECT hex(ZCOVER) FROM ZTHING WHERE Z_PK = \(key)", place)
      #expect(added.count == 1 && added.first?.lowercased() != column.lowercased())
      #expect(added.first?.hasPrefix("02") == true)
    }
  }

  @Test(
    "an object that needs a partner which is refused stays out, and a rehearsal says the same as the run"
  )
  func refusedPartner() throws {
    var owner = Entity("Owner")
    owner.attributes = [Attribute("code", .string), Attribute("ownerID", .string)]
    owner.uniquenessConstraints = [["code"]]
    owner.relationships = [Relationship("card", to: "Card", inverse: "owner", optional: true)]
    var card = Entity("Card")
    card.attributes = [Attribute("cardID", .string)]
    card.relationships = [Relationship("owner", to: "Owner", inverse: "card")]
    let model = try Model(entities: [owner, card])
    func store(_ name: String, _ sets: [(code: String, id: String)], card: Int?) throws -> Store {
      let store = try made(name, model) { writer in
        let owners = try sets.map {
          try writer.insert(
            "Owner", attributes: ["code": .string($0.code), "ownerID": .string($0.id)])
        }
        if let card {
          try writer.insert(
            "Card", attributes: ["cardID": .string("C")], toOne: ["owner": owners[card]])
        }
      }
      let connection = try Connection(path: store.path, mode: .readWrite)
      try connection.execute(
        "UPDATE ZOWNER SET ZCARD = (SELECT Z_PK FROM ZCARD c WHERE c.ZOWNER = ZOWNER.Z_PK)")
      connection.close()
      return try Store(path: store.path)
    }
    let old = try store("Cards", [("A", "1"), ("DUP", "2")], card: 1)
    let new = try store("NoCards", [("DUP", "1")], card: nil)
    var options = MergeOptions()
    options.matches = [.attributes(entity: "Owner", names: ["ownerID"])]
    options.preferences = [.new]
    let rehearsal = try StoreMerge.run(old, new, options: options, to: nil)
    let report = try StoreMerge.run(old, new, options: options, to: library.output)
    for found in [rehearsal, report] {
      #expect(found.leftOut == 2)
      #expect(Set(found.losses.map(\.reason)).isSuperset(of: [.uniqueness, .dependent]))
    }
    #expect(try library.texts("SELECT count(*) FROM ZCARD") == ["0"])
  }

  @Test(
    "a history that was shortened does not say what was deleted",
    arguments: [[1, 2], [2, 3], [1, 3]])
  func shortHistory(transactions: [Int]) throws {
    for path in [library.old, library.new] {
      try Library.change(
        path,
        """
        CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTIMESTAMP FLOAT);
        CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
          ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB);
        INSERT INTO ATRANSACTION VALUES \(transactions.map { "(\($0), 16002, 1, \($0))" }.joined(separator: ", "))
        """)
    }
    try library.delete([20], in: library.new)
    let isWhole = transactions == [1, 2]
    let report = try library.merge(withBase: false) { $0.matches = [.key] }
    #expect(report.deletionSource == (isWhole ? .history : nil) && report.added == 1)
    guard !isWhole else { return }
    let refusal = #expect(throws: CoreDataError.self) {
      try library.merge(withBase: false, to: library.folder.path("Kept.sqlite")) {
        $0.matches = [.key]
        $0.keepsDeleted = true
      }
    }
    #expect(refusal?.kind == .refused && refusal?.message.contains("lacks transactions") == true)
  }

  @Test("a link that both stores changed is a conflict, also where the newer store took it away")
  func clearedLinks() throws {
    let shelf = try number("Shelf")
    let note = try number("Note")
    try Library.change(
      library.old,
      """
      INSERT INTO ZSHELF (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (5, \(shelf), 1, 'New');
      UPDATE Z_PRIMARYKEY SET Z_MAX = 5 WHERE Z_NAME = 'Shelf'; UPDATE ZTHING SET ZSHELF = 5 WHERE Z_PK = 1;
      INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT, ZBOARD) VALUES (5, \(note), 1, 'New', 1);
      UPDATE Z_PRIMARYKEY SET Z_MAX = 5 WHERE Z_NAME = 'Note'; UPDATE ZNOTE SET ZBOARD = NULL WHERE Z_PK = 1;
      UPDATE ZSHELF SET ZSIGN = 5 WHERE Z_PK = 1
      """)
    try Library.change(
      library.new,
      """
      UPDATE ZTHING SET ZSHELF = NULL, Z_FOK_SHELF = NULL WHERE Z_PK = 1;
      UPDATE ZSHELF SET ZSIGN = NULL WHERE Z_PK = 1; UPDATE ZNOTE SET ZBOARD = NULL WHERE Z_PK = 1
      """)
    #expect(try library.merge(isRehearsal: true).undecided == 2)
    for (preference, shelf, signs) in [
      (MergeOptions.Preference.new, "–", ["2 2"]), (.old, "5", ["1 5", "2 2"]),
    ] {
      let place = library.folder.path("Shelf\(shelf == "5").sqlite")
      let report = try library.merge(to: place) { $0.preferences = [preference] }
      #expect(report.conflictCount == 2)
      #expect(try library.texts("SELECT ZSHELF FROM ZTHING WHERE Z_PK = 1", place) == [shelf])
      #expect(try library.signs(place) == signs)
    }
  }

  @Test("places and counts of saves stay whole numbers at the end of their range")
  func largestNumbers() throws {
    let most = Int64.max
    let likes = try library.join("likes")
    let place = try #require(likes.position)
    try library.add(library.old, "Last")
    try Library.change(
      library.old,
      """
      UPDATE ZTHING SET ZTITLE = 'changed' WHERE Z_PK = 5;
      INSERT INTO \(likes.table) (\(likes.owner), \(likes.destination), \(place)) VALUES (3, 9, 5000)
      """)
    try Library.change(
      library.new,
      """
      UPDATE ZTHING SET Z_OPT = \(most) WHERE Z_PK = 5; UPDATE ZTHING SET Z_FOK_SHELF = \(most) WHERE Z_PK = 9;
      UPDATE \(likes.table) SET \(place) = \(most) WHERE \(likes.owner) = 3 AND \(likes.destination) = 2
      """)
    let before = try library.texts(
      "SELECT ZTITLE FROM ZTHING WHERE ZSHELF = 1 ORDER BY Z_FOK_SHELF", library.new)
    try library.merge()
    // After the last whole number it starts again, as for an edit.
    #expect(try library.texts("SELECT Z_OPT FROM ZTHING WHERE Z_PK = 5") == ["1"])
    #expect(
      try library.texts(
        """
        SELECT DISTINCT typeof(Z_FOK_SHELF) FROM ZTHING UNION SELECT DISTINCT typeof(Z_OPT) FROM ZTHING
        UNION SELECT DISTINCT typeof(\(place)) FROM \(likes.table)
        """) == ["integer"])
    let after = try library.texts("SELECT ZTITLE FROM ZTHING WHERE ZSHELF = 1 ORDER BY Z_FOK_SHELF")
    #expect(after.filter { $0 != "changed" } == (before + ["Last"]).filter { $0 != "Thing 4" })
    #expect(after.last == "Last")
    #expect(try library.names(of: "Thing 2", "likes").last == "Thing 8")
    try library.expectSound()
  }
}
