import Files
import Lint
import ManagedModel
import ManagedStore
import ModelSearch
import TestSupport
import Testing
import Texts

@Suite("Rules of lint")
struct RuleTests {
  /// Rules that ask for more than versions: they have tests of their own.
  private static let others = ["mapping-stale", "store-refused", "swiftdata-unproven"]

  @Test("a rule fires where it must", arguments: RuleCase.all)
  func fires(rule: RuleCase) throws {
    var scene = rule.fires
    scene.options.tellsKnown = true
    let run = try scene.run()
    #expect(!run.findings(rule.rule).isEmpty, "\(run.lines) \(run.notes)")
    for finding in run.findings(rule.rule) {
      #expect(
        !finding.message.isEmpty && !finding.consequence.isEmpty && !finding.advice.text.isEmpty)
      #expect(finding.path.hasPrefix("/"))
    }
  }

  @Test("and not where something near it is in order", arguments: RuleCase.all)
  func doesNot(rule: RuleCase) throws {
    var scene = rule.not
    scene.options.tellsKnown = true
    let run = try scene.run()
    #expect(run.findings(rule.rule).isEmpty, "\(run.lines)")
    #expect(run.unreadable.isEmpty)
  }

  @Test("a warning about a version by itself that shipped so is counted, a new one is told")
  func known() throws {
    func entity(_ name: String) -> String {
      "<entity name=\"\(name)\"><relationship name=\"r\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"\(name)\"/></entity>"
    }
    let run = try LintScene.step(entity("A"), entity("A") + entity("B")).run()
    #expect(run.lines == ["inverse-missing B.r:3"] && run.known.map(\.entity) == ["A"])
  }

  @Test("one thing that came is no more than one that went")
  func rivals() throws {
    func model(_ names: String...) -> String {
      "<entity name=\"A\">"
        + names.map { "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"Date\"/>" }
        .joined() + "</entity>"
    }
    let none = try LintScene.step(model("born", "died"), model("seen")).run()
    #expect(none.findings("looks-like-rename").isEmpty, "\(none.lines)")
    let one = try LintScene.step(model("born", "died"), model("bornAt")).run()
    #expect(one.findings("looks-like-rename").map(\.former) == ["born"])
    #expect(one.findings("attribute-dropped").map(\.property) == ["died"])
    // The only one that went, and the only one that came.
    let only = try LintScene.step(model("born"), model("seen")).run()
    #expect(only.findings("looks-like-rename").map(\.former) == ["born"])
  }

  @Test("every rule has its case, a name of its own, and all its words")
  func complete() {
    let ids = LintRule.all.map(\.id)
    #expect(MessageTable.rules.faults == [] && ids == MessageTable.rules.rows.map(\.name))
    #expect(Set(ids).count == ids.count)
    #expect(Set(ids) == Set(RuleCase.all.map(\.rule) + Self.others))
    for rule in LintRule.all {
      for text in [rule.title, rule.explanation, rule.consequence, rule.advice.text] {
        #expect(text.hasSuffix(".") && text.first?.isUppercase == true, "\(rule.id): \(text)")
      }
      if let device = rule.device { #expect(!device.text.isEmpty) }
    }
  }

  @Test("an edit that enters no hash fires nothing", arguments: hashNeutral)
  func neutral(edit: (before: String, after: String)) throws {
    let scene = LintScene(
      shipped: [("App", edit.before)], shippedCurrent: "App", now: [("App", edit.after)],
      current: "App")
    let run = try scene.run()
    #expect(run.findings.isEmpty, "\(run.lines)")
  }

  private static let hashNeutral = [
    ("optional=\"YES\"", "optional=\"YES\" defaultValueString=\"x\""),
    ("optional=\"YES\"", "optional=\"YES\" indexed=\"YES\""),
    ("optional=\"YES\"", "optional=\"YES\" regularExpressionString=\"a+\" maxValueString=\"9\""),
    ("optional=\"YES\"", "optional=\"YES\" customClassName=\"Text\""),
    ("optional=\"YES\"", "optional=\"YES\" spotlightIndexingEnabled=\"YES\""),
  ].map { before, after in
    func model(_ rest: String) -> String {
      "<entity name=\"Item\"><attribute name=\"name\" attributeType=\"String\" \(rest)/></entity>"
    }
    return (before: model(before), after: model(after))
  }

  @Test(
    "nothing that shipped and worked is an error",
    .enabled(if: Fixtures.isAvailable, "fixtures are absent"),
    arguments: TestScale.some(4, of: FixtureHistory.all))
  func fixtures(history: FixtureHistory) throws {
    for run in try history.runs() {
      let errors = run.findings.filter { $0.severity == .error }
      #expect(errors.isEmpty, "\(errors.map { "\($0.version ?? ""): \($0.message)" })")
      #expect(run.unreadable.isEmpty)
    }
  }

  /// A model of 20,000 entities took minutes: each finding was compared with every other one.
  @Test(
    "what many entities drop is told once for each of them, and what looks renamed is not told as gone"
  )
  func many() throws {
    func attribute(_ name: String) -> String {
      "<attribute name=\"\(name)\" optional=\"YES\" attributeType=\"String\"/>"
    }
    func entities(_ letter: String, _ names: (Int) -> [String]) -> String {
      (0..<100).map { number in
        "<entity name=\"\(letter)\(number)\">\(names(number).map(attribute).joined())</entity>\n"
      }.joined()
    }
    let dropped = try LintScene.step(
      entities("A") { ["a\($0)", "b"] }, entities("A") { _ in ["b"] }
    ).run()
    let told = dropped.findings("attribute-dropped")
    #expect(told.count == 100)
    #expect(Set(told.map(\.subject)) == Set((0..<100).map { "A\($0).a\($0)" }))
    let renamed = try LintScene.step(
      entities("A") { ["a\($0)", "b\($0)"] }, entities("B") { ["a\($0)", "c\($0)"] }
    ).run()
    let likely = renamed.findings("looks-like-rename")
    #expect(
      Set(likely.map { "\($0.former ?? "") \($0.entity ?? "")" })
        == Set((0..<100).map { "A\($0) B\($0)" }))
    #expect(renamed.findings("entity-dropped").isEmpty)
  }

  @Test("of an entity that moved to another parent it is said what it no longer inherits")
  func movedToOtherParent() throws {
    let attribute = "<attribute name=\"x\" optional=\"YES\" attributeType=\"String\"/>"
    func entities(_ parent: String) -> String {
      """
      <entity name="R" isAbstract="YES"/>
      <entity name="P" parentEntity="R">\(attribute)</entity>
      <entity name="Q" parentEntity="R"/>
      <entity name="C" parentEntity="\(parent)"/>

      """
    }
    let told = try LintScene.step(entities("P"), entities("Q")).run().findings("attribute-dropped")
    #expect(told.count == 1)
    let message = try #require(told.first).message
    #expect(message.hasPrefix("Objects of C have P.x in “"), "\(message)")
    #expect(message.contains("and nothing takes their values over."), "\(message)")
    #expect(!message.contains("is not in"), "\(message)")
  }
}
