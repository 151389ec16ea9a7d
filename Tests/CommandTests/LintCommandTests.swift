import Files
import Lint
import ManagedModel
import ModelSearch
import TestSupport
import Testing

@testable import Commands
@testable import ManagedStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("lint")
struct LintCommandTests {
  private let folder: TemporaryFolder
  private let bundle: String

  private static func contents(_ attributes: String) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <model type="com.apple.IDECoreDataModeler.DataModel">
        <entity name="Dish">
            \(attributes)
        </entity>
    </model>
    """
  }
  private static let name =
    "<attribute name=\"name\" optional=\"YES\" attributeType=\"String\"/>"
  private static let mandatory = "<attribute name=\"size\" attributeType=\"Integer 16\"/>"

  init() throws {
    folder = try TemporaryFolder()
    bundle = folder.path("Dishes & more.xcdatamodeld")
    try write(Self.contents(Self.name), "Dishes.xcdatamodel/contents")
    try write(Self.contents(Self.name + "\n" + Self.mandatory), "Dishes 2.xcdatamodel/contents")
    try write(current("Dishes 2"), ".xccurrentversion")
  }

  private func write(_ text: String, _ file: String) throws {
    let path = bundle + "/" + file
    try FileSystem.makeDirectory(FileSystem.parent(of: path) ?? ".")
    try FileSystem.write(Array(text.utf8), to: path)
  }

  private func current(_ name: String) -> String {
    """
    <plist version="1.0"><dict><key>_XCCurrentVersionName</key>
    <string>\(name).xcdatamodel</string></dict></plist>
    """
  }

  @Test("status, place, the phone's sentence and what to do, as text")
  func text() {
    let result = Captured("lint", bundle)
    #expect(result.status == .no)
    #expect(
      result.out.contains("Dishes 2.xcdatamodel/contents:5: [mandatory-without-default] Dish.size"))
    let flat = result.out.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(flat.contains("134110"))
    #expect(
      flat.contains("Validation error missing attribute values on mandatory destination attribute"))
    #expect(flat.contains("Give it a default value"))
    #expect(result.lines.contains("1 error in 1 model"))
    #expect(result.err.contains("It is not known what shipped"))
    #expect(!result.out.utf8.contains(0x1B))
  }

  @Test("a rule can be made a warning or be turned off; a wrong one is told")
  func levels() throws {
    let rule = "mandatory-without-default"
    let warning = Captured("lint", bundle, "--rule", rule + "=warning")
    #expect(warning.status == .done && warning.lines.contains("1 warning in 1 model"))
    let off = Captured("lint", bundle, "--rule", rule + "=off")
    #expect(off.status == .done && off.lines.contains("✓ no findings in 1 model"))
    for (word, said) in [
      ("mandatory=off", "there is no rule “mandatory”"), (rule + "=loud", "RULE=error"),
      (rule, "RULE=error"),
    ] {
      let result = Captured("lint", bundle, "--rule", word)
      #expect(result.status == .usage && result.err.contains(said), "\(result.err)")
    }
    #expect(
      Captured("lint", bundle, "--rule", "mandatory-without-defualt=off").err
        .contains("Did you mean mandatory-without-default?"))
  }

  @Test("wrong usage and what cannot be read have their statuses")
  func statuses() throws {
    #expect(Captured("lint").status == .usage)
    #expect(Captured("lint", bundle, "--git-base", "a", "--against", "b").status == .usage)
    #expect(Captured("lint", bundle, "--json", "--format", "sarif").status == .usage)
    #expect(Captured("lint", bundle, "--git-base", "no-such").status == .usage)
    #expect(Captured("lint", folder.path("none.xcdatamodeld")).status == .unreadable)
    #expect(Captured("lint", folder.path("")).status == .no)
    try write("this is no XML", "Dishes 3.xcdatamodel/contents")
    let broken = Captured("lint", bundle)
    #expect(broken.status == .unreadable)
    #expect(broken.err.contains("Dishes 3.xcdatamodel/contents"))
    // What can be read is looked at all the same.
    #expect(broken.out.contains("mandatory-without-default"))
  }

  private struct Report: Decodable {
    struct Finding: Decodable {
      let rule, severity, path, message, consequence, advice: String
      let line, code: Int?
      let version, entity, property, sentence, by, reason: String?
    }
    let errors, warnings, silencedCount: Int
    let findings, silenced: [Finding]
    let notes: [String]
  }

  @Test("JSON has every part of a finding")
  func json() throws {
    for words in [["--json"], ["--format", "json"]] {
      let report = try Captured(["lint", bundle] + words).decoded(Report.self)
      let finding = try #require(report.findings.first)
      #expect(report.errors == 1 && report.warnings == 0 && report.findings.count == 1)
      #expect(finding.rule == "mandatory-without-default" && finding.severity == "error")
      #expect(finding.line == 5 && finding.version == "Dishes 2")
      #expect(finding.entity == "Dish" && finding.property == "size" && finding.code == 134110)
      #expect(finding.sentence?.hasPrefix("Cannot migrate store in-place") == true)
    }
  }

  @Test("an exception with a reason, a comment and user info silence, and are counted")
  func silencing() throws {
    let file = folder.path(".strata.json5")
    func configure(_ text: String) throws { try FileSystem.write(Array(text.utf8), to: file) }
    try configure(
      """
      { // reviewed
        exceptions: [
          { rule: "mandatory-without-default", entity: "Dish", property: "size", reason: "no rows" },
          { rule: "inverse-missing", reason: "gone" },
        ] }
      """)
    let report = try Captured("lint", bundle, "--json").decoded(Report.self)
    #expect(report.findings.isEmpty && report.silencedCount == 1)
    #expect(report.silenced.first?.by == "configuration")
    #expect(report.silenced.first?.reason == "no rows")
    #expect(report.notes.contains { $0.contains("json5:4: the exception for inverse-missing") })
    #expect(Captured("lint", bundle).lines.contains { $0.hasSuffix("; 1 silenced") })

    try configure("{ rules: { 'mandatory-without-default': 'warning' } }")
    #expect(Captured("lint", bundle).status == .done)
    #expect(
      Captured("lint", bundle, "--rule", "mandatory-without-default=error").status == .no)
    try configure("{ released: ['Dishes 2'] }")
    #expect(Captured("lint", bundle).status == .no)

    FileSystem.remove(file)
    try write(
      Self.contents(
        Self.name
          + Self.mandatory.split(separator: "/>").joined()
          + "><userInfo><entry key=\"strata.lint\" value=\"mandatory-without-default, odd\"/></userInfo></attribute>"
      ), "Dishes 2.xcdatamodel/contents")
    let own = Captured("lint", bundle)
    #expect(own.status == .done && own.out.contains("1 silenced"))
    #expect(own.err.contains("contents:4: there is no rule “odd”"))
  }

  @Test(
    "a mistake in the configuration is marked",
    arguments: [
      ("{ rules: { \"unique-addd\": \"off\" } }", "there is no rule “unique-addd”"),
      ("{ rules: { \"unique-added\": \"mild\" } }", "a rule must be “error”, “warning” or “off”"),
      ("{ exceptions: [{ rule: \"no-path\" }] }", "gives no reason"),
      ("{ exceptions: [{ reason: \"x\" }] }", "names no rule"),
      ("{ exeptions: [] }", "unknown key “exeptions”"), ("{ rules: ", "a value is missing"),
      ("[]", "an object is expected here, not a list"), ("{ cloudkit: 1 }", "true or false"),
    ])
  func mistakes(text: String, said: String) throws {
    try FileSystem.write(Array(("\n" + text).utf8), to: folder.path(".strata.json5"))
    let result = Captured("lint", bundle)
    #expect(result.status == .usage)
    #expect(result.err.contains(said) && result.err.contains("line 2"), "\(result.err)")
  }

  @Test("--rules lists every rule, --explain tells all of one")
  func rules() throws {
    let list = Captured("lint", "--rules")
    #expect(list.status == .done)
    for rule in LintRule.all {
      #expect(list.out.contains(rule.id))
      let page = Captured("lint", "--explain", rule.id)
      let flat = page.out.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      #expect(page.status == .done)
      for text in [rule.title, rule.explanation, rule.advice.typed, rule.consequence] {
        #expect(flat.contains(text), "\(rule.id): \(flat)")
      }
      if let code = rule.device?.code { #expect(flat.contains("\(code)")) }
    }
    let wrong = Captured("lint", "--explain", "no-paths")
    #expect(wrong.status == .usage && wrong.err.contains("Did you mean no-path?"))
  }

  @Test("GitHub's commands, each on its line")
  func github() throws {
    let result = Captured("lint", bundle, "--format", "github")
    #expect(result.status == .no)
    let line = try #require(result.lines.first)
    #expect(result.lines.count == 1)
    #expect(line.hasPrefix("::error file="))
    #expect(
      line.contains("Dishes 2.xcdatamodel/contents,line=5,title=mandatory-without-default%3A"))
    #expect(line.contains("%0AOn a device:"))
  }

  @Test("JUnit's XML: a case a rule, well-formed whatever names are in it")
  func junit() throws {
    let result = Captured("lint", bundle, "--format", "junit")
    var names: [String] = []
    var failures: [String] = []
    var counts: [String] = []
    try XMLReader.read(Array(result.out.utf8)) { event, _ in
      guard case .start(let tag, let attributes) = event else { return }
      func value(_ key: String) -> String { attributes.first { $0.name == key }?.value ?? "" }
      switch tag {
      case "testcase": names.append(value("name"))
      case "failure": failures.append(value("type"))
      case "testsuites": counts = [value("tests"), value("failures")]
      default: break
      }
    }
    #expect(names == LintRule.all.map(\.id))
    #expect(failures == ["mandatory-without-default: Dish.size"])
    #expect(counts == ["\(names.count)", "1"])
    let off = Captured("lint", bundle, "--format", "junit", "--rule", "no-path=off")
    #expect(!off.out.contains("name=\"no-path\""))
  }

  @Test("names out of a model reach no format raw")
  func hostile() throws {
    let odd = "<attribute name=\"a&#x9b;31m&#10;::error::x&lt;\" attributeType=\"Integer 16\"/>"
    try write(Self.contents(Self.name + odd), "Dishes 2.xcdatamodel/contents")
    for format in LintCommand.Format.allCases {
      let result = Captured("lint", bundle, "--format", format.rawValue)
      let isClean = result.out.unicodeScalars.allSatisfy {
        $0 == "\n" || !($0.value < 0x20 || (0x7F...0x9F).contains($0.value))
      }
      #expect(isClean, "\(format)")
      #expect(!result.lines.contains { $0.hasPrefix("::error::") })
    }
  }

  @Test("a file that is no model is said to be none, and not to be bad XML")
  func noModel() throws {
    for (text, message) in [("hello <x\n", "this is not a model"), ("\n", "the file is empty")] {
      let path = folder.path("t.txt")
      try FileSystem.write(Array(text.utf8), to: path)
      let told = Captured("lint", path)
      #expect(told.status == .unreadable)
      #expect(told.err.hasPrefix("strata: \(message): \(path)\n"), "\(told.err)")
    }
    let path = folder.path("broken.xml")
    try FileSystem.write(Array("<model>".utf8), to: path)
    #expect(Captured("lint", path).err.contains("the XML is malformed"))
  }

}
