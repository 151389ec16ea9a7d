import Files
import TestSupport
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The examples of the article on formats that begin with the command that prints them.
@Suite("The JSON that the article on formats shows")
struct JSONExampleTests {
  /// A block of the article: lines of a shell, and what the last of them prints.
  struct Example: Sendable, CustomStringConvertible {
    let commands: [String]
    /// The lines that are shown.
    let lines: [String]
    /// The same as JSON; empty where it is none.
    let shown: [JSONShape]

    var description: String { commands.last ?? "" }
  }

  static let examples: [Example] = {
    let blocks = (try? ArticleBlock.all(of: "Formats")) ?? []
    return blocks.compactMap { lines in
      let commands = lines.prefix { $0.hasPrefix("$ ") }.map { String($0.dropFirst(2)) }
      guard !commands.isEmpty else { return nil }
      let shown = Array(lines.dropFirst(commands.count))
      let isJSON = shown.first?.first == "{" || shown.first?.first == "["
      return Example(
        commands: commands, lines: shown,
        shown: isJSON ? JSONShape.all(in: shown.joined(separator: "\n")) : [])
    }
  }()

  /// Everything that the article shows as JSON.
  private static func shownAnywhere() throws -> [JSONShape] {
    try ArticleBlock.all(of: "Formats").flatMap { lines in
      JSONShape.all(in: lines.drop { $0.hasPrefix("$ ") }.joined(separator: "\n"))
        .filter(\.isObjectOrList)
    }
  }

  /// Commands whose examples other tests run, on stores that the demo is not.
  private static let ofOtherStores = [
    "strata cloudkit", "strata convert", "strata history", "strata stores --simulators",
  ]

  @Test("a command of the article prints what is shown below it")
  func run() throws {
    let demo = InterfaceDemo(objects: 100)
    let documented = try Self.shownAnywhere()
    for example in Self.examples {
      let last = example.commands.last ?? ""
      guard !Self.ofOtherStores.contains(where: { last.hasPrefix($0) }) else { continue }
      let output = Self.output(of: example.commands, in: demo)
      guard !example.shown.isEmpty else {
        let lines = output.split(separator: "\n").map(String.init)
        #expect(!lines.isEmpty && lines == example.lines, "\(example)")
        continue
      }
      let printed = JSONShape.all(in: output)
      let isJSON = !printed.isEmpty && printed.allSatisfy { $0.isObjectOrList }
      #expect(isJSON, "\(example) printed \(output)")
      for shown in example.shown {
        #expect(printed.contains { shown.isLike($0) }, "\(example) shows \(shown)")
      }
      for line in printed {
        let isShown = documented.contains { $0.isLike(line) }
        #expect(isShown, "\(example): not in the article: \(line)")
      }
    }
  }

  @Test("there are examples, and each has a command of its own")
  func each() {
    #expect(Self.examples.count > 30)
    #expect(Set(Self.examples.map(\.commands)).count == Self.examples.count)
  }

