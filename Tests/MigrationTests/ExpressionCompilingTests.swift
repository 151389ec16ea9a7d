import ManagedStore
import ModelWriting
import SQLite
import TestSupport
import Testing

@testable import Migration

@Suite("Expressions as SQL")
struct ExpressionCompilingTests {
  struct Example: Sendable, CustomTestStringConvertible {
    var format: String
    var value: Value
    var testDescription: String { format }

    init(_ format: String, _ value: Value) {
      self.format = format
      self.value = value
    }
  }

  static let examples: [Example] = [
    // Constants.
    Example("nil", .null), Example("YES", .integer(1)), Example("-7", .integer(-7)),
    Example("2.5", .real(2.5)), Example("\"it's\"", .text("it's")),
    Example("<00ff>", .blob([0, 255])),
    // Key paths.
    Example("$source.name", .text("Ann Élise")), Example("name", .text("Ann Élise")),
    Example("$source.age", .integer(41)), Example("$source.boss.name", .text("bo")),
    Example("$source.boss.employer.name", .text("Acme")), Example("$source.boss.boss.name", .null),
    Example("FUNCTION($source.boss, \"valueForKeyPath:\", \"employer.name\")", .text("Acme")),
    Example("FUNCTION($source, \"valueForKey:\", \"age\")", .integer(41)),
    Example("FUNCTION($source.boss, \"name\")", .text("bo")),
    Example("$source.name.lowercaseString", .text("ann élise")),
    Example("$source.boss.name.uppercaseString.length", .integer(2)),
    // Arithmetic: an integer divided by an integer is an integer.
    Example("$source.age + 1", .integer(42)), Example("($source.age - 1) * 2", .integer(80)),
    Example("$source.age / 2", .integer(20)), Example("$source.age / 2.0", .real(20.5)),
    Example("$source.age / 0", .null), Example("$source.score / 2", .real(1.25)),
    Example("$source.age ** 2", .real(1681)), Example("modulus:by:($source.age, 7)", .integer(6)),
    Example("$source.active + 1", .integer(2)), Example("$source.boss.age + 1", .null),
    // Decimals are decimal.
    Example("$source.balance + 0.2", .real(0.3)), Example("$source.balance * 3", .real(0.3)),
    Example("$source.balance / $source.balance", .integer(1)),
    // Dates and seconds.
    // A store keeps a date of whole seconds as an integer.
    Example("$source.born + 60", .integer(160)),
    Example("$source.born - $source.boss.born", .integer(50)),
    Example("now()", .real(1000)), Example("now() - $source.born", .real(900)),
    Example("$source.born.timeIntervalSince1970", .real(978_307_300)),
    Example("CAST($source.born, \"NSNumber\")", .integer(100)),
    Example("CAST(\"2001-01-02\", \"NSDate\")", .real(86400)),
    // Foundation's functions.
    Example("uppercase:($source.name)", .text("ANN ÉLISE")),
    Example("lowercase:($source.name)", .text("ann élise")),
    Example("canonical:($source.name)", .text("ann elise")),
    Example("length:($source.name)", .integer(9)), Example("length:(\"a😀\")", .integer(3)),
    Example("abs:(-3)", .integer(3)), Example("floor:($source.score)", .real(2)),
    Example("ceiling:($source.score)", .real(3)), Example("trunc:(-2.5)", .real(-2)),
    Example("sqrt:(16)", .real(4)), Example("exp:(0)", .real(1)), Example("ln:(1)", .real(0)),
    Example("log:(1000)", .real(3)), Example("sqrt:($source.boss.age)", .null),
    Example("bitwiseAnd:with:(12, 10)", .integer(8)),
    Example("bitwiseOr:with:(12, 10)", .integer(14)),
    Example("bitwiseXor:with:(12, 10)", .integer(6)), Example("leftshift:by:(1, 4)", .integer(16)),
    Example("rightshift:by:(16, 4)", .integer(1)), Example("onesComplement:(0)", .integer(-1)),
    // Many values.
    Example("$source.reports.@count", .integer(2)), Example("count:($source.reports)", .integer(2)),
    Example("sum:($source.reports.age)", .integer(50)),
    Example("$source.reports.@sum.age", .integer(50)),
    Example("$source.reports.@avg.age", .real(25)),
    Example("min:($source.reports.age)", .integer(20)),
    Example("max:($source.reports.name)", .text("Di")),
    Example("average:($source.reports.score)", .real(1.5)),
    Example("$source.employer.staff.@count", .integer(4)),
    Example("$source.employer.staff.reports.@count", .integer(3)),
    Example("SUBQUERY($source.reports, $x, $x.age > 25).@count", .integer(1)),
    Example("count:(SUBQUERY($source.reports, $x, $x.name == \"Cy\"))", .integer(1)),
    Example("sum:({1, $source.age, 2})", .integer(44)), Example("count:({1, 2})", .integer(2)),
    Example("max:({$source.age, 50, $source.boss.age})", .integer(50)),
    Example("average:({1, 2})", .real(1.5)),
    // Conditions.
    Example("TERNARY($source.age > 18, \"adult\", \"child\")", .text("adult")),
    Example("TERNARY(name BEGINSWITH[cd] \"ann e\" AND boss != nil, 1, 2)", .integer(1)),
    Example("TERNARY(ANY $source.reports.name == \"Cy\", $source.age, nil) + 1", .integer(42)),
    Example("TERNARY($source.boss.age > 1, 1, 2)", .integer(2)),
    // Messages.
    Example("FUNCTION($source.name, \"uppercaseString\")", .text("ANN ÉLISE")),
    Example("FUNCTION(\"oNE two\", \"capitalizedString\")", .text("One Two")),
    Example("FUNCTION($source.name, \"stringByAppendingString:\", \"?'\")", .text("Ann Élise?'")),
    Example(
      "FUNCTION(FUNCTION($source.age, \"stringValue\"), \"stringByAppendingString:\", $source.boss.name)",
      .text("41bo")),
    Example(
      "FUNCTION($source.name, \"stringByReplacingOccurrencesOfString:withString:\", \"n\", \"m\")",
      .text("Amm Élise")),
    Example("FUNCTION($source.name, \"substringToIndex:\", 3)", .text("Ann")),
    Example("FUNCTION($source.name, \"substringFromIndex:\", 4)", .text("Élise")),
    Example("FUNCTION($source.name, \"substringFromIndex:\", 99)", .text("")),
    Example("FUNCTION(\"12 apes\", \"integerValue\") + 1", .integer(13)),
    Example("FUNCTION(\" 2.5x\", \"doubleValue\")", .real(2.5)),
    Example("FUNCTION(\"yes\", \"boolValue\")", .integer(1)),
    Example("FUNCTION(\"0\", \"boolValue\")", .integer(0)),
    Example("FUNCTION($source.score, \"description\")", .text("2.5")),
    Example("FUNCTION($source.score, \"intValue\")", .integer(2)),
    Example("CAST(3.0, \"NSString\")", .text("3")),
    Example("CAST(\"7\", \"NSNumber\") + 1", .integer(8)),
    Example("$source.code.UUIDString", .text("01010101-0101-0101-0101-010101010101")),
    Example("$source.photo.length", .integer(3)),
    Example("FUNCTION($source.balance, \"decimalNumberByAdding:\", 0.2)", .real(0.3)),
  ]

