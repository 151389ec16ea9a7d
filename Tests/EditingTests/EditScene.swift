import Comparison
import Files
import ManagedModel
import ManagedStore
import Rescue
import SQLite
import TestSupport
import Testing

@testable import Editing

/// A store with every type of attribute, every way of keeping a relationship and every delete rule, and what tests do
/// with it.
struct EditScene {
  let folder: TemporaryFolder
  var path: String { folder.path("App.sqlite") }

  /// What an edit reported and did.
  struct Done {
    var receipt: EditReceipt
    var changes: [ObjectChange]

    /// The list as lines: `~ Item/p1 name owner`.
    var lines: [String] {
      changes.map { change in
        let sign = change.kind == .delete ? "−" : change.kind == .insert ? "+" : "~"
        let names =
          change.kind == .update
          ? change.attributes.map { $0.path.joined(separator: ".") }
            + change.relationships.map { $0.name + ($0.isReordered ? "*" : "") } : []
        let id = (change.b ?? change.a)?.description ?? ""
        return ([sign, id] + names).joined(separator: " ")
      }
    }
  }

  static let day = 700_000_000.0

  /// A text, archived.
  static let archive = PropertyList.binary(
    .dictionary([
      "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
      "$top": .dictionary(["root": .uid(1)]),
      "$objects": .array([.string("$null"), .string("Archived")]),
    ]))

  /// - Parameters:
  ///   - hasHistory: whether the store keeps persistent history.
  ///   - isMirrored: whether it has a table of the mirror to iCloud.
  init(hasHistory: Bool = false, isMirrored: Bool = false, items: Int = 6) throws {
    folder = try TemporaryFolder()
    let writer = try StoreWriter(creating: path, model: Self.model())
    let people = try (1...3).map {
      try writer.insert("Person", attributes: ["name": .string("Person \($0)")])
    }
    let notes = try (1...3).map {
      try writer.insert("Note", attributes: ["text": .string("Note \($0)")])
    }
    let tags = try (1...4).map {
      try writer.insert("Tag", attributes: ["name": .string("Tag \($0)")])
    }
    let shelf = try writer.insert("Shelf", attributes: ["label": .string("Shelf")])
    var made: [ObjectID] = []
    for number in 1...items {
      var toOne = ["owner": people[number % 2]]
      if number == 1 { toOne["shelf"] = shelf }
      made.append(
        try writer.insert(
          number == items ? "SpecialItem" : "Item",
          attributes: [
            "name": .string("Item \(number)"), "code": .integer(Int64(number)),
            "small": .integer(1), "middle": .integer(2), "large": .integer(3),
            "price": .decimal("1.5"), "weight": .double(0.5), "ratio": .double(0.25),
            "isDone": .boolean(false), "day": .date(Self.day),
            "id": .uuid((0..<16).map { UInt8($0 + number) }), "link": .uri("https://example.com"),
            "data": .bytes([1, 2, 3]), "archive": .bytes(Self.archive),
            "place.street": .string("Street"), "place.number": .integer(Int64(number)),
          ], toOne: toOne,
          toMany: ["tags": [tags[number % 4], tags[(number + 1) % 4]]]))
    }
    for (number, item) in made.prefix(2).enumerated() {
      try writer.insert(
        "Pass", attributes: ["number": .integer(Int64(number))], toOne: ["item": item])
      for part in 1...2 {
        try writer.insert(
          "Part", attributes: ["title": .string("Part \(part) of \(item)")],
          toOne: ["item": item])
      }
    }
    _ = notes
    try writer.finish()
    // The other side of the one-to-ones, versions and what else an app writes.
    let connection = try self.connection()
    try connection.execute(
      """
      UPDATE ZITEM SET ZPASS = (SELECT p.Z_PK FROM ZPASS p WHERE p.ZITEM = ZITEM.Z_PK), Z_OPT = 7;
      UPDATE ZITEM SET ZLOUD = upper(ZNAME);
      UPDATE ZPERSON SET ZTOTAL = (SELECT count(*) FROM ZITEM i WHERE i.ZOWNER = ZPERSON.Z_PK);
      """)
    if hasHistory { try connection.execute(Self.history) }
    if isMirrored { try connection.execute(HistoryTables.mirror) }
  }

