import ManagedModel
import ManagedStore
import SQLite
import Testing

@testable import Anonymizing
@testable import DataMasking

@Suite("Pseudonyms")
struct PseudonymTests {
  private let names = Pseudonyms(key: Pseudonyms.key(ofSeed: "tests"), entities: ["Recipe"])

  @Test(
    "all texts of a shape become all texts of it, each another",
    arguments: ["0", "a", "A7", "é", "a!", "漢", "-", "00a"])
  func permutation(_ shape: String) throws {
    let alphabets: [Character: [Character]] = [
      "0": Array("0123456789"), "a": Array("abcdefghijklmnopqrstuvwxyz"),
    ]
    var texts = [""]
    for character in shape {
      let own = alphabets[character] ?? [character]
      texts = texts.flatMap { text in own.map { text + String($0) } }
    }
    let others = texts.map { names.text($0) }
    #expect(Set(others).count == texts.count)
    #expect(zip(texts, others).allSatisfy { $0 != $1 })
    if alphabets[shape.first ?? " "] != nil { #expect(Set(others) == Set(texts)) }
  }

  @Test("numbers of symbols below and above the table's size are permuted", arguments: [3, 4])
  func feistel(_ digits: Int) throws {
    let cipher = SymbolCipher(KeyedHash(key: [1, 2, 3]))
    let radices = [Int](repeating: 9, count: digits)
    let size = radices.reduce(1, *)
    var seen: Set<[Int]> = []
    for number in 0..<size {
      var rest = number
      let symbols = radices.map { radix -> Int in
        defer { rest /= radix }
        return rest % radix
      }
      let other = cipher.replaced(symbols, radices: radices, context: [])
      #expect(other != symbols)
      seen.insert(other)
    }
    #expect(seen.count == size)
  }

  @Test("lengths, case, punctuation and kinds of letters stay")
  func shapes() throws {
    let texts = [
      "Anna.Müller@example.com", "+49 170 1234567", "Ünï-cødé ЖЩ 漢字かな 한국어 😀", "a\tb\nc d",
      "https://example.com/a-b?c=1", "x\u{0}y", "Straße & Söhne", "🇩🇪 e\u{301}",
    ]
    for text in texts {
      let other = names.text(text)
      #expect(
        other.utf8.count == text.utf8.count && other.utf16.count == text.utf16.count, "\(other)")
      #expect(Array(other.utf8) != Array(text.utf8))
      for (one, two) in zip(text.unicodeScalars, other.unicodeScalars) {
        #expect(
          one.properties.generalCategory == two.properties.generalCategory, "\(text) \(other)")
        if !one.properties.isAlphabetic, one.isASCII, !("0"..."9").contains(one) {
          #expect(one == two)
        }
      }
    }
    #expect(names.text("https://example.com/a").hasPrefix("https://"))
    let long = String(repeating: "Ünlimited text, 7 words; ", count: 4000)
    let other = names.text(long)
    #expect(other.utf8.count == long.utf8.count && other != long)
    #expect(Set(other.split(separator: ";")).count > 3990)
    #expect(names.text("anna").uppercased() == names.text("ANNA"))
  }

  @Test("a UUID is the same in bytes, in texts and in URLs, and an object's URL leads to it")
  func uuids() throws {
    let bytes = (0..<16).map { UInt8($0 * 7) }
    let text = UUIDText.text(bytes)
    let other = UUIDText.text(names.uuid(bytes))
    #expect(other != text)
    #expect(names.text(text) == other)
    #expect(names.text(text.lowercased()) == other.lowercased())
    #expect(names.text("x-coredata://\(text)/Recipe/p12") == "x-coredata://\(other)/Recipe/p12")
    #expect(!names.text("x-coredata://\(text)/Person/p12").hasSuffix("/Person/p12"))
    #expect(Array(other.utf8)[14] == Array(text.utf8)[14])
  }

  @Test("JSON stays JSON, and XML property lists are read")
  func structures() throws {
    let json = #"{"name": "Anna \u00e9\n", "age": 42, "list": [1.50, -7e3, 0, true, null]}"#
    let other = names.text(json)
    #expect(other != json && other.utf8.count == json.utf8.count)
    #expect(DataKind(Array(other.utf8)) == .json)
    #expect(other.hasSuffix("0, true, null]}") && other.contains("e3"))
    let xml = """
      <?xml version="1.0" encoding="UTF-8"?>
      <plist version="1.0"><dict><key>owner</key><string>Anna &amp; Bob</string><key>n</key>
      <integer>120</integer><key>d</key><data>QUJDREU=</data><key>t</key>
      <date>2020-05-03T10:20:30Z</date></dict></plist>
      """
    let list = try PropertyList.read(Array(names.text(xml).utf8))
    let entries = try #require(list.dictionary)
    #expect(entries.count == 4 && entries["owner"] == nil)
    #expect(entries.values.contains { $0.data?.count == 5 })
    #expect(entries.values.contains { if case .date = $0 { true } else { false } })
  }

  @Test("what the rules of an attribute take is replaced by what they take")
  func rules() throws {
    func other(_ text: String, _ change: (inout Attribute) -> Void) throws -> String {
      var attribute = Attribute("a", .string)
      change(&attribute)
      let rules = try #require(TextRules(attribute))
      return names.text(text, rules)
    }
    for text in ["ID-1234", "ID-0000"] {
      let code = try other(text) { $0.validation.pattern = "ID-[0-9]{4}" }
      #expect(code != text && code.hasPrefix("ID-"))
    }
    let codes = try (1000..<1400).map { number in
      try other("ID-\(number)") { $0.validation.pattern = "ID-[0-9]{4}" }
    }
    #expect(Set(codes).count == codes.count)
    let hex = try other("abcdef") { $0.validation.pattern = "[a-f]+" }
    #expect(hex != "abcdef" && hex.allSatisfy { ("a"..."f").contains($0) })
    #expect(try other("red") { $0.validation.pattern = "red|green" } == "red")
    let one = try other("green") { $0.validation.predicates = [#"SELF IN {"red", "green"}"#] }
    #expect(one == "green")
    let start = try other("urn:abc") { $0.validation.predicates = [#"SELF BEGINSWITH "urn:""#] }
    #expect(start != "urn:abc" && start.hasPrefix("urn:"))
    #expect(try other("Untitled") { $0.defaultValue = .string("Untitled") } == "Untitled")
  }

  @Test("two keys have nothing in common, and one key gives the same twice")
  func keys() throws {
    let text = "A longer text with some words"
    let other = Pseudonyms(key: Pseudonyms.randomKey()).text(text)
    #expect(other != names.text(text))
    #expect(Pseudonyms(key: Pseudonyms.key(ofSeed: "tests")).text(text) == names.text(text))
  }
}

@Suite("The order of numbers")
struct NumberOrderTests {
  private func order(_ values: [Int64], constants: [Double] = []) -> [Int64] {
    var orders = NumberOrders([.integer: .init(constants: constants)])
    for value in values { orders.add(.integer(value), .integer) }
    orders.choose(KeyedHash(key: [7]))
    return values.compactMap { orders.replaced(.integer($0), .integer).integer }
  }

  @Test("whole numbers move within their magnitude and keep their order")
  func integers() throws {
    var values: [Int64] = [.min, -70_000, -5, 0, 3, 4, 12, 40_000, 3_000_000_000, .max]
    values += (0..<2000).map { 100_000 + $0 * 7 }
    values.sort()
    let others = order(values)
    #expect(others.count == values.count)
    #expect(zip(others, others.dropFirst()).allSatisfy(<))
    for (one, two) in zip(values, others) where one != .min {
      #expect(String(one.magnitude).count == String(two.magnitude).count)
      #expect(
        (one < 0) == (two < 0) && (Int32(exactly: one) == nil) == (Int32(exactly: two) == nil))
      if one != 0 { #expect(one != two) }
    }
  }

  @Test("where there is room nothing stays, and a full interval stays as it is")
  func room() throws {
    #expect(order([1, 2, 3, 4, 5, 6, 7, 8]) == [2, 3, 4, 5, 6, 7, 8, 9])
    #expect(order([2, 3, 4, 5, 6, 7, 8, 9]) == [1, 2, 3, 4, 5, 6, 7, 8])
    #expect(order(Array(1...9)) == Array(1...9))
    let few = order([1, 5, 9])
    #expect(zip(few, [1, 5, 9]).allSatisfy { $0 != $1 })
  }

  @Test("bounds of a model's rules part numbers, and constants stay")
  func constants() throws {
    let values: [Int64] = [11, 12, 50, 51, 99]
    let others = order(values, constants: [12, 50.5])
    var bounded = NumberOrders([.integer: .init(minima: [40], maxima: [60])])
    for value in [39, 40, 60, 61] as [Int64] { bounded.add(.integer(value), .integer) }
    bounded.choose(KeyedHash(key: [6]))
    for (value, range) in [(39, 10...39), (40, 40...60), (60, 40...60), (61, 61...99)] {
      let other = try #require(bounded.replaced(.integer(Int64(value)), .integer).integer)
      #expect(range.contains(Int(other)) && Int(other) != value)
    }
    #expect(others[0] == 10 && others[1] == 12)
    #expect((13...50).contains(others[2]) && (51...99).contains(others[3]))
  }

  @Test(
    "reals keep order, decimal places and the storage class",
    arguments: NumberOrders.Kind.allCases.filter { $0 != .integer })
  func reals(_ kind: NumberOrders.Kind) throws {
    let values: [Double] =
      kind == .float
      ? [-1.5, 0, 0.1, 2, 1e10].map { Double(Float($0)) } : [-12.25, -0.5, 0, 0.75, 3, 1234.5, 6e8]
    var orders = NumberOrders([:])
    for value in values { orders.add(.real(value), kind) }
    orders.add(.integer(1235), kind)
    orders.choose(KeyedHash(key: [8]))
    let others = try values.map { value -> Double in
      guard case .real(let other) = orders.replaced(.real(value), kind) else {
        throw Failure()
      }
      return other
    }
    #expect(zip(others, others.dropFirst()).allSatisfy(<))
    for (one, two) in zip(values, others) {
      #expect(one == 0 ? two == 0 : one != two, "\(one) \(two)")
      #expect((one < 0) == (two < 0))
      if kind == .float { #expect(Float(exactly: two) != nil) }
    }
    if case .integer(let whole) = orders.replaced(.integer(1235), kind) {
      #expect(whole != 1235)
    }
  }

  private struct Failure: Error {}
}
