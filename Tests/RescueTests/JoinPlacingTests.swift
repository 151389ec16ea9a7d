import Files
import SQLite
import Salvage
import TestSupport
import Testing

@testable import ManagedStore

/// 365 links between recipes became links to tags: four of five named a tag that is there.
@Suite("Links of which no schema says whose they are")
struct JoinPlacingTests {
  @Test("links to keys that were never given out are no table's, others are the likeliest one's")
  func keysNeverGivenOut() throws {
    let folder = try TemporaryFolder()
    let connection = try Connection(path: folder.path("new.sqlite"), mode: .create)
    try connection.execute(
      """
      CREATE TABLE ZRECIPE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER);
      CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER);
      CREATE TABLE Z_9TAGS (Z_9RECIPES INTEGER, Z_11TAGS INTEGER);
      CREATE TABLE Z_9GOESWITH (Z_9GOESWITH INTEGER, REFLEXIVE INTEGER);
      INSERT INTO ZRECIPE WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 476)
      SELECT i, 9 FROM n;
      INSERT INTO ZTAG SELECT Z_PK, 11 FROM ZRECIPE WHERE Z_PK <= 400
      """)
    let recipes = JoinPlacing.Side(table: "ZRECIPE", numbers: [9], greatest: 476)
    let tags = JoinPlacing.Side(table: "ZTAG", numbers: [11], greatest: 400)
    let candidates = try [
      candidate("Z_9TAGS", [recipes, tags], connection),
      candidate("Z_9GOESWITH", [recipes, recipes], connection),
    ]
    func names(ofLinksUpTo last: Int) throws -> [String] {
      try self.names(
        ofLinks: "i, i * 7 % \(last) + 1", among: candidates, isTree: true, connection)
    }
    #expect(try names(ofLinksUpTo: 400) == ["Z_9TAGS"])
    #expect(try names(ofLinksUpTo: 470).isEmpty)
  }

  /// A candidate by its name and the objects of its sides.
  private func candidate(
    _ name: String, _ sides: [JoinPlacing.Side], _ connection: Connection
  ) throws -> JoinPlacing.Candidate {
    JoinPlacing.Candidate(
      table: try SalvagedTable(
        name: name, numbers: [], root: 0, connection: connection, encoding: .utf8), sides: sides)
  }

  /// The tables that links are given to, of a tree or of a page.
  ///
  /// - Parameter links: their keys, as SQL of the numbers from 1 to 200.
  private func names(
    ofLinks links: String, among candidates: [JoinPlacing.Candidate], isTree: Bool,
    _ connection: Connection
  ) throws -> [String] {
    let folder = try TemporaryFolder()
    let path = folder.path("links.sqlite")
    let made = try Connection(path: path, mode: .create)
    try made.execute(
      """
      CREATE TABLE a (first INTEGER, second INTEGER);
      INSERT INTO a WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
      SELECT \(links) FROM n
      """)
    made.close()
    var joining = JoinPlacing(connection)
    let image = try DatabaseImage(path: path, log: nil)
    var scan = RowScan(image, try TreeMap(image, roots: [2], isComplete: true))
    var count = 0
    try scan.rows(where: { role, root in role == .leaf && root == 2 }) { row, record in
      var row = row
      if !isTree { row.root = 0 }
      if joining.add(row, record) { count += 1 }
    }
    #expect(count == 200)
    return try joining.tables(among: candidates, isInOrder: false).values.map(\.name)
  }