  @Test("a member that is missing, another one or a value of another kind is noticed")
  func strict() throws {
    let shown = try #require(
      JSONShape.all(in: #"{"a":1,"b":[{"c":"x}"}],"attributes":{"n":2}}"#).first)
    for (printed, isLike) in [
      (#"{"a":2.5,"b":[{"d":1},{"c":""}],"attributes":{"m":1}}"#, true),
      (#"{"a":null,"b":[],"attributes":{}}"#, true),
      (#"{"a":2,"b":[{"c":"y"}]}"#, false), (#"{"a":2,"b":[{"d":"y"}],"attributes":{}}"#, false),
      (#"{"a":"2","b":[],"attributes":{}}"#, false), ("strata: no", false),
      (#"{"a":2,"b":[],"attributes":{"n":"x"}}"#, false),
      (#"{"a":2,"b":[],"attributes":{},"z":1}"#, false),
    ] {
      let values = JSONShape.all(in: printed)
      #expect(
        values.contains { $0.isObjectOrList && shown.isLike($0) } == isLike, "\(printed)")
    }
  }

  /// What the last command prints, in a copy of the folder of a demo.
  private static func output(of commands: [String], in demo: InterfaceDemo) -> String {
    var lines = commands
    // This one ends with a save, which comes when it has begun.
    if let last = lines.last, last.hasPrefix("strata watch") {
      lines[lines.count - 1] = """
        '\(Shell.strata)' watch Recipes.sqlite --saves 1 --json > ../printed &
        until [ -s ../printed ]; do sleep 0.05; done
        strata edit Recipes.sqlite Recipe/p1 title='Leek soup' > ../edited || kill $!
        wait
        cat ../printed
        """
    }
    let preparation = lines.dropLast().map { "{ \($0)\n} > ../prepared 2>&1" }
    let script =
      [
        "cd '\(demo.folder)' && rm -rf copies && mkdir copies",
        "cp -R '\(demo.place)' copies/one && cd copies/one",
        "strata() { '\(Shell.strata)' \"$@\"; }",
      ] + preparation
      + [lines.last ?? ""]
    return Shell.output(of: script.joined(separator: "\n"), through: demo.folder + "/output")
  }
}

/// What a JSON value is made of.
indirect enum JSONShape: Decodable, Sendable, CustomStringConvertible {
  case null
  case bool
  case number
  case text
  case list([JSONShape])
  case members([String: JSONShape])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if (try? container.decode(Bool.self)) != nil {
      self = .bool
    } else if (try? container.decode(Double.self)) != nil {
      self = .number
    } else if (try? container.decode(String.self)) != nil {
      self = .text
    } else if let list = try? container.decode([JSONShape].self) {
      self = .list(list)
    } else {
      self = .members(try container.decode([String: JSONShape].self))
    }
  }

  /// The values that stand in a text one behind another; what is no JSON counts as `null`.
  static func all(in text: String) -> [JSONShape] {
    var (values, value, depth): ([JSONShape], [UInt8], Int) = ([], [], 0)
    var (isQuoted, isEscaped) = (false, false)
    for byte in text.utf8 {
      let isOutside = depth == 0 && value.isEmpty
      if isOutside, byte == UInt8(ascii: "\n") || byte == UInt8(ascii: " ") { continue }
      value.append(byte)
      if isQuoted {
        if !isEscaped, byte == UInt8(ascii: "\"") { isQuoted = false }
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isQuoted = true
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
      guard depth <= 0 else { continue }
      if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") || byte == UInt8(ascii: "\n") {
        values.append((try? JSONDecoder().decode(JSONShape.self, from: Data(value))) ?? .null)
        (value, depth) = ([], 0)
      }
    }
    if !value.isEmpty { values.append(.null) }
    return values
  }

  var isObjectOrList: Bool {
    switch self {
    case .list, .members: true
    case .null, .bool, .number, .text: false
    }
  }

  /// Members whose own members are names of a model, of which the article shows some.
  private static let named = [
    "attributes", "relationships", "entities", "edges", "compared", "kinds",
  ]

  /// Whether a value that is shown says what one that was printed is made of: `null` may be in the place of any value,
  /// and a list shows some of its elements.
  func isLike(_ printed: JSONShape, in name: String = "") -> Bool {
    switch (self, printed) {
    case (.null, _), (_, .null): return true
    case (.bool, .bool), (.number, .number), (.text, .text): return true
    case (.list(let shown), .list(let printed)):
      return printed.isEmpty
        || shown.allSatisfy { element in printed.contains { element.isLike($0) } }
    case (.members(let shown), .members(let printed)):
      guard
        Self.named.contains(name) || shown.isEmpty || printed.isEmpty
          || Set(shown.keys) == Set(printed.keys)
      else { return false }
      return shown.allSatisfy { key, value in
        printed[key].map { value.isLike($0, in: key) } ?? true
      }
    default: return false
    }
  }

  var description: String {
    switch self {
    case .null: "null"
    case .bool: "true"
    case .number: "0"
    case .text: "\"\""
    case .list(let elements): "[\(elements.first.map { "\($0)" } ?? "")]"
    case .members(let members):
      "{"
        + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
        .joined(separator: ",") + "}"
    }
  }
}