  private static let history =
    HistoryTables.statements(last: (4, 2, 1), hasTombstone: true) + """
      INSERT INTO ATRANSACTIONSTRING VALUES (1, 16003, NULL, 'App');
      INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZAUTHORTS, ZTIMESTAMP) VALUES (2, 16002, 1, 600000000.5);
      INSERT INTO ACHANGE VALUES (4, 16001, NULL, 0, 1, 1, 2, NULL, NULL);
      """

  static func model() throws -> Model {
    func attribute(
      _ name: String, _ type: AttributeType, _ change: (inout Attribute) -> Void = { _ in }
    ) -> Attribute {
      var attribute = Attribute(name, type, optional: true)
      change(&attribute)
      return attribute
    }
    func toMany(
      _ name: String, to destination: String, inverse: String? = nil, ordered: Bool = false,
      _ rule: Relationship.DeleteRule = .nullify
    ) -> Relationship {
      var made = Relationship(
        name, to: destination, inverse: inverse, toMany: true, ordered: ordered, optional: true)
      made.deleteRule = rule
      return made
    }
    var item = Entity("Item")
    item.attributes = [
      attribute("name", .string) {
        $0.isOptional = false
        $0.validation.minimum = "2"
        $0.validation.maximum = "12"
        $0.validation.pattern = "[A-Za-zé0-9 ]*"
      },
      attribute("code", .integer32), attribute("small", .integer16) { $0.validation.maximum = "9" },
      attribute("middle", .integer32), attribute("large", .integer64), attribute("price", .decimal),
      attribute("weight", .double), attribute("ratio", .float), attribute("isDone", .boolean),
      attribute("day", .date), attribute("id", .uuid), attribute("link", .uri),
      attribute("data", .binary) { $0.allowsExternalBinaryDataStorage = true },
      attribute("archive", .transformable),
      attribute("loud", .string) { $0.derivation = .init(expression: "uppercase:(name)") },
      attribute("saved", .date) { $0.derivation = .init(expression: "now()") },
      CompositeSamples.composite(
        "place", optional: true,
        [attribute("street", .string), attribute("number", .integer32)]),
    ]
    item.uniquenessConstraints = [["code"]]
    item.relationships = [
      Relationship("owner", to: "Person", inverse: "items", optional: true),
      Relationship("pass", to: "Pass", inverse: "item", optional: true),
      Relationship("shelf", to: "Shelf", inverse: "things", optional: true),
      toMany("tags", to: "Tag", inverse: "items", ordered: true),
      toMany("parts", to: "Part", inverse: "item", .cascade),
      toMany("friends", to: "Item", inverse: "friends"), toMany("notes", to: "Note"),
    ]
    var special = Entity("SpecialItem")
    special.parent = "Item"
    special.attributes = [attribute("extra", .string)]
    var person = Entity("Person")
    person.attributes = [
      attribute("name", .string),
      attribute("total", .integer64) { $0.derivation = .init(expression: "items.@count") },
    ]
    person.relationships = [toMany("items", to: "Item", inverse: "owner", ordered: true)]
    var pass = Entity("Pass")
    pass.attributes = [attribute("number", .integer32)]
    pass.relationships = [Relationship("item", to: "Item", inverse: "pass", optional: true)]
    var shelf = Entity("Shelf")
    shelf.attributes = [attribute("label", .string)]
    shelf.relationships = [toMany("things", to: "Item", inverse: "shelf", .deny)]
    var tag = Entity("Tag")
    tag.attributes = [attribute("name", .string)]
    tag.relationships = [toMany("items", to: "Item", inverse: "tags")]
    var part = Entity("Part")
    part.attributes = [attribute("title", .string) { $0.preservesValueInHistoryOnDeletion = true }]
    part.relationships = [Relationship("item", to: "Item", inverse: "parts")]
    var note = Entity("Note")
    note.attributes = [attribute("text", .string)]
    return try Model(entities: [item, special, person, pass, shelf, tag, part, note])
  }

