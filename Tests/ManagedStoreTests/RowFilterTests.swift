import ManagedModel
import TestSupport
import Testing

@testable import ManagedStore
@testable import StoreTables

/// A predicate and the keys of the rows that it selects.
struct FilterCase: Sendable, CustomTestStringConvertible {
  let entity: String
  let text: String
  let keys: [Int64]

  init(_ text: String, _ keys: [Int64], of entity: String = "Recipe") {
    self.entity = entity
    self.text = text
    self.keys = keys
  }

  var testDescription: String { text }
}

@Suite("Filtering rows with predicates")
struct RowFilterTests {
  static let comparisons = [
    FilterCase("title == \"Carrot soup\"", [1]), FilterCase("title = 'Carrot soup'", [1]),
    FilterCase("title ==[c] \"CARROT SOUP\"", [1]),
    FilterCase("title ==[d] \"Creme brulee\"", [3]),
    FilterCase("title ==[cd] \"CREME BRULEE\"", [3]), FilterCase("title == \"\"", [7]),
    FilterCase("title == nil", [4]), FilterCase("title != NULL", [1, 2, 3, 5, 6, 7]),
    FilterCase("title != \"Carrot soup\"", [2, 3, 4, 5, 6, 7]),
    FilterCase("title !=[c] \"carrot SOUP\"", [2, 3, 4, 5, 6, 7]),
    FilterCase("NOT title == \"Carrot soup\"", [2, 3, 4, 5, 6, 7]),
    FilterCase("title < \"D\"", [1, 3, 5, 7]), FilterCase("title >[c] \"o\"", [2, 6]),
    FilterCase("\"Carrot soup\" == title", [1]), FilterCase("2 < serves", [1, 3, 5, 7]),
    FilterCase("serves == 4", [1, 5]), FilterCase("serves != 4", [2, 3, 4, 6, 7]),
    FilterCase("serves <> 4", [2, 3, 4, 6, 7]), FilterCase("serves < 4", [2, 6]),
    FilterCase("serves =< 4", [1, 2, 5, 6]), FilterCase("serves >= 6", [3, 7]),
    FilterCase("NOT (serves < 4)", [1, 3, 4, 5, 7]),
    FilterCase("serves BETWEEN {2, 4}", [1, 2, 5]), FilterCase("serves IN {2, 6, 99}", [2, 3]),
    FilterCase("serves IN {2, nil}", [2, 4]), FilterCase("NOT serves IN {4, 2}", [3, 4, 6, 7]),
    FilterCase("serves IN {}", []), FilterCase("rating == 4.5", [1]),
    FilterCase("rating < 0", [5]), FilterCase("rating == -2", [5]),
    FilterCase("rating > serves", [1, 2]), FilterCase("isDone == YES", [1, 4]),
    FilterCase("isDone == false", [2, 5]), FilterCase("isDone != TRUE", [2, 3, 5, 6, 7]),
    FilterCase("isDone == 1", [1, 4]), FilterCase("isDone == nil", [3, 6, 7]),
    FilterCase("price == 12.5", [1]), FilterCase("price == 0.1", [2]),
    FilterCase("price == \"12345678901234567000\"", [4]),
    FilterCase("price > \"12345678901234566999.99\"", [4]),
    FilterCase("price > 1", [1, 4]), FilterCase("price < 0", [5]),
    FilterCase("price IN {0, -5}", [5, 6]), FilterCase("price == nil", [3, 7]),
  ]

  static let keys = [
    FilterCase("key == 3", [3]), FilterCase("key BETWEEN {2, 4}", [2, 3, 4]),
    FilterCase("key IN {1, 7, 99}", [1, 7]), FilterCase("SELF.key > 5", [6, 7]),
  ]

