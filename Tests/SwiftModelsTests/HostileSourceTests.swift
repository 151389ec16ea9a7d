import ManagedModel
import SwiftModels
import TestSupport
import Testing

@Suite("Swift that might confuse a reader")
struct HostileSourceTests {
  private func names(_ source: String) throws -> [String] {
    try model(source).model.entity(named: "Item")?.attributes.map(\.name) ?? []
  }

  @Test("brackets in strings, comments and expressions are not the program's")
  func brackets() throws {
    let found = try model(
      ##"""
      /* @Model class Ghost { /* nested } */ */
      // @Model class Ghost {
      let text = "@Model class Ghost { var a: Int }"
      @Model final class Item {
        var a = "}"
        var b = #"}" \( "# ; var c = """
          } @Model class Ghost {
          \("}" + "\("}")")
          """
        let d = /[}"{]/ ; var e: Int
        var f = 1 { didSet { print("}") /* } */ } }
        func g() -> String { "\(["}": { "}" }()])" }
        var h: Int
      }
      """##)
    #expect(found.model.entities.map(\.name) == ["Item"])
    #expect(
      found.model.entity(named: "Item")?.attributes.map(\.name) == ["a", "b", "c", "e", "f", "h"])
    #expect(found.remarks.count == 1)
  }

  @Test("macros with trailing closures, wrappers and attributes between")
  func macros() throws {
    let found = try model(
      """
      #Preview("Name", traits: .sizeThatFits) { Item() } body: { Text("}") }
      @available(iOS 17, macOS 14, *)
      @MainActor @Model
      @Other<Int>(a: { 1 }, b: [1, 2])
      public final class Item: Sendable, Identifiable {
        #warning("}")
        @Clamped(0...100) var a: Int
        @objc dynamic nonisolated(unsafe) public internal(set) var b: String
        #Expand<Item> { var ghost: Int }
        var c: Int
      }
      #Preview {
        struct Ghost { var x: Int }
      }
      """)
    #expect(found.model.entity(named: "Item")?.attributes.map(\.name) == ["a", "b", "c"])
    #expect(found.remarks == ["App.swift:7: Item.a: what @Clamped does to it was not seen"])
  }

  @Test("generics, closures and operators around properties")
  func generics() throws {
    #expect(
      try names(
        """
        struct Box<T, U: Collection> where U.Element == T { var t: T }
        func < <T>(a: Box<T, [T]>, b: Int) -> Bool where T: Equatable { a.t == a.t }
        infix operator <<<: AdditionPrecedence
        extension [Item] { var total: Int { count } }
        @Model class Item {
          var a: Dictionary<String, Array<Int>> = Dictionary<String, Array<Int>>()
          var b: Int = { (x: Int) -> Int in
            if x < 2 { return 1 } else { return x > 3 ? 4 : 5 }
          }(1)
          var c = [1, 2, 3]
            .map { $0 * 2 }
          var d: Int =
            5
          var e: Double = 1
            + 2
          var f, g: String
          subscript(i: Int) -> Int { get { 1 } set { } }
          convenience init<T: Hashable>(x: T, y: Int = { 1 }()) where T: Comparable { self.init() }
          static func == (l: Item, r: Item) -> Bool { l.a == r.a }
          deinit { print("}") }
          var h: any Codable & Sendable
          var i: Int
        }
        """) == ["a", "b", "d", "e", "f", "g", "i"])
  }

  @Test("names in backticks, semicolons, Unicode and Windows line ends")
  func names() throws {
    #expect(
      try names(
        "@Model\r\nclass Item {\r\n  var `class`: Int; var größe: Int\r\n  var `default` = 1\r\n\r\n  var d: Int\r\n}"
      ) == ["class", "größe", "default", "d"])
  }

  @Test("what cannot be read is named with its line, and the rest is read")
  func broken() throws {
    let found = try model(
      """
      @Model class Item { var a: Int }
      func f() {
        @Model class Inner { var b: Int }
      }
      @Model
      """)
    #expect(found.model.entities.map(\.name) == ["Item"])
    #expect(
      found.remarks == [
        "App.swift:3: a @Model here could not be read",
        "App.swift:5: a @Model here could not be read",
      ])
    let open = try model("@Model class Item { var a: Int; func f( { }\nvar b: Int }\n")
    #expect(open.remarks == ["App.swift:1: a bracket is never closed"])
  }

  @Test(
    "brackets and types nested a hundred thousand times",
    arguments: TestScale.some(
      4,
      of: [
        "(", "[", "{", "class A {", "\"\\(", "/*", "#if a\n", "enum A: B { case a(", "@A(", "#A(",
        "A<", "var a: [", "var a: (", "#", "`", "\"\"\"", "}", ")", "=/(", "var a: A? ", "#/\n",
        "static var a = Schema(", "extension A { extension ",
      ]))
  func deep(piece: String) {
    let text = String(repeating: piece, count: 100_000 / piece.utf8.count)
    _ = models("@Model class Item { " + text)
    _ = models("@Model class Item { var a: " + text)
    _ = models(text + String(repeating: "}", count: 10_000))
  }

  @Test("aliases and collections that multiply end soon")
  func multiplying() throws {
    var source = "@Model class Item { var a: A0; var b: Int }\ntypealias A40 = String\n"
    for number in 0..<40 { source += "typealias A\(number) = [A\(number + 1): A\(number + 1)]\n" }
    #expect(try names(source) == ["b"])
  }

  @Test("mutated sources are read, each within a second of processor time")
  func mutated() throws {
    let seed = UInt64.random(in: 1...1_000_000)
    let count = TestScale.count(300, ofAll: 4000)
    let result = Fuzzing.run(Fuzzing.swiftTarget, count: count, seed: seed)
    #expect(result.slowest < 1, "seed \(seed)")
    #expect(result.accepted > count / 4)
  }
}