  /// A connection as an app would have it.
  func connection() throws -> Connection {
    let connection = try Connection(path: path, mode: .readWrite)
    for name in [
      "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
      "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataNow", "NSCoreDataToUpper",
    ] {
      try connection.defineNullFunction(name)
    }
    connection.fireTriggers(false)
    return connection
  }

  /// Edits the store by words as they are typed.
  @discardableResult
  func edit(
    _ object: String = "", _ words: String..., deleting: [String] = [],
    selection: StoreEdit.Selection? = nil, to output: String? = nil, isRehearsal: Bool = false,
    confirming: Int? = nil, read: @escaping (String) throws -> [UInt8] = { _ in [] }
  ) throws -> Done {
    let store = try Store(path: path)
    var edit = StoreEdit()
    if !object.isEmpty {
      let id = try store.objectID(object)
      let texts = AssignmentText(store, read: read)
      edit.objects = [
        .init(id, try words.flatMap { try texts.assignments($0, of: id.entity) })
      ]
    }
    edit.deletions = try deleting.map { try store.objectID($0) }
    edit.selection = selection
    var options = StoreEditing.Options()
    options.output = output
    options.isRehearsal = isRehearsal
    options.confirmsDeletions = { $0.deletions == confirming }
    var changes: [ObjectChange] = []
    let receipt = try StoreEditing.run(
      store, edit, options: options, report: { changes.append($0) })
    return Done(receipt: receipt, changes: changes)
  }

  /// What refuses an edit.
  func refusal(
    of object: String = "", _ words: String..., deleting: [String] = [],
    selection: StoreEdit.Selection? = nil
  ) throws -> CoreDataError {
    let before = try folder.contents()
    var found: CoreDataError?
    do {
      let store = try Store(path: path)
      var edit = StoreEdit()
      if !object.isEmpty {
        let id = try store.objectID(object)
        let texts = AssignmentText(store) { _ in [] }
        edit.objects = [
          .init(id, try words.flatMap { try texts.assignments($0, of: id.entity) })
        ]
      }
      edit.deletions = try deleting.map { try store.objectID($0) }
      edit.selection = selection
      _ = try StoreEditing.run(store, edit)
    } catch let error as CoreDataError {
      found = error
    }
    #expect(try folder.contents() == before, "a refused edit leaves the folder as it was")
    return try #require(found, "the edit was not refused")
  }

  /// An object as a line of text.
  func line(_ id: String, at other: String? = nil) throws -> String {
    try #require(
      StoreDump.lines(at: other ?? path).first { $0.hasPrefix(id + " ") }, "there is no \(id)")
  }

  /// What a property of an object is, as text.
  func value(_ id: String, _ property: String, at other: String? = nil) throws -> String {
    let line = try line(id, at: other)
    for part in [" \(property)=", " \(property)→"] {
      guard let range = line.range(of: part) else { continue }
      let rest = line[range.upperBound...]
      if rest.hasPrefix("[") { return String(rest.prefix { $0 != "]" }.dropFirst()) }
      return String(rest.prefix { $0 != " " })
    }
    throw CoreDataError(.usage, "no \(property) in \(line)")
  }

  func number(_ sql: String) throws -> Int64? {
    try connection().value(sql)?.integer
  }

  /// That two independent readers and doctor find the store in order.
  func requireSound(_ other: String? = nil) throws {
    let path = other ?? self.path
    let found = try Diagnosis(of: path).findings.filter { $0.severity != .note }
    #expect(found.map(\.sentence) == [])
    if SecondReader.isAvailable {
      #expect(try SecondReader.lines(at: path) == SecondReader.strataLines(Store(path: path)))
    }
  }
}

extension String {
  fileprivate func range(of other: String) -> Range<String.Index>? { ranges(of: other).first }
}
