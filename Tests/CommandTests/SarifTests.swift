import Files
import Lint
import ManagedModel
import TestSupport
import Testing

@testable import Commands
@testable import JSON

/// What the schema of SARIF 2.1.0 (oasis-tcs/sarif-spec, sarif-schema-2.1.0.json) asks of the objects
/// that lint writes. The schema itself cannot be fetched by a test; these are its rules for them:
///
/// - sarifLog: `version` and `runs` are required; version is "2.1.0"; no property but `$schema`,
///   `version`, `runs`, `inlineExternalProperties`, `properties`.
/// - run: `tool` is required; `columnKind` is utf16CodeUnits or unicodeCodePoints.
/// - tool: `driver` is required; toolComponent: `name` is required; `rules` are unique.
/// - reportingDescriptor: `id` is required; descriptions are multiformatMessageStrings with a
///   required `text`; reportingConfiguration has `enabled` and `level`.
/// - result: `message` is required, a message with `text` or `id`; `level` is none, note, warning or
///   error; `ruleIndex` is at least -1 and here a place in the driver's rules whose `id` is `ruleId`.
/// - physicalLocation: `artifactLocation` or `address`; artifactLocation's `uri` is a URI reference;
///   region's `startLine` is at least 1.
/// - suppression: `kind` is required, inSource or external.
/// - invocation: `executionSuccessful` is required; notification: `message` is required.
/// - every object here refuses properties that the schema does not name.
@Suite("SARIF")
struct SarifTests {
  private indirect enum Shape: Sendable {
    case text, number(atLeast: Int), flag
    case word(Set<String>)
    case uri
    case list(Shape, unique: Bool = false)
    case object([String: Shape], required: Set<String>)
    case map(Shape)
  }

  private static let message = Shape.object(
    ["text": .text, "markdown": .text, "id": .text, "arguments": .list(.text)], required: ["text"])
  private static let level = Shape.word(["none", "note", "warning", "error"])
  private static let location = Shape.object(
    [
      "physicalLocation": .object(
        [
          "artifactLocation": .object(["uri": .uri, "uriBaseId": .text], required: ["uri"]),
          "region": .object(["startLine": .number(atLeast: 1)], required: []),
        ], required: ["artifactLocation"]),
      "logicalLocations": .list(
        .object(["fullyQualifiedName": .text, "name": .text, "kind": .text], required: []),
        unique: true),
    ], required: [])
  private static let rule = Shape.object(
    [
      "id": .text, "shortDescription": message, "fullDescription": message, "help": message,
      "defaultConfiguration": .object(["enabled": .flag, "level": level], required: []),
    ], required: ["id"])
  private static let result = Shape.object(
    [
      "ruleId": .text, "ruleIndex": .number(atLeast: -1), "level": level, "message": message,
      "locations": .list(location), "partialFingerprints": .map(.text),
      "suppressions": .list(
        .object(
          ["kind": .word(["inSource", "external"]), "justification": .text], required: ["kind"]),
        unique: true),
    ], required: ["message"])
  private static let log = Shape.object(
    [
      "$schema": .uri, "version": .word(["2.1.0"]),
      "runs": .list(
        .object(
          [
            "tool": .object(
              [
                "driver": .object(
                  [
                    "name": .text, "version": .text, "informationUri": .uri,
                    "rules": .list(rule, unique: true),
                  ], required: ["name"])
              ], required: ["driver"]),
            "results": .list(result),
            "columnKind": .word(["utf16CodeUnits", "unicodeCodePoints"]),
            "invocations": .list(
              .object(
                [
                  "executionSuccessful": .flag,
                  "toolExecutionNotifications": .list(
                    .object(["level": level, "message": message], required: ["message"])),
                ], required: ["executionSuccessful"])),
          ], required: ["tool"])),
    ], required: ["version", "runs"])

  /// What is wrong with a value, by its path.
  private static func faults(_ value: JSON5, _ shape: Shape, _ path: String) -> [String] {
    switch (shape, value.kind) {
    case (.text, .string), (.flag, .boolean): return []
    case (.number(let least), .integer(let number)):
      return number >= Int64(least) ? [] : ["\(path) is \(number)"]
    case (.word(let words), .string(let text, _)):
      return words.contains(text) ? [] : ["\(path) is “\(text)”"]
    case (.uri, .string(let text, _)):
      let isPlain = text.utf8.allSatisfy { byte in
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
          || "-._~:/?#[]@!$&'()*+,;=%".utf8.contains(byte)
      }
      return isPlain && !text.isEmpty ? [] : ["\(path) is no URI: \(text)"]
    case (.list(let inner, let isUnique), .array(let elements)):
      let texts = elements.map { "\($0.kind)" }
      let repeated = isUnique && Set(texts).count < texts.count ? ["\(path) repeats one"] : []
      return repeated + elements.enumerated().flatMap { faults($1, inner, "\(path)[\($0)]") }
    case (.map(let inner), .object(let members)):
      return members.flatMap { faults($0.value, inner, path + "." + $0.key) }
    case (.object(let shapes, let required), .object(let members)):
      let missing = required.subtracting(members.map(\.key)).map { "\(path) lacks \($0)" }
      return missing
        + members.flatMap { member in
          shapes[member.key].map { faults(member.value, $0, path + "." + member.key) }
            ?? ["\(path) has \(member.key)"]
        }
    default: return ["\(path) is \(value.name)"]
    }
  }