  @Test("of one page, keys that rise from row to row say nothing of how many objects there are")
  func firstPage() throws {
    let folder = try TemporaryFolder()
    let connection = try Connection(path: folder.path("new.sqlite"), mode: .create)
    try connection.execute(
      """
      CREATE TABLE ZRECIPE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER);
      CREATE TABLE ZPERSON (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER);
      CREATE TABLE Z_6FAVOURITES (Z_6PERSONS INTEGER, Z_9RECIPES INTEGER);
      CREATE TABLE Z_9SIMILAR (Z_9SIMILAR INTEGER, REFLEXIVE INTEGER);
      INSERT INTO ZRECIPE WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 476)
      SELECT i, 9 FROM n;
      INSERT INTO ZPERSON SELECT Z_PK, 6 FROM ZRECIPE WHERE Z_PK <= 238
      """)
    let recipes = JoinPlacing.Side(table: "ZRECIPE", numbers: [9], greatest: 476)
    let persons = JoinPlacing.Side(table: "ZPERSON", numbers: [6], greatest: 238)
    let candidates = try [
      candidate("Z_6FAVOURITES", [persons, recipes], connection),
      candidate("Z_9SIMILAR", [recipes, recipes], connection),
    ]
    func names(_ first: String, isTree: Bool) throws -> [String] {
      try self.names(
        ofLinks: "\(first), i * 211 % 476 + 1", among: candidates, isTree: isTree, connection)
    }
    #expect(try names("i", isTree: false).isEmpty)
    #expect(try names("i * 71 % 238 + 1", isTree: false) == ["Z_6FAVOURITES"])
    #expect(try names("i", isTree: true) == ["Z_6FAVOURITES"])
  }