  static let texts = [
    FilterCase("title CONTAINS \"soup\"", [1]), FilterCase("title CONTAINS[c] \"soup\"", [1, 2]),
    FilterCase("title contains[cd] \"BRU\"", [3]), FilterCase("title CONTAINS \"%\"", [5]),
    FilterCase("title BEGINSWITH \"C\"", [1, 3]), FilterCase("title BEGINSWITH[c] \"soup\"", [2]),
    FilterCase("title ENDSWITH \"soup\"", [1]), FilterCase("title ENDSWITH[d] \"lee\"", [3]),
    FilterCase("title LIKE \"*soup*\"", [1]), FilterCase("title LIKE[c] \"soup*\"", [2]),
    FilterCase("title LIKE \"C*e\"", [3]), FilterCase("title LIKE \"100% \\\\*wild\\\\?*\"", [5]),
    FilterCase("title LIKE[cd] \"cr?me*\"", [3]), FilterCase("title LIKE \"\"", [7]),
    FilterCase("title MATCHES \"[A-Z]\\\\w+ soup\"", [1]), FilterCase("title MATCHES \"soup\"", []),
    FilterCase("title MATCHES[c] \".*soup.*\"", [1, 2]),
    FilterCase("title MATCHES[cd] \"creme\\\\s(brulee|caramel)\"", [3]),
    FilterCase("title MATCHES \"\\\\d{3}% .*\"", [5]),
    FilterCase("title MATCHES \"(?i)soup .*\"", [2]),
    FilterCase("title MATCHES \"\\\\p{Lu}\\\\p{Ll}+\\\\b.*\"", [1, 3]),
    FilterCase("title MATCHES \"[^a-z]*\"", [7]), FilterCase("\"soup\" IN title", [1]),
    FilterCase("title IN {\"Carrot soup\", \"x\"}", [1]),
    FilterCase("title IN[c] {\"carrot SOUP\", \"soup OF the day\"}", [1, 2]),
    FilterCase("title.length == 11", [1]), FilterCase("length:(title) > 14", [2, 6]),
    FilterCase("lowercase:(title) == \"carrot soup\"", [1]),
    FilterCase("page BEGINSWITH \"https\"", [1]), FilterCase("title CONTAINS \"\\\"; DROP\"", [6]),
  ]

  static let others = [
    FilterCase("TRUEPREDICATE", [1, 2, 3, 4, 5, 6, 7]), FilterCase("FALSEPREDICATE", []),
    FilterCase("serves == 4 AND rating > 0", [1]), FilterCase("serves == 4 && isDone == NO", [5]),
    FilterCase("serves == 2 OR serves == 6 OR serves == 8", [2, 3, 7]),
    FilterCase("!(serves == 4 || serves == 2)", [3, 4, 6, 7]),
    FilterCase("(serves == 4 AND (rating < 0 OR rating > 4)) OR title == nil", [1, 4, 5]),
    FilterCase("createdAt == \"2024-03-01T12:00:00Z\"", [1]),
    FilterCase("createdAt == \"2024-03-01 14:00+02:00\"", [1]),
    FilterCase("createdAt > CAST(\"2024-03-02\", \"NSDate\")", [2, 4]),
    FilterCase("createdAt < CAST(0, \"NSDate\")", [5]),
    FilterCase("createdAt BETWEEN {\"2024-03-01\", \"2024-04-01\"}", [1, 2]),
    FilterCase("createdAt < now() - 86400", [1, 2, 5]), FilterCase("createdAt == nil", [3, 6, 7]),
    FilterCase("identifier == \"12345678-9abc-4def-8123-456789abcdef\"", [1]),
    FilterCase("identifier != nil", [1]), FilterCase("photo != nil", [1]),
    FilterCase("extra == <010203>", [2]), FilterCase("serves * 2 == 8", [1, 5]),
    FilterCase("serves + 1 > 6", [3, 7]), FilterCase("serves / 8.0 == 0.5", [1, 5]),
    FilterCase("serves / 3 == 1", [1, 5]),
    FilterCase("abs:(rating) == 2", [5]),
    FilterCase("TERNARY(serves > 3, 1, 0) == 1", [1, 3, 5, 7]),
    FilterCase("1 == 1", [1, 2, 3, 4, 5, 6, 7]), FilterCase("\"a\" == \"b\"", []),
  ]

