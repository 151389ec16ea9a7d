import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Mapping
@testable import Migration

@Suite("Expressions of recipes")
struct RecipeExpressionTests {
  @Test("names are properties, paths lead through to-one relationships, count counts")
  func names() throws {
    let bench = try ExpressionBench()
    #expect(try bench.values("title", of: "Post") == [.text("One"), .text("O'Two"), .null])
    #expect(
      try bench.values("author.name || '!'", of: "Post") == [.text("Bo!"), .text("Ann!"), .null])
    #expect(
      try bench.values("author.boss.name", of: "Post") == [.text("Ann"), .null, .null])
    #expect(
      try bench.values("count(tags) + coalesce(score, 0)", of: "Post") == [
        .integer(5), .integer(0), .integer(0),
      ])
    #expect(try bench.values("count(author.posts)", of: "Post")[0] == .integer(1))
    #expect(try bench.values("count(staff)", of: "Author") == [.integer(1), .integer(0)])
    #expect(try bench.values("author", of: "Post") == [.integer(2), .integer(1), .null])
  }

  @Test("a property hides a word of SQL of the same case, quotes make any name one")
  func hiding() throws {
    let bench = try ExpressionBench()
    #expect(try bench.values("end", of: "Post")[0] == .integer(60))
    #expect(try bench.values("CASE WHEN end > 1 THEN 'a' END", of: "Post")[0] == .text("a"))
    #expect(
      try bench.values("\"title\" || [title] || `title`", of: "Post")[0] == .text("OneOneOne"))
    #expect(try bench.values("length(title)/* -- */ -- rest", of: "Post")[0] == .integer(3))
  }

  @Test("a value typed by hand is checked over the objects that it is computed from")
  func typed() throws {
    let source = try Library.model(replacing: [])
    let destination = try Library.model(replacing: [
      (
        #"<attribute name="genre" optional="YES" attributeType="String"/></entity><entity name="Manual""#,
        #"<attribute name="kind" optional="YES" attributeType="String"/></entity><entity name="Manual""#
      )
    ])
    func mistake(_ expression: String, _ place: String) -> CoreDataError? {
      MappingEdits().mistake(in: expression, for: place, from: source, to: destination)
    }
    #expect(mistake("upper(genre) || author.name", "Novel.kind") == nil)
    #expect(mistake("genr", "Novel.kind")?.mark?.range == 0..<4)
    #expect(mistake("genre ||", "Novel.kind") != nil)
    #expect(mistake("genre; drop", "Novel.kind")?.mark?.range == 5..<6)
    // A value of Book is computed for novels and manuals, too; no book has a genre.
    #expect(mistake("trim(title)", "Book.title") == nil)
    #expect(mistake("trim(genre)", "Book.title")?.mark?.marked == "genre")
    #expect(
      MappingEdits().sources(
        of: "Book.title", computedBy: "title", from: source, to: destination)
        == ["Book", "Manual", "Novel"])
  }

  @Test("external and internal bytes are their content")
  func content() throws {
    let bench = try ExpressionBench()
    #expect(try bench.values("hex(photo)", of: "Post")[0] == .text("010203"))
    #expect(
      try bench.values("length(photo)", of: "Post") == [.integer(3), .integer(200_000), .null])
  }

  @Test("the expressions of the design run on a store")
  func design() throws {
    let bench = try ExpressionBench()
    #expect(
      try bench.values("split_part(fullName, ' ', 1)", of: "Transaction") == [
        .text("Ada"), .text("Plato"), .text("A"),
      ])
    #expect(
      try bench.values("coalesce(rest_after(fullName, ' '), '')", of: "Transaction") == [
        .text("Lovelace"), .text(""), .text("B C"),
      ])
    #expect(
      try bench.values("amount <> 0", of: "Transaction") == [.integer(1), .integer(0), .integer(1)])
    #expect(
      try bench.values("unarchive(questions)", of: "Questions") == [
        .text(#"["Why?","How \"?"]"#)
      ])
    #expect(
      try bench.values("parse_date(date, 'yyyy-MM-dd')", of: "Records") == [
        .real(730_944_000), .null,
      ])
    #expect(
      try bench.values(
        "format_date(parse_date(date,'yyyy-MM-dd'),'yyyyMMdd') || '1000000000'", of: "Records")
        == [.text("202403011000000000"), .null])
    #expect(try bench.values("CAST(year AS INTEGER)", of: "Car")[0] == .integer(1999))
  }

  @Test("item and position are those of the array's elements")
  func elements() throws {
    let bench = try ExpressionBench()
    let each = try ExpressionScope(store: bench.store, entity: "Records").compile(
      recipe: "unarchive(questions)")
    let variables = ["item": "e.value", "position": "e.key"]
    func values(_ text: String) throws -> [Value] {
      try bench.values(
        text, of: "Records", variables: variables, from: ", json_each(\(each.sql)) e")
    }
    #expect(try values("item") == [.text("Why?"), .text("How?")])
    #expect(try values("position * 1000") == [.integer(0), .integer(1000)])
    #expect(
      try values("text_or_null(element(unarchive(answers), position))") == [.null, .text("So.")])
    #expect(Set(try values("hex(uuid())")).count == 2)
    // Something else tells objects apart where trees are deeper.
    #expect(
      try ExpressionScope(
        store: bench.store, entity: "Records",
        variables: variables.merging([ExpressionScope.instance: "e.id"]) { $1 }
      ).compile(recipe: "uuid(3)").sql
        == "uuid_from(strata_store() || '/Records/3/' || s.Z_PK || '/' || e.id)")
  }

  @Test("a UUID is another for each row, call and store, and the same when it is asked again")
  func uuid() throws {
    let bench = try ExpressionBench()
    let first = try bench.values("uuid(1)", of: "Car")
    #expect(Set(first).count == 3)
    #expect(try bench.values("uuid(1)", of: "Car") == first)
    #expect(Set(first).isDisjoint(with: try bench.values("uuid(2)", of: "Car")))
    #expect(try bench.values("uuid() = uuid()", of: "Car")[0] == .integer(0))
    #expect(try bench.values("length(uuid())", of: "Car")[0] == .integer(16))
  }

  @Test("what an expression reads is known")
  func properties() throws {
    let bench = try ExpressionBench()
    let scope = ExpressionScope(store: bench.store, entity: "Post")
    #expect(
      try scope.compile(recipe: "title || author.name || count(tags) || 'score'").properties
        == ["title", "author", "tags"])
    #expect(try scope.compile(recipe: "upper('x')").properties == [])
    #expect(try scope.compile(recipe: "title").sql == #"s."ZTITLE""#)
  }

  struct Mistake: Sendable, CustomTestStringConvertible {
    var text: String
    var marked: String
    var message: String
    var testDescription: String { text }
  }

  @Test(
    "a mistake is marked",
    arguments: [
      Mistake(text: "titel || 'x'", marked: "titel", message: "Post has no property “titel”"),
      Mistake(text: "author.nme", marked: "nme", message: "Author has no property “nme”"),
      Mistake(text: "tags", marked: "tags", message: "“tags” is to-many"),
      Mistake(
        text: "title.name", marked: "title",
        message: "“title” is an attribute: nothing can follow it"),
      Mistake(
        text: "count(title)", marked: "title",
        message: "count takes a relationship, and “title” is an attribute"),
      Mistake(text: "uper(title)", marked: "uper", message: "there is no function “uper”"),
      Mistake(text: "(title", marked: "(", message: "“(” is not closed"),
      Mistake(text: "title)", marked: ")", message: "unmatched “)”"),
      Mistake(text: "'abc", marked: "'", message: "the quote is not closed"),
      Mistake(text: "title, score", marked: ",", message: "an expression has one value"),
      Mistake(
        text: "max(score)", marked: "(", message: "max and min of one value would be over many rows"
      ),
      Mistake(
        text: "parse_date(title, 'yyyy-QQ')", marked: "'yyyy-QQ'",
        message: "“QQ” is not supported in a date pattern"),
      Mistake(
        text: "regex_replace(title, '(?=a)', '')", marked: "'(?=a)'",
        message:
          "the pattern is not understood: look-around, atomic groups and inner flags are not supported"
      ),
      Mistake(
        text: "title score", marked: "score",
        message: "SQLite does not take the expression: near \"s\": syntax error"),
      Mistake(
        text: "substr(title)", marked: "substr",
        message:
          "SQLite does not take the expression: wrong number of arguments to function substr()"),
      Mistake(
        text: "1 +", marked: "",
        message: "SQLite does not take the expression: near \")\": syntax error"),
      Mistake(text: "", marked: "", message: "the expression is empty"),
    ])
  func mistakes(_ mistake: Mistake) throws {
    let bench = try ExpressionBench()
    let scope = ExpressionScope(store: bench.store, entity: "Post")
    let error = #expect(throws: CoreDataError.self) { try scope.check(recipe: mistake.text) }
    #expect(error?.kind == .usage)
    #expect(error?.message == mistake.message)
    #expect(error?.mark?.marked == mistake.marked)
  }

  @Test("a mistyped property is guessed")
  func guess() throws {
    let bench = try ExpressionBench()
    let scope = ExpressionScope(store: bench.store, entity: "Post")
    let error = #expect(throws: CoreDataError.self) { try scope.compile(recipe: "titel") }
    #expect(error?.hint == "Did you mean title?")
  }

  static let malicious = [
    "1; DROP TABLE ZPOST", "1); DELETE FROM src.ZPOST; --", "(SELECT 1)", "(select max(1,2))",
    "EXISTS (SELECT 1 FROM sqlite_master)", "title IN (SELECT name FROM sqlite_master)",
    "(VALUES (1))", "(WITH x AS (SELECT 1) SELECT * FROM x)", "load_extension('x')",
    "readfile('/etc/passwd')", "writefile('/tmp/x', 'y')", "ATTACH 'x' AS y", "PRAGMA user_version",
    "1 UNION SELECT 2", "?", "?1", ":a", "@a", "$a", "random()", "randomblob(9)", "date('now')",
    "datetime()", "strftime('%s')", "CURRENT_TIMESTAMP", "sum(score)", "avg(score)",
    "group_concat(title)", "json_group_array(title)", "count(*)", "count(1)",
    "row_number() OVER ()", "sum(1) OVER ()", "max(score, 1) FILTER (WHERE 1)", "max(score)",
    "min(score)", "sqlite_version()", "last_insert_rowid()", "changes()", "total_changes()",
    "zeroblob(1000000000)", "RAISE(ABORT, 'x')", "s.Z_PK", "Z_PK", "rowid", "ZTITLE", "src.ZPOST",
    "sqlite_master", "title IN sqlite_master", "title IN title", "title MATCH 'x'",
    "title REGEXP 'x'", "title COLLATE evil", "fts3_tokenizer('x')", "edit(title)",
    "strata_content(photo)", "strata_store()", "json_each(title)", "'a' 'b'", "x'0", "x'zz'",
    "1e", "12abc", "title AS x", "1 FROM s", "1) FROM s WHERE (1", "*", "s.*", "title\u{0}",
    "'a\u{0}b'", "uuid(title)", "uuid(-1)", "\"\"", "[title", "/* open", "likelihood(1, 2)",
    "CAST(title AS evil)", "title ISNULL NOTNULL (", "-- only", "\\", "{", "#1", "title.author",
    "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))",
  ]

  @Test("whatever is no value of one row is refused with its place", arguments: malicious)
  func malice(_ text: String) throws {
    let bench = try ExpressionBench()
    let scope = ExpressionScope(store: bench.store, entity: "Post")
    let error = #expect(throws: CoreDataError.self) { try scope.check(recipe: text) }
    #expect(error?.kind == .usage)
    #expect(error?.mark != nil)
  }

  @Test("an expression has at most so many levels, a chain of operators among them")
  func levels() throws {
    let bench = try ExpressionBench()
    let scope = ExpressionScope(store: bench.store, entity: "Post")
    func chain(_ count: Int) -> String {
      Array(repeating: "title", count: count).joined(separator: " || ")
    }
    try scope.check(recipe: chain(100))
    let error = #expect(throws: CoreDataError.self) { try scope.check(recipe: chain(300)) }
    #expect(error?.kind == .usage)
    #expect(error?.mark != nil)
  }

  /// It took 4.4 GB, and did not hear ^C for 55 seconds.
  @Test("a value that no store of that size can hold is not computed")
  func endless() throws {
    let bench = try ExpressionBench()
    let connection = try Connection.scratch(over: bench.store)
    let scope = ExpressionScope(store: bench.store, entity: "Post")
    let sql = try scope.compile(recipe: "length(printf('%.*c', 1000000000, 'x'))").sql
    let error = #expect(throws: SQLiteError.self) { try connection.value("SELECT \(sql)") }
    #expect(error?.code == 18)
  }

  @Test("SQLite's authorizer alone refuses other tables, statements and functions")
  func authorizer() throws {
    // As if the words had not been looked at.
    for sql in [
      "(SELECT 1)", "s.v IN sqlite_master", "load_extension('x')", "random()", "date('now')",
      "sum(s.v)", "max(s.v)", "row_number() OVER ()", "1) FROM s; DROP TABLE s; --",
      "(SELECT name FROM sqlite_master)",
    ] {
      let error = #expect(throws: CoreDataError.self) {
        try ExpressionTrial(
          SQLExpression(text: sql, parts: [.init(part: .sql(sql), range: 0..<sql.utf8.count)])
        ).run()
      }
      #expect(error?.kind == .usage, "\(sql)")
    }
  }

  @Test("each word of SQL and each function that may be used is there")
  func vocabulary() throws {
    let bench = try ExpressionBench()
    for text in [
      "title IS NOT NULL AND NOT (score BETWEEN 1 AND 3) OR title IN ('a', 'b')",
      "title LIKE 'o%' ESCAPE '\\' COLLATE NOCASE", "title GLOB '*'", "title NOTNULL",
      "+1 - -2 % 3",
      "CASE score WHEN 1 THEN 'x' ELSE 'y' END", "json_extract('{\"a\":[1]}', '$.a[0]')",
      "'{\"a\":1}' -> 'a'", "'{\"a\":1}' ->> '$.a'", "printf('%05d', score)", "max(score, 1, 2)",
      "iif(TRUE, 1, 0)", "x'0AFF' || char(65)", "1.5e3 << 2 | ~1", "CAST(score AS TEXT)",
      "json_array(title, score)", "regex_replace(title, '(O)(.)', '$2$1')",
    ] {
      #expect(throws: Never.self, "\(text)") { _ = try bench.values(text, of: "Post") }
    }
  }

  @Test(
    "archived values of real stores are JSON, and every attribute of theirs can be read",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"),
    .enabled(if: Fixtures.isAvailable, "fixtures are absent"))
  func fixtures() throws {
    var archives = 0
    var expressions = 0
    for ending in [".sqlite", ".moody", "94-0.wiredatabase", "store2-6.wiredatabase"] {
      for path in Fixtures.paths(endingWith: ending) {
        let folder = try TemporaryFolder()
        guard let store = try? Store(path: folder.copy(fixture: path)), store.modelSource != .raw
        else { continue }
        let connection = try ExpressionBench.connection(to: store)
        for table in store.entityTables where store.database.contains(table.table) {
          let scope = ExpressionScope(store: store, entity: table.entity)
          for column in table.attributes {
            let text = "\"\(column.attribute.name)\""
            try scope.check(recipe: text)
            expressions += 1
            let isArchive = column.attribute.type == .transformable
            let sql = try scope.compile(recipe: isArchive ? "unarchive(\(text))" : text).sql
            let rows = try connection.rows(
              "SELECT json_valid(\(sql)) FROM src.\(quoted(table.table)) s WHERE \(sql) IS NOT NULL"
            )
            if isArchive {
              #expect(rows.allSatisfy { $0 == [.integer(1)] }, "\(path) \(text)")
              archives += rows.count
            }
          }
        }
      }
    }
    print("\(archives) archives, \(expressions) expressions")
    #expect(archives > 0)
    #expect(expressions > 300)
  }

  @Test("what is accepted runs, whatever it was made of")
  func mutated() throws {
    let bench = try ExpressionBench()
    let words = [
      "title", "author.name", "count(tags)", "score", "\"end\"", "IN", "NOT", "IS", "NULL", "(",
      ")",
      ",", "'a'", "1", "-", "||", "CASE", "WHEN", "THEN", "END", "upper(", "uuid()", "LIKE", "AND",
      "COLLATE NOCASE", "->>", "x'00'", "CAST(", "AS TEXT", "coalesce(", "[title]", "*", "BETWEEN",
      "photo", "author", "unarchive(", "element(", "min(", "json_array(", "ESCAPE", "iif(", "ELSE",
    ]
    var random = SeededGenerator(seed: 11)
    let scope = ExpressionScope(store: bench.store, entity: "Post")
    var accepted = 0
    let rounds = TestScale.count(400, ofAll: 1500)
    for _ in 0..<rounds {
      var parts = (0..<Int.random(in: 1...6, using: &random)).compactMap { _ in
        words.randomElement(using: &random)
      }
      let open = parts.joined().count { $0 == "(" } - parts.joined().count { $0 == ")" }
      parts += Array(repeating: ")", count: max(0, open))
      let text = parts.joined(separator: " ")
      do {
        try scope.check(recipe: text)
      } catch let error as CoreDataError {
        #expect(error.kind == .usage && error.mark != nil, "\(text): \(error)")
        continue
      }
      accepted += 1
      let sql = try scope.compile(recipe: text).sql
      do {
        _ = try bench.connection.rows("SELECT typeof(\(sql)) FROM src.ZPOST s")
      } catch let error as SQLiteError {
        // SQLite's own functions refuse some values, which no plan can know.
        let isOfValues = ["JSON", "ESCAPE expression", "integer overflow"].contains {
          error.message.contains($0)
        }
        #expect(isOfValues, "\(text): \(error)")
      }
    }
    #expect(accepted > rounds / 30)
  }
}