  @Test("objects of which none is there are not few: links name as many as there were at least")
  func lostObjects() throws {
    let folder = try TemporaryFolder()
    let connection = try Connection(path: folder.path("new.sqlite"), mode: .create)
    try connection.execute(
      """
      CREATE TABLE ZCLIENT (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER);
      CREATE TABLE ZUSER (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER);
      CREATE TABLE Z_1CLIENTS (first INTEGER, second INTEGER);
      CREATE TABLE Z_1USERS (first INTEGER, second INTEGER);
      INSERT INTO ZCLIENT WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
      SELECT i, 1 FROM n
      """)
    let clients = JoinPlacing.Side(table: "ZCLIENT", numbers: [1], greatest: .max)
    let users = JoinPlacing.Side(table: "ZUSER", numbers: [2], greatest: .max)
    let candidates = try [
      candidate("Z_1CLIENTS", [clients, clients], connection),
      candidate("Z_1USERS", [clients, users], connection),
    ]
    #expect(
      try names(ofLinks: "i, 201 - i", among: candidates, isTree: true, connection).isEmpty)
  }

  @Test("a table whose upper page is lost has several trees, each with keys of its own")
  func partsOfTrees() throws {
    let folder = try TemporaryFolder()
    let connection = try Connection(path: folder.path("new.sqlite"), mode: .create)
    // The tags are lost.
    try connection.execute(
      """
      CREATE TABLE ZRECIPE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER);
      CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER);
      CREATE TABLE Z_9TAGS (Z_9RECIPES INTEGER, Z_11TAGS INTEGER);
      CREATE TABLE Z_9SIMILAR (Z_9SIMILAR INTEGER, REFLEXIVE INTEGER);
      INSERT INTO ZRECIPE WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
      SELECT i, 9 FROM n
      """)
    let recipes = JoinPlacing.Side(table: "ZRECIPE", numbers: [9], greatest: 500)
    let tags = JoinPlacing.Side(table: "ZTAG", numbers: [11], greatest: 20)
    let candidates = try [
      candidate("Z_9TAGS", [recipes, tags], connection),
      candidate("Z_9SIMILAR", [recipes, recipes], connection),
    ]
    let path = folder.path("links.sqlite")
    let made = try Connection(path: path, mode: .create)
    try made.execute(
      """
      CREATE TABLE a (first INTEGER, second INTEGER);
      INSERT INTO a WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
      SELECT i, i * 7 % 20 + 1 FROM n
      """)
    made.close()
    let image = try DatabaseImage(path: path, log: nil)
    /// The tables of two trees.
    func tables(root: (Int64) -> [Int]) throws -> [Int: String] {
      var joining = JoinPlacing(connection)
      var count = 0
      var scan = RowScan(image, try TreeMap(image, roots: [2], isComplete: true))
      try scan.rows(where: { role, root in role == .leaf && root == 2 }) { row, record in
        for root in root(row.key) {
          var row = row
          row.root = root
          if joining.add(row, record) { count += 1 }
        }
      }
      #expect(count >= 400)
      return try joining.tables(among: candidates, isInOrder: false).mapValues(\.name)
    }
    #expect(try tables { [$0 <= 150 ? 7 : 9] } == [7: "Z_9TAGS", 9: "Z_9TAGS"])
    // The same keys twice: one of the trees is of another time.
    #expect(try tables { _ in [7, 9] }.isEmpty)
    #expect(try tables { [$0 <= 150 ? 7 : 9] + ($0 == 150 ? [9] : []) }.isEmpty)
  }

  @Test("a page whose tree is not known is of the table that has an index with its rows")
  func pagesByIndexes() throws {
    let twins = try Twins(second: "SELECT i, 31 - i FROM n")
    #expect(
      try twins.tables(askingIndexesOf: ["Z_1A", "Z_1B", "Z_1C"], areTreesKnown: false)
        == [-2: "Z_1A", -3: "Z_1B"])
    #expect(try twins.tables(askingIndexesOf: [], areTreesKnown: false).isEmpty)
    // A page of another state of the store has the same rows, and is the same table's.
    let states = try Twins(second: "SELECT i, i FROM n")
    #expect(
      try states.tables(askingIndexesOf: ["Z_1A"], areTreesKnown: false)
        == [-2: "Z_1A", -3: "Z_1A"])
  }

  /// The links of two relationships between the same entities, and of a third that has none.
  private struct Twins {
    let folder: TemporaryFolder
    let path: String
    let connection: Connection
    var candidates: [JoinPlacing.Candidate] = []

    /// - Parameter second: the links of the second table; those of the first are 1 to 30 each to itself.
    init(second: String) throws {
      folder = try TemporaryFolder()
      path = folder.path("links.sqlite")
      connection = try Connection(path: folder.path("new.sqlite"), mode: .create)
      let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)"
      let tables = ["Z_1A", "Z_1B", "Z_1C"].map {
        "CREATE TABLE \($0) (first INTEGER, second INTEGER); "
      }.joined()
      try connection.execute(
        tables
          + "CREATE TABLE ZITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER); INSERT INTO ZITEM \(numbers) SELECT i, 1 FROM n"
      )
      let made = try Connection(path: path, mode: .create)
      try made.execute(
        tables + """
          CREATE INDEX Z_1A_second_INDEX ON Z_1A (second, first);
          CREATE INDEX Z_1B_second_INDEX ON Z_1B (second, first);
          CREATE INDEX Z_1C_second_INDEX ON Z_1C (second, first);
          INSERT INTO Z_1A \(numbers) SELECT i, i FROM n; INSERT INTO Z_1B \(numbers) \(second)
          """)
      made.close()
      let side = JoinPlacing.Side(table: "ZITEM", numbers: [1], greatest: 30)
      for name in ["Z_1A", "Z_1B", "Z_1C"] {
        candidates.append(
          JoinPlacing.Candidate(
            table: try SalvagedTable(
              name: name, numbers: [], root: 0, connection: connection, encoding: .utf8),
            sides: [side, side]))
      }
    }

    /// Puts the pages of the first two tables' indexes in each other's place.
    func swapIndexes() throws {
      let made = try Connection(path: path, mode: .immutable)
      let roots = try made.rows(
        "SELECT rootpage FROM sqlite_master WHERE type = 'index' ORDER BY name LIMIT 2"
      ).compactMap { $0[0].integer.map(Int.init) }
      made.close()
      #expect(roots.count == 2)
      var bytes = try FileSystem.read(path)
      let places = roots.map { ($0 - 1) * 4096..<$0 * 4096 }
      let pages = places.map { Array(bytes[$0]) }
      for (place, page) in zip(places, pages.reversed()) {
        bytes.replaceSubrange(place, with: page)
      }
      try FileSystem.write(bytes, to: path)
    }

    /// The tables that have an index with a group's rows, by group.
    func witnesses(known: [String: [Int64: [Int64]]]) throws -> [Int: Set<String>] {
      try JoinWitnesses(SalvageSource(path: path, log: .none)).byIndexes(
        of: ["Z_1A", "Z_1B", "Z_1C"], rows: [-2: Self.first, -3: Self.second], known: known)
    }

    /// Each to itself, and each to the one that is as far from the end.
    static let first = Dictionary(
      uniqueKeysWithValues: (1...30).map { (Int64($0), [Int64($0), Int64($0)]) })
    static let second = Dictionary(
      uniqueKeysWithValues: (1...30).map { (Int64($0), [Int64($0), Int64(31 - $0)]) })

    /// The tables of both trees, by root.
    ///
    /// - Parameter tables: those whose indexes are asked.
    func tables(
      askingIndexesOf tables: Set<String>, areTreesKnown: Bool = true
    ) throws -> [Int: String] {
      var joining = JoinPlacing(connection)
      let source = try SalvageSource(path: path)
      var scan = RowScan(
        source.image, try TreeMap(source.image, roots: [2, 3, 4], isComplete: true))
      try scan.rows(where: { role, root in role == .leaf && root > 1 }) { row, record in
        var row = row
        if !areTreesKnown { row.root = 0 }
        let isOfKeys = joining.add(row, record)
        #expect(isOfKeys)
      }
      return try joining.tables(
        among: candidates, isInOrder: false,
        witnesses: try JoinWitnesses(source).byIndexes(of: tables, rows: joining.rows)
      ).mapValues(\.name)
    }
  }

  @Test("an index that the schema lists says whose the rows are that no key decides")
  func byIndexes() throws {
    let twins = try Twins(second: "SELECT i, 31 - i FROM n")
    #expect(try twins.tables(askingIndexesOf: []).isEmpty)
    #expect(
      try twins.tables(askingIndexesOf: ["Z_1A", "Z_1B", "Z_1C"]) == [2: "Z_1A", 3: "Z_1B"])
    #expect(try twins.tables(askingIndexesOf: ["Z_1B"]) == [3: "Z_1B"])
  }

  /// Four links of a store were left out: the list of tables led to an index of the other store's, and by that to a
  /// table whose own page had other links under the same keys.
  @Test("where pages of two stores are mixed, an index with another table's rows shows nothing")
  func indexesOfTheOtherStore() throws {
    let twins = try Twins(second: "SELECT i, 31 - i FROM n")
    // Rows that are where the index leads to are what it shows.
    #expect(
      try twins.witnesses(known: ["Z_1A": Twins.first]) == [-2: ["Z_1A"], -3: ["Z_1B"]])
    try twins.swapIndexes()
    #expect(try twins.witnesses(known: [:]) == [-2: ["Z_1B"], -3: ["Z_1A"]])
    // The tree of the first table is known: neither its index nor the other one is right.
    #expect(try twins.witnesses(known: ["Z_1A": Twins.first]).isEmpty)
    // That of a third table has other rows than both: nothing is known to be wrong.
    let third = Twins.first.mapValues { [$0[0] + 100, $0[1]] }
    #expect(try twins.witnesses(known: ["Z_1C": third]) == [-2: ["Z_1B"], -3: ["Z_1A"]])
  }

  @Test("a link whose key another has gets a free one, and the same link is there once")
  func keysOfLinks() throws {
    let folder = try TemporaryFolder()
    let connection = try Connection(path: folder.path("new.sqlite"), mode: .create)
    try connection.execute(
      """
      CREATE TABLE Z_1A (first INTEGER, second INTEGER, PRIMARY KEY (first, second));
      INSERT INTO Z_1A (rowid, first, second) VALUES (1, 7, 7), (2, 8, 8), (5, 9, 9)
      """)
    let table = try SalvagedTable(
      name: "Z_1A", numbers: [], root: 0, connection: connection, encoding: .utf8)
    let path = folder.path("links.sqlite")
    let made = try Connection(path: path, mode: .create)
    // The first is there, the second too under another key, the third's key is taken, the fourth is free.
    try made.execute(
      """
      CREATE TABLE a (first INTEGER, second INTEGER);
      INSERT INTO a (rowid, first, second) VALUES (1, 7, 7), (2, 9, 9), (5, 1, 2), (6, 3, 4), (8, 8, 8)
      """)
    made.close()
    let image = try DatabaseImage(path: path, log: nil)
    var scan = RowScan(image, try TreeMap(image, roots: [2], isComplete: true))
    try scan.rows(where: { role, root in role == .leaf && root == 2 }) { row, record in
      _ = try table.insertLink(row.key, record)
    }
    let links = try connection.rows("SELECT rowid, first, second FROM Z_1A ORDER BY rowid").map {
      $0.compactMap(\.integer)
    }
    #expect(links == [[1, 7, 7], [2, 8, 8], [5, 9, 9], [6, 1, 2], [7, 3, 4]])
    #expect(table.refused.isEmpty && table.rows == 2 && table.guessed == 2)
  }

  @Test(
    "of two trees with the same rows it is all the same which is whose, and no third table is either"
  )
  func byIndexesOfTwins() throws {
    let twins = try Twins(second: "SELECT i, i FROM n")
    #expect(Set(try twins.tables(askingIndexesOf: ["Z_1A", "Z_1B"]).values) == ["Z_1A", "Z_1B"])
    // The other may be of the third table.
    #expect(try Array(twins.tables(askingIndexesOf: ["Z_1B"]).values) == ["Z_1B"])
  }

  @Test("a tree between two that are known is of the table that Core Data makes between theirs")
  func byOrder() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("links.sqlite")
    let made = try Connection(path: path, mode: .create)
    // Pages 2 to 6; the fourth table is empty.
    try made.execute(
      """
      CREATE TABLE a (x, y); CREATE TABLE b (x, y); CREATE TABLE c (x, y); CREATE TABLE d (x, y);
      CREATE TABLE e (x, y); INSERT INTO a VALUES (1, 1); INSERT INTO b VALUES (1, 1);
      INSERT INTO c VALUES (1, 1); INSERT INTO e VALUES (1, 1)
      """)
    made.close()
    let witnesses = JoinWitnesses(try SalvageSource(path: path, log: .none))
    let options = ["B", "C", "D"]
    func found(_ names: [String], _ known: [Int: String]) throws -> [Int: String] {
      try witnesses.byOrder(names, known: known, waiting: [3: options, 4: options])
    }
    #expect(try found(["A", "B", "C", "D", "E"], [2: "A", 6: "E"]) == [3: "B", 4: "C"])
    // One more or one fewer than there are trees: which one is not there is not known.
    #expect(try found(["A", "B", "C", "D", "F", "E"], [2: "A", 6: "E"]).isEmpty)
    #expect(try found(["A", "B", "C", "E"], [2: "A", 6: "E"]).isEmpty)
    // A store whose tables were made anew has them in any order.
    #expect(try found(["A", "B", "C", "D", "E"], [2: "E", 6: "A"]).isEmpty)
    // Two trees seem to be one table's.
    #expect(try found(["A", "B", "C", "D", "E"], [2: "A", 5: "A", 6: "E"]).isEmpty)
    // It comes out as another table than the keys allow.
    #expect(
      try witnesses.byOrder(
        ["A", "B", "C", "D", "E"], known: [2: "A", 6: "E"], waiting: [3: ["C"], 4: options])
        == [4: "C"])
  }
}