  static let paths = [
    FilterCase("author.name == \"Ann\"", [1, 6]), FilterCase("author.name == nil", [3, 7]),
    FilterCase("author.age > 35", [2, 5]), FilterCase("author == nil", [3, 7]),
    FilterCase("author != nil", [1, 2, 4, 5, 6]), FilterCase("author == \"Person/p1\"", [1, 6]),
    FilterCase("author == \"Author/p2\"", [2, 5]), FilterCase("author == \"Author/p1\"", []),
    FilterCase("author == \"x-coredata://\(RecipeBox.uuid)/Person/p3\"", [4]),
    FilterCase("author != \"Person/p1\"", [2, 3, 4, 5, 7]),
    FilterCase("author IN {\"Person/p1\", \"Person/p3\"}", [1, 4, 6]),
    FilterCase("SELF == \"Recipe/p3\"", [3]),
    FilterCase("SELF IN {\"Recipe/p3\", \"Recipe/p5\"}", [3, 5]),
    FilterCase("author.entity.name == \"Author\"", [2, 5]),
    FilterCase("author.recipes.@count == 2", [1, 2, 5, 6]),
    FilterCase("ANY tags.name == \"vegan\"", [1, 4, 6]),
    FilterCase("SOME tags.name BEGINSWITH \"q\"", [1, 4, 5]),
    FilterCase("ANY tags == \"Tag/p3\"", [3, 4]), FilterCase("tags CONTAINS \"Tag/p3\"", [3, 4]),
    FilterCase("\"vegan\" IN tags.name", [1, 4, 6]),
    FilterCase("tags.name CONTAINS \"vegan\"", [1, 4, 6]),
    FilterCase("NONE tags.name == \"vegan\"", [2, 3, 5, 7]),
    FilterCase("ALL tags.weight > 2", [2, 3, 6, 7]),
    FilterCase("ANY tags.weight IN {3, 5}", [1, 3, 4, 6]),
    FilterCase("ANY tags.weight BETWEEN {2, 4}", [3, 4]),
    FilterCase("tags.@count == 0", [2, 7]), FilterCase("count:(tags) >= 2", [1, 4]),
    FilterCase("tags.@max.weight == 5", [1, 4, 6]), FilterCase("tags.weight.@min == 1", [1, 4, 5]),
    FilterCase("tags.@sum.weight > 5", [1, 4]), FilterCase("tags.@avg.weight == 3", [1, 3, 4]),
    FilterCase("max:(tags.weight) == 3", [3]),
    FilterCase("SUBQUERY(tags, $t, $t.weight > 2 AND $t.name CONTAINS \"u\").@count == 1", [3, 4]),
    FilterCase("ANY goesWith.title == \"Carrot soup\"", [2]),
    FilterCase("goesWith.@count > 0", [1, 2]),
    FilterCase("ANY author.recipes.tags.name == \"quick\"", [1, 2, 4, 5, 6]),
    FilterCase("ANY recipes.title CONTAINS[c] \"soup\"", [1, 2], of: "Person"),
    FilterCase("entity == \"Author\"", [2], of: "Person"),
    FilterCase("SELF.@entity != \"Author\"", [1, 3], of: "Person"),
    FilterCase("pen == \"J\"", [2], of: "Author"), FilterCase("name LIKE \"*\"", [2], of: "Author"),
    FilterCase("SELF.age == 30", [1], of: "Person"),
    FilterCase("ANY others.serves == 6", [1], of: "Menu"),
    FilterCase("main.author.name == \"Ann\"", [1], of: "Menu"),
  ]

