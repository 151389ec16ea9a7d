import Files
import ManagedModel
import SQLite
import TestSupport
import Testing

@testable import ManagedStore
@testable import Salvage

/// Which table a row belongs to, by its tree and by what it holds.
@Suite("The table of a row")
struct RowTablesTests {
  /// A value of a record.
  private enum Cell: ExpressibleByNilLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByStringLiteral
  {
    case null
    case number(UInt8)
    case text(String)

    init(nilLiteral: ()) { self = .null }
    init(integerLiteral value: UInt8) { self = .number(value) }
    init(stringLiteral value: String) { self = .text(value) }
  }

  /// What SQLite writes for a row, without its key.
  private static func payload(_ cells: [Cell]) -> [UInt8] {
    var (types, values): ([UInt8], [UInt8]) = ([], [])
    for cell in cells {
      switch cell {
      case .null: types.append(0)
      case .number(let number):
        types.append(1)
        values.append(number)
      case .text(let text):
        types.append(UInt8(13 + 2 * text.utf8.count))
        values += Array(text.utf8)
      }
    }
    return [UInt8(types.count + 1)] + types + values
  }

  /// Two entities whose tables have other columns, a to-one with an index, and a join table.
  private static func model() throws -> Model {
    var note = Entity("Note")
    note.attributes = [Attribute("text", .string, optional: true)]
    note.relationships = [
      Relationship("folder", to: "Folder", inverse: "notes", optional: true),
      Relationship("tags", to: "Tag", inverse: "notes", toMany: true, optional: true),
    ]
    var folder = Entity("Folder")
    folder.relationships = [
      Relationship("notes", to: "Note", inverse: "folder", toMany: true, optional: true)
    ]
    var tag = Entity("Tag")
    tag.attributes = [Attribute("name", .string, optional: true)]
    tag.relationships = [
      Relationship("notes", to: "Note", inverse: "tags", toMany: true, optional: true)
    ]
    return try Model(entities: [note, folder, tag])
  }

  /// A store of 500 notes, of which the hundredth was deleted, and what decides about its rows.
  private struct Sample {
    let store: GrownStore
    var tables: RowTables
    let source: SalvageSource
    let roots: [String: Int]

    /// - Parameter leaf: whether the header of the notes' first leaf is gone.
    init(withoutHeader leaf: Bool = false) throws {
      store = try GrownStore(RowTablesTests.model())
      try store.change(
        """
        PRAGMA secure_delete = OFF; INSERT INTO ZFOLDER (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
        INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZFOLDER, ZTEXT) SELECT i, 2, 1, 1, 'note ' || i FROM n;
        DELETE FROM ZNOTE WHERE Z_PK = 100;
        PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE
        """)
      if leaf {
        let root = try Connection(path: store.path, mode: .immutable).value(
          "SELECT rootpage FROM sqlite_master WHERE name = 'ZNOTE'")?.integer
        var bytes = try FileSystem.read(store.path)
        let first = try #require(DamagedFile(store.path).leaves(root: Int(root ?? 0)).first)
        for place in (first - 1) * 4096..<(first - 1) * 4096 + 8 { bytes[place] = 0 }
        try FileSystem.write(bytes, to: store.path)
      }
      source = try SalvageSource(path: store.path)
      let copy = try SalvagedCopy(
        of: source, at: store.folder.path("Copy.sqlite"), model: RowTablesTests.model(),
        contents: .bookkeeping)
      tables = try RowTables(of: copy)
      roots = Dictionary(uniqueKeysWithValues: copy.byRoot.map { ($0.value.name, $0.key) })
    }

    /// What is said of a row: the name of its table, `→` before one that it does not stand in.
    mutating func place(
      _ cells: [Cell], in root: Int?, page: Int? = nil, key: Int64 = 1, isFound: Bool = false
    ) throws -> String {
      var record = Record()
      let bytes = RowTablesTests.payload(cells)
      let isRead = record.read(bytes, 0..<bytes.count)
      #expect(isRead)
      let trees = source.trees
      let leaf =
        isFound
        ? nil
        : trees.roles.indices.first {
          trees.roles[$0] == .leaf && trees.owner(of: $0 + 1) == root
        }
      let row = RowScan.Row(
        root: root ?? 0, page: page ?? leaf.map { $0 + 1 } ?? root ?? 1, origin: .main, key: key,
        certainty: isFound ? .guessed : .certain)
      #expect(tables.stands(row) != isFound || page != nil)
      return switch tables.place(row, record) {
      case .table(let table): table.name
      case .other(let table): "→ " + table.name
      case .none: "none"
      case .deleted: "deleted"
      case .unknown: "unknown"
      }
    }
  }

  // Folder is entity 1, Note 2, Tag 3. ZNOTE: Z_PK, Z_ENT, Z_OPT, ZFOLDER, ZTEXT; ZTAG: Z_PK, Z_ENT, Z_OPT, ZNAME.