  @Test("an expression gives what NSExpression would", arguments: examples)
  func values(_ example: Example) throws {
    let (store, source) = try Self.store()
    let scope = ExpressionScope(store: store, entity: "Person")
    let sql = try scope.compile(Expression(format: example.format)).sql
    #expect(try source.values(sql, of: "Person").first == example.value, "\(sql)")
  }

  @Test("constants of every kind come out of an archive as a store keeps them")
  func constants() throws {
    let (store, source) = try Self.store()
    let scope = ExpressionScope(store: store, entity: "Person")
    let bytes = [UInt8](repeating: 7, count: 16)
    let constants: [(Expression.Constant, Value)] = [
      (.null, .null), (.boolean(true), .integer(1)), (.integer(.min), .integer(.min)),
      (.real(-0.5), .real(-0.5)), (.decimal("12.75"), .real(12.75)), (.decimal("12"), .integer(12)),
      (.string("a\0'b"), .text("a\0'b")), (.date(86400.5), .real(86400.5)), (.data([]), .blob([])),
      (.data([1, 255]), .blob([1, 255])), (.uuid(bytes), .blob(bytes)),
      (.url("https://example.org/?a"), .text("https://example.org/?a")),
    ]
    for (constant, value) in constants {
      var writer = KeyedArchiveWriter()
      let root = writer.add(expression: .constant(constant))
      var reader = ArchivedExpressionReader()
      let expression = try reader.expression(KeyedArchive(writer.bytes(root: root)).root.value)
      let sql = try scope.compile(expression).sql
      #expect(try source.values(sql, of: "Person").first == value, "\(sql)")
    }
    #expect(throws: CoreDataError.self) {
      try scope.compile(.constant(.array([.integer(1)])))
    }
  }

  @Test("an expression tells which properties of the source it reads")
  func properties() throws {
    let (store, _) = try Self.store()
    let scope = ExpressionScope(store: store, entity: "Person")
    func read(_ format: String) throws -> [String] {
      try scope.compile(Expression(format: format)).properties.sorted()
    }
    #expect(try read("1 + 2") == [])
    #expect(try read("$source.age + $source.boss.score") == ["age", "boss"])
    #expect(
      try read("TERNARY(name == \"a\", sum:($source.reports.age), born)") == [
        "born", "name", "reports",
      ])
    #expect(
      try scope.compile(predicate: "NOT (age > 3 AND ANY reports.name == $source.name)").properties
        == ["age", "name", "reports"])
  }

  @Test(
    "a condition is true or false of every object",
    arguments: [
      ("age > 21", [true, false, false, true]),
      ("NOT (age > 21)", [false, true, true, false]),
      ("age == nil", [false, true, false, false]),
      ("$source.name IN {\"bo\", \"Cy\"}", [false, true, true, false]),
      ("boss.name == \"bo\" AND employer.name LIKE \"A?me\"", [true, false, false, false]),
      ("ANY reports.age < 25", [true, false, false, false]),
      ("reports.@count == 2 OR name == \"'?'\"", [true, false, false, false]),
      ("born < CAST(75, \"NSDate\")", [false, true, false, false]),
      ("now() > CAST(999, \"NSDate\")", [true, true, true, true]),
      ("boss == \"Person/p2\"", [true, false, false, false]),
      ("balance == \"0.1\"", [true, false, false, false]),
      ("name MATCHES[c] \"ann.*\"", [true, false, false, false]),
      ("FALSEPREDICATE", [false, false, false, false]),
    ])
  func predicates(format: String, expected: [Bool]) throws {
    let (store, source) = try Self.store()
    let sql = try ExpressionScope(store: store, entity: "Person").compile(predicate: format)
    #expect(
      try source.values(sql.sql, of: "Person") == expected.map { .integer($0 ? 1 : 0) },
      "\(sql.sql)")
  }

  @Test("the row may have another name, and the store be the connection's own")
  func otherScope() throws {
    let (store, _) = try Self.store()
    var scope = ExpressionScope(store: store, entity: "Person")
    (scope.row, scope.schema) = ("row", "")
    scope.variables = ["item": "json"]
    try ExpressionFunctions.define(on: store.connection)
    let value = try scope.compile(
      Expression(format: "TERNARY(boss.name == \"bo\", $source.boss.employer.name, item)"))
    let condition = try scope.compile(predicate: "ANY employer.staff.name == \"Di\"")
    let rows = try store.connection.rows(
      "SELECT \(value.sql), \(condition.sql) FROM ZPERSON row, (SELECT 'x' AS json) ORDER BY row.Z_PK"
    )
    #expect(
      rows == [
        [.text("Acme"), .integer(1)], [.text("x"), .integer(1)], [.text("x"), .integer(1)],
        [.text("x"), .integer(1)],
      ])
  }

  @Test(
    "what SQL cannot compute is refused with the expression and the way out",
    arguments: [
      ("$source.boss", "references an object"), ("$source", "is the object itself"),
      ("$source.reports.name", "has many objects"),
      ("$source.reports.@distinctUnionOfObjects.name", "gives many values"),
      ("$destination.name", "migration manager only"),
      ("$entityMapping.userInfo.x", "migration manager only"),
      ("$source.name + 1", "computes with a value that is not a number"),
      ("$source.name + $source.name", "stringByAppendingString:"),
      ("random()", "a different value each time"), ("median:({1})", "no SQL"),
      ("FUNCTION($source.name, \"makeItSo:\", 1)", "no SQL"),
      ("FUNCTION($source.name, \"substringToIndex:\")", "takes 1 argument, not 0"),
      ("add:to:(1)", "takes 2 arguments, not 1"), ("{1, 2}", "gives many values"),
      ("CAST($source.name, \"NSDate\")", "cannot be one"),
      (MappingSamples.objects("P", "$source.boss"), "only a relationship can hold"),
    ])
  func refusals(format: String, message: String) throws {
    let (store, _) = try Self.store()
    let expression = try Expression(format: format)
    let error = #expect(throws: CoreDataError.self) {
      try ExpressionScope(store: store, entity: "Person").compile(expression)
    }
    #expect(error?.kind == .refused && error?.code == 134110)
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("“\(expression)”") == true)
    #expect(error?.hint?.contains("recipe") == true && error?.entity == "Person")
  }

  @Test("a value that a policy's method computes is refused with the method's name")
  func policies() throws {
    let (store, _) = try Self.store()
    let expression = try Expression(
      format: "FUNCTION($entityPolicy, \"titleFor:\", $source.name) + 1")
    let error = #expect(throws: CoreDataError.self) {
      try ExpressionScope(store: store, entity: "Person").compile(expression)
    }
    #expect(error?.kind == .refused && error?.code == 134170)
    #expect(error?.message.contains("“titleFor:” of the mapping's policy class") == true)
    #expect(error?.hint?.contains("policies") == true)
  }

  @Test("a value becomes the kind of number that the attribute holds")
  func conversions() throws {
    let (store, source) = try Self.store()
    let scope = ExpressionScope(store: store, entity: "Person")
    func value(_ format: String, _ type: AttributeType) throws -> Value? {
      let sql = try scope.compile(Expression(format: format), for: Attribute("a", type)).sql
      return try source.values(sql, of: "Person").first
    }
    #expect(try value("$source.score", .integer16) == .integer(2))
    #expect(try value("TERNARY(age > 1, $source.score, 1)", .integer64) == .integer(2))
    #expect(try value("$source.age", .boolean) == .integer(1))
    #expect(try value("$source.boss.age", .boolean) == .null)
    #expect(try value("$source.age", .double) == .integer(41))
    #expect(try value("nil", .transformable) == .null)
    #expect(try value("$source.name", .uri) == .text("Ann Élise"))
    for (format, type) in [
      ("$source.age", AttributeType.string), ("$source.name", .integer16), ("$source.age", .date),
      ("$source.born", .double), ("$source.name", .transformable),
    ] {
      let error = #expect(throws: CoreDataError.self) { try value(format, type) }
      #expect(error?.kind == .refused && error?.property == "a")
      #expect(error?.message.hasSuffix("and “a” holds \(type.name)") == true)
    }
  }

  @Test("a property that does not exist is named, with those that do")
  func unknownProperty() throws {
    let (store, _) = try Self.store()
    let scope = ExpressionScope(store: store, entity: "Person")
    let error = #expect(throws: CoreDataError.self) {
      try scope.compile(Expression(format: "$source.boss.wings"))
    }
    #expect(error?.property == "wings" && error?.entity == "Person")
    let other = #expect(throws: CoreDataError.self) { try scope.compile(predicate: "wings == 2") }
    #expect(other?.kind == .usage && other?.mark != nil)
  }

  @Test("expressions that grow without bound end in an error")
  func size() throws {
    let (store, _) = try Self.store()
    var expression = Expression.keyPath("age", of: .variable("source"))
    for _ in 0..<40 {
      expression = .function(
        "bitwiseXor:with:", receiver: nil, arguments: [expression, expression])
      if expression.description.utf8.count > 1 << 16 { break }
    }
    #expect(throws: CoreDataError.self) {
      try ExpressionScope(store: store, entity: "Person").compile(expression)
    }
  }

  /// Ann (41, boss bo, 2 reports), bo (no age), Cy (20) and Di (30), who report to Ann.
  private static func store() throws -> (Store, AttachedStore) {
    let folder = try TemporaryFolder()
    let path = folder.path("People.sqlite")
    let writer = try StoreWriter(creating: path, model: MappingSamples.models().before)
    let acme = try writer.insert("Company", attributes: ["name": .string("Acme")])
    let (ann, bo) = (ObjectID(entity: "Person", key: 1), ObjectID(entity: "Person", key: 2))
    _ = try writer.insert(
      "Person",
      attributes: [
        "name": .string("Ann Élise"), "age": .integer(41), "score": .double(2.5),
        "born": .date(100), "balance": .decimal("0.1"), "active": .boolean(true),
        "code": .uuid([UInt8](repeating: 1, count: 16)), "photo": .bytes([1, 2, 3]),
      ], toOne: ["employer": acme, "boss": bo])
    _ = try writer.insert(
      "Person", attributes: ["name": .string("bo"), "born": .date(50)],
      toOne: ["employer": acme])
    for (name, age) in [("Cy", Int64(20)), ("Di", 30)] {
      _ = try writer.insert(
        "Person",
        attributes: [
          "name": .string(name), "age": .integer(age), "score": .double(Double(age) / 10 - 1),
        ],
        toOne: ["employer": acme, "boss": ann])
    }
    try writer.finish()
    let store = try Store(path: path)
    let attached = try AttachedStore(store)
    // Both are open: the files may lose their names.
    return (store, attached)
  }
}