  @Test(
    "a predicate selects exactly these rows", arguments: comparisons + keys + texts + others + paths
  )
  func selects(_ example: FilterCase) throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    let filter = try RowFilter(example.text, entity: example.entity, store: store)
    #expect(
      try RowPageTests.all(store, RowQuery(entity: example.entity, limit: 2, filter: filter))
        == example.keys)
    #expect(try store.count(of: example.entity, filter: filter) == example.keys.count)
    let down = RowQuery(
      entity: example.entity,
      sort: .init(property: example.entity == "Menu" ? "day" : nil, descending: true),
      limit: 3, filter: filter)
    #expect(try RowPageTests.all(store, down) == example.keys.reversed())
    for (offset, key) in example.keys.enumerated() {
      #expect(try store.key(at: offset, in: example.entity, filter: filter) == key)
    }
  }

  @Test(
    "a mistake is marked at its word",
    arguments: [
      ("titel == \"x\"", "titel", "Did you mean title?"), ("author.nam == \"x\"", "nam", "name"),
      ("title == 4", "4", nil), ("serves == \"four\"", "\"four\"", nil),
      ("serves == 4 AND rating == \"x\"", "\"x\"", nil), ("title > nil", "nil", nil),
      ("serves CONTAINS \"4\"", "serves", nil), ("tags.name == \"x\"", "tags.name", "ANY"),
      ("ANY author.name == \"x\"", "author.name", nil), ("author.@count == 1", "@count", nil),
      ("createdAt == \"2024-02-30\"", "\"2024-02-30\"", nil),
      ("identifier == \"12\"", "\"12\"", nil),
      ("author == \"Recipe/p1\"", "\"Recipe/p1\"", nil),
      ("author == \"Persn/p1\"", "\"Persn/p1\"", "Person"),
      ("author == \"x-coredata://00/Person/p1\"", "\"x-coredata://00/Person/p1\"", RecipeBox.uuid),
      ("title MATCHES \"(a\"", "\"(a\"", nil), ("title MATCHES \"(a)\\\\1\"", "\"(a)\\\\1\"", nil),
      ("title ==[x] \"a\"", "x", nil), ("serves ==[c] 4", "serves", nil),
      ("(serves == 4 AND titel == 1)", "titel", "title"), ("serves ==", "", nil),
      ("serves == 4 serves", "serves", nil), ("serves = 4 AND (rating > )", ")", nil),
      ("title == \"open", "\"open", nil), ("serves BETWEEN {1}", "1", nil),
      ("serves IN 4", "4", nil),
      ("photo == <00>", "photo", nil), ("entity == \"Recip\"", "\"Recip\"", "Recipe"),
      ("$x == 1", "$x", nil), ("foo:(title) == 1", "foo:", nil), ("title.foo == 1", "foo", nil),
      ("tags.@foo == 1", "@foo", nil), ("serves + title == 4", "title", nil),
      ("author.tags.@count == 1", "tags", nil), ("é == 1", "é", nil),
      ("title == \"é\" AND foo == 1", "foo", nil), ("SELF == 4", "4", "Recipe"),
    ] as [(String, String, String?)])
  func marks(text: String, marked: String, hint: String?) throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    do {
      _ = try RowFilter(text, entity: "Recipe", store: store)
      Issue.record("it was understood")
    } catch {
      #expect(error.kind == .usage)
      #expect(error.mark?.marked == marked, "\(error)")
      #expect(error.mark?.text == text)
      if let hint {
        #expect((error.hint ?? error.message).contains(hint) || error.message.contains(hint))
      }
    }
  }

  @Test(
    "what SQL or a text without quotes means is said as it is typed",
    arguments: [
      ("createdAt > 2023-01-01", "Type: createdAt > \"2023-01-01\""),
      (
        "createdAt > 2023-01-01T12:00:00Z AND serves > 2",
        "Type: createdAt > \"2023-01-01T12:00:00Z\" AND serves > 2"
      ),
      ("createdAt > 01.02.2023", "\"2024-03-01\""), ("createdAt == today", "now()"),
      ("title contains pot", "Type: title contains \"pot\""),
      ("title CONTAINS[cd] potato soup", "Type: title CONTAINS[cd] \"potato soup\""),
      ("(title == pot OR serves > 2)", "Type: (title == \"pot\" OR serves > 2)"),
      ("title LIKE pot%", "Type: title LIKE \"pot*\""), ("title == 4", "Type: title == \"4\""),
      ("title == titel", "Did you mean title? As text: title == \"titel\""),
      ("author IS NULL", "Type: author == nil"), ("author is not null", "Type: author != nil"),
      ("serves > 2 AND title IS NULL", "Type: serves > 2 AND title == nil"),
      ("author == Ann", "author.name == \"Ann\""),
      (
        "identifier == 12345678-9ABC-4DEF-8123-456789ABCDEF",
        "Type: identifier == \"12345678-9ABC-4DEF-8123-456789ABCDEF\""
      ),
      ("title IN (a, b)", "Type: title IN {\"a\", \"b\"}"),
      ("serves BETWEEN 1 AND 3", "Type: serves BETWEEN {1, 3}"),
    ])
  func advice(text: String, hint: String) throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    let error = #expect(throws: CoreDataError.self) {
      try RowFilter(text, entity: "Recipe", store: store)
    }
    #expect(error?.hint?.contains(hint) == true, "\(error?.message ?? ""): \(error?.hint ?? "")")
    #expect(error?.mark?.range.isEmpty == false)
  }

  @Test("a percent sign in LIKE is doubted, and nothing else is")
  func doubt() throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    func doubt(_ text: String) throws -> String? {
      try RowFilter(text, entity: "Recipe", store: store).doubt(store.layout)
    }
    #expect(try doubt("title LIKE \"%soup%\"")?.contains("Type: title LIKE \"*soup*\"") == true)
    #expect(try doubt("title LIKE[cd] \"soup%\"")?.contains("\"soup*\"") == true)
    #expect(try doubt("title LIKE \"100%*\"") == nil)
    #expect(try doubt("title CONTAINS \"%\"") == nil)
  }

  @Test("patterns made to explode, and nesting without end, are done at once")
  func hostile() throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    let texts = [
      "(a+)+$", "(a|aa)+", "(a*)*c", "([a-z]+)*d", "(a?){500}a{500}", "(.*)(.*)(.*)(.*)x",
      "(((((a*)*)*)*)*)*c", "((){1000}){1000}", "(((a{9}){9}){9}){9}",
      "((((){999}){999}){999}){999}",
      String(repeating: "(", count: 9_000), "[", "\\", "a{2,1}", "\\p{Xx}", "(?<=a)b", "a**", "*",
    ]
    for text in texts {
      // Read once; matched in a time that is proportional to what is looked at.
      var pattern: TextPattern?
      let reading = ProcessorTime.seconds {
        pattern = try? TextPattern(matching: text, ignoringCase: false, ignoringMarks: false)
      }
      #expect(reading < 20, "\(text)")
      guard let pattern else { continue }
      let growth = ProcessorTime.growth(
        from: 2_000, of: { String(repeating: "a", count: $0) + "b" }
      ) { _ = pattern.matches($0) }
      #expect(growth < 8, "\(text)")
    }
    let nested = [
      String(repeating: "(", count: 50_000), String(repeating: "NOT ", count: 20_000),
      String(repeating: "ANY ", count: 20_000),
      String(repeating: "serves + ", count: 5_000) + "1 == 1",
      Array(repeating: "serves == 1", count: 4_000).joined(separator: " OR "),
      String(repeating: "author.recipes.", count: 3_000) + "@count == 1",
      "title LIKE \"" + String(repeating: "*a", count: 400) + "\"",
      // SQLite has no sign for it: each level stands twice in the next one's SQL.
      String(repeating: "bitwiseXor:with:(1, ", count: 40) + "serves"
        + String(repeating: ")", count: 40) + " == 1",
    ]
    for text in nested {
      let took = ProcessorTime.seconds {
        if let filter = try? RowFilter(text, entity: "Recipe", store: store) {
          _ = try? store.count(of: "Recipe", filter: filter)
        }
      }
      #expect(took < 20, "\(text.prefix(40))")
    }
  }

  @Test("neither values nor names of a model can reach into the SQL")
  func injection() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("Odd.sqlite")
    let name = "a\" = 1 OR 1=1 --"
    var entity = Entity("E")
    entity.attributes = [
      Attribute("x", .string, optional: true), Attribute(name, .string, optional: true),
    ]
    let writer = try StoreWriter(creating: path, model: Model(entities: [entity]))
    try writer.insert("E", attributes: ["x": .string("' OR 1=1 --"), name: .string("n")])
    try writer.insert("E", attributes: ["x": .string("?1"), name: .null])
    try writer.finish()
    let store = try Store(path: path)
    for (text, keys) in [
      ("x == \"' OR 1=1 --\"", [1]), ("x == \"\\\" OR 1=1 --\"", []), ("x CONTAINS \"'\"", [1]),
      ("x == \"?1\"", [2]), ("x LIKE \"?1\"", [2]), ("x IN {\"') OR 1=1 --\"}", []),
    ] as [(String, [Int64])] {
      let filter = try RowFilter(text, entity: "E", store: store)
      #expect(try RowPageTests.all(store, RowQuery(entity: "E", filter: filter)) == keys, "\(text)")
    }
    let sorted = RowQuery(entity: "E", sort: .init(property: name), limit: 1)
    #expect(try RowPageTests.all(store, sorted) == [2, 1])
    for text in ["x; DROP TABLE ZE == 1", "x == 1) OR (1 = 1", "Z_PK == 1", "ZX == \"a\""] {
      #expect(throws: CoreDataError.self) { try RowFilter(text, entity: "E", store: store) }
    }
  }

  @Test("decimals are compared by their digits")
  func decimals() throws {
    func compared(_ a: String, _ b: String) throws -> Int {
      try #require(DecimalDigits(a)).compared(to: #require(DecimalDigits(b)))
    }
    #expect(try compared("0.1", "0.10") == 0)
    #expect(try compared("-0", "0.000") == 0)
    #expect(try compared("12345678901234567890.1", "12345678901234567890.2") == -1)
    #expect(try compared("-2", "-10") == 1)
    #expect(try compared("1.5e3", "1500") == 0)
    #expect(try compared("15e-1", "1.49") == 1)
    for text in ["", "-", ".", "1x", "1e999", "nan", "1.2.3"] {
      #expect(DecimalDigits(text) == nil)
    }
  }

  @Test("a filter serves only the entity it was made for")
  func otherEntity() throws {
    let folder = try TemporaryFolder()
    let store = try RecipeBox.store(in: folder)
    let filter = try RowFilter("name == \"Ann\"", entity: "Person", store: store)
    #expect(throws: CoreDataError.self) {
      try store.rows(RowQuery(entity: "Tag", filter: filter))
    }
  }
}