  @Test("a row in a known tree is its table's, unless it has another's entity")
  func known() throws {
    var sample = try Sample()
    let notes = try #require(sample.roots["ZNOTE"])
    #expect(try sample.place([nil, 2, 1, 1, "a"], in: notes) == "ZNOTE")
    // As it is where a column was added since.
    #expect(try sample.place([nil, 2, 1, 1], in: notes) == "ZNOTE")
    #expect(try sample.place([nil, 3, 1, "a"], in: notes) == "→ ZTAG")
    // It has a tag's number and no tag's columns.
    #expect(try sample.place([nil, 3, 1, 1, "a"], in: notes) == "none")
    // An error of the row, and not of its page.
    #expect(try sample.place([nil, 77, 1, 1, "a"], in: notes) == "ZNOTE")
    #expect(try sample.place([nil, nil, 1, 1, "a"], in: notes) == "none")
    #expect(try sample.place([nil, 77, 1], in: notes) == "none")
    #expect(try sample.place([nil, 2, 1, 1, "a", 9], in: notes) == "none")
    #expect(try sample.place([], in: notes) == "none")
  }

  @Test("the rows of a join table are told by its tree alone")
  func links() throws {
    var sample = try Sample()
    let name = try #require(sample.roots.keys.first { $0.hasPrefix("Z_") && $0.hasSuffix("TAGS") })
    let links = try #require(sample.roots[name])
    #expect(try sample.place([3, 2], in: links) == name)
    #expect(try sample.place([3, 2, 1], in: links) == "none")
    #expect(try sample.place([3, 2], in: nil, isFound: true) == "unknown")
  }

  @Test("a row that no tree references is its entity's, where it looks like one of it")
  func found() throws {
    var sample = try Sample()
    let notes = try #require(sample.roots["ZNOTE"])
    #expect(try sample.place([nil, 2, 1, 1, "a"], in: nil, isFound: true) == "ZNOTE")
    #expect(try sample.place([nil, 3, 1, "a"], in: nil, isFound: true) == "ZTAG")
    #expect(try sample.place([nil, 77, 1, "a"], in: nil, isFound: true) == "unknown")
    #expect(try sample.place([nil, 3, 1, "a"], in: notes, isFound: true) == "none")
    // The first row of a tree that nothing names decides about the others.
    #expect(try sample.place([nil, 3, 1, "a"], in: 900, isFound: true) == "ZTAG")
    #expect(try sample.place([nil, 2, 1, 1, "a"], in: 900, isFound: true) == "none")
  }

  @Test("of a leaf without a header those rows are there that an index has")
  func withoutHeader() throws {
    var sample = try Sample(withoutHeader: true)
    let notes = try #require(sample.roots["ZNOTE"])
    let broken = try #require(sample.source.trees.roles.firstIndex(of: .broken)) + 1
    #expect(sample.source.trees.owner(of: broken) == notes)
    func place(_ key: Int64, _ text: Cell) throws -> String {
      try sample.place([nil, 2, 1, 1, text], in: notes, page: broken, key: key, isFound: true)
    }
    #expect(try place(99, "note 99") == "ZNOTE")
    #expect(try place(100, "note 100") == "deleted")
    #expect(try place(99, "note\u{1}99") == "none")
    // Elsewhere no index is asked.
    #expect(try sample.place([nil, 2, 1, 1, "a"], in: notes, key: 100) == "ZNOTE")
  }

  @Test("trees that were determined stand in the order of their tables, where each has one")
  func order() throws {
    let sample = try Sample()
    let known = sample.tables.named
    func isInOrder(_ trees: [Int: String], _ names: String...) -> Bool {
      let tables = trees.mapValues { name in known.values.first { $0.name == name } }
      return RowPlacing(tables: [], trees: tables.compactMapValues { $0 }).isInOrder(names)
    }
    #expect(isInOrder([5: "ZFOLDER", 9: "ZNOTE"], "ZFOLDER", "ZNOTE"))
    #expect(!isInOrder([9: "ZFOLDER", 5: "ZNOTE"], "ZFOLDER", "ZNOTE"))
    // Leaves whose upper page is lost seem to be a tree each.
    #expect(isInOrder([9: "ZFOLDER", 11: "ZFOLDER", 5: "ZNOTE"], "ZFOLDER", "ZNOTE"))
    #expect(isInOrder([9: "ZTAG", 5: "ZNOTE"], "ZFOLDER", "ZNOTE"))
  }

  @Test("whose row it can be by the number of values and the entity")
  func owner() {
    let notes = RowOwner(columns: 5, numbers: [2], others: [1, 3])
    #expect(notes.isOwn(5, 2) && notes.isOwn(3, 2))
    #expect(!notes.isOwn(6, 2))
    #expect(!notes.isOwn(5, 3) && !notes.isOwn(5, nil))
    #expect(notes.isOwn(5, 77) && !notes.isOwn(4, 77))
    let links = RowOwner(columns: 2, numbers: [], others: [])
    #expect(links.isOwn(2, 5) && links.isOwn(2, nil) && links.isOwn(1, 5))
    #expect(!links.isOwn(3, 5))
  }
}