  private static func member(_ key: String, of value: JSON5) -> JSON5? {
    guard case .object(let members) = value.kind else { return nil }
    return members.first { $0.key == key }?.value
  }
  private static func elements(_ value: JSON5?) -> [JSON5] {
    if case .array(let elements)? = value?.kind { elements } else { [] }
  }
  private static func text(_ value: JSON5?) -> String? {
    if case .string(let text, _)? = value?.kind { text } else { nil }
  }

  private func write(_ files: [String: String]) throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    for (name, text) in files {
      let path = folder.path(name)
      try FileSystem.makeDirectory(FileSystem.parent(of: path) ?? ".")
      try FileSystem.write(Array(text.utf8), to: path)
    }
    return folder
  }

  @Test("what lint writes is what the schema asks for, with findings, silences and broken files")
  func valid() throws {
    let attribute = "<attribute name=\"n\" attributeType=\"Integer 16\"/>"
    let odd = "<attribute name=\"ö “x\" optional=\"YES\" attributeType=\"Transformable\"/>"
    func model(_ inner: String) -> String {
      "<model><entity name=\"A b\">\(inner)</entity></model>"
    }
    let folder = try write([
      "M ö.xcdatamodeld/M.xcdatamodel/contents": model(""),
      "M ö.xcdatamodeld/M 2.xcdatamodel/contents": model(attribute + odd),
      "M ö.xcdatamodeld/M 3.xcdatamodel/contents": "broken",
      "M ö.xcdatamodeld/.xccurrentversion":
        "<plist><dict><key>_XCCurrentVersionName</key><string>M 2.xcdatamodel</string></dict></plist>",
      ".strata.json5":
        "{ rules: { 'no-path': 'off' }, exceptions: [{ rule: 'transformable-insecure', reason: 'old' }] }",
      "Odd.swift": "// strata:disable inverse-missing\n@Model class X { var y: X? }",
    ])
    let result = Captured("lint", folder.path, "--format", "sarif")
    #expect(result.status == .unreadable)
    let log = try JSON5.read(Array(result.out.utf8))
    #expect(Self.faults(log, Self.log, "log") == [])
    let run = try #require(Self.elements(Self.member("runs", of: log)).first)
    let driver = try #require(
      Self.member("tool", of: run).flatMap { Self.member("driver", of: $0) })
    let rules = Self.elements(Self.member("rules", of: driver)).map {
      Self.text(Self.member("id", of: $0))
    }
    #expect(rules == LintRule.all.map(\.id))
    let results = Self.elements(Self.member("results", of: run))
    let found = results.map { Self.text(Self.member("ruleId", of: $0)) }
    #expect(found.contains("mandatory-without-default"))
    for result in results {
      guard case .integer(let index)? = Self.member("ruleIndex", of: result)?.kind else {
        Issue.record("no ruleIndex")
        continue
      }
      #expect(rules[Int(index)] == Self.text(Self.member("ruleId", of: result)))
    }
    let suppressed = results.compactMap { result in
      Self.elements(Self.member("suppressions", of: result)).first.flatMap {
        Self.text(Self.member("kind", of: $0))
      }
    }
    #expect(Set(suppressed) == ["external", "inSource"])
  }

  @Test("the check itself refuses what the schema does")
  func check() throws {
    for text in [
      "{}", "{ version: '2.0.0', runs: [] }", "{ version: '2.1.0', runs: [{}] }",
      "{ version: '2.1.0', runs: [], odd: 1 }",
      "{ version: '2.1.0', runs: [{ tool: { driver: { name: 'x' } }, results: [{ message: { text: 'x' }, level: 'fatal' }] }] }",
      "{ version: '2.1.0', runs: [{ tool: { driver: { name: 'x' } }, results: [{ message: { text: 'x' }, locations: [{ physicalLocation: { artifactLocation: { uri: 'a b' }, region: { startLine: 0 } } }] }] }] }",
    ] {
      #expect(!Self.faults(try JSON5.read(Array(text.utf8)), Self.log, "log").isEmpty, "\(text)")
    }
  }
}
