import ManagedModel
import Terminal
import Testing

@testable import Interface
@testable import Lint

@Suite("Findings of lint in Diff")
struct FindingsTests {
  /// The sample's two versions, compared.
  private func session(width: Int = 120, height: Int = 36) throws -> Session {
    var session = try Session(width: width, height: height)
    try session.send("2")
    return session
  }

  /// A comparison of two versions, each of one entity.
  private func session(
    _ from: [Entity], _ to: [Entity], width: Int = 120, height: Int = 36
  ) throws -> Session {
    var session = try Session(width: width, height: height)
    session.otherAnswer = { effect in
      guard case .versions(let id) = effect else { return nil }
      return [
        .answer(
          id,
          .versions([
            ModelVersion(
              name: "Old", path: "", isStores: true, result: .success(try Model(entities: from))),
            ModelVersion(
              name: "New", path: "New.mom", isCurrent: true,
              result: .success(try Model(entities: to))),
          ]))
      ]
    }
    try session.send("^R", "2")
    return session
  }

  private func rows(_ session: Session) -> [String] {
    session.state.diff.findings.rows.map { row in
      switch row {
      case .heading(let title, _): "-- \(title)"
      case .note(let text): text
      case .finding(let finding):
        "\(finding.severity.sign) \(finding.rule.id) \(finding.subject ?? "")"
      }
    }
  }

  @Test("are looked for when two versions are compared, the gravest first")
  func asked() throws {
    let session = try session()
    #expect(
      rows(session) == [
        "! entity-dropped Draft", "! attribute-dropped Soup.isHot",
        "! became-mandatory Recipe.author",
      ])
    #expect(session.screen().row(1).contains("! 3 warnings  f lists"))
  }

  @Test("are a list with what is told of each")
  func list() throws {
    for (width, height) in [(100, 30), (80, 24)] {
      var session = try session(width: width, height: height)
      try session.send("f")
      try Snapshot.expect(session.screen(), named: "findings-\(width)x\(height)")
    }
  }

  @Test("lead to their lines, whatever hides them, and f comes back to the same one")
  func leads() throws {
    var session = try session()
    try session.send("z", "c", "f", "j", "⏎")
    #expect(session.state.layers.isEmpty)
    #expect(session.state.diff.selectedLine?.place == "Soup.isHot")
    try session.send("f", "j", "⏎")
    #expect(session.state.diff.selectedLine?.place == "Recipe.author")
    try session.send("/", "D", "r", "a", "f", "t", "⏎", "f", "⏎")
    #expect(session.state.diff.selectedLine?.place == "Recipe.author")
    #expect(session.state.diff.searched.isEmpty)
    try session.send("f", "g", "⏎")
    #expect(session.state.diff.selectedLine?.place == "Draft")
  }

  @Test("of what is the same in both are reached although only changes are shown")
  func unchanged() throws {
    var node = Entity("Node")
    node.attributes = [Attribute("name", .string, optional: true)]
    node.relationships = [Relationship("next", to: "Node", optional: true)]
    var session = try session([node, Entity("Other")], [node])
    #expect(rows(session).suffix(2) == ["-- in both versions", "! inverse-missing Node.next"])
    try session.send("c")
    #expect(!session.state.diff.lines.contains { $0.property == "next" })
    try session.send("f", "G", "⏎")
    #expect(session.state.diff.selectedLine?.place == "Node.next")
    #expect(!session.state.diff.showsOnlyChanges)
  }

  @Test("of an inherited property lead to where it is declared, of a renamed one to its new name")
  func places() throws {
    let session = try session()
    func place(_ entity: String?, _ property: String?) -> String? {
      var finding = LintFinding(.typeChanged, at: LintPlace(path: ""), "changed")
      (finding.entity, finding.property) = (entity, property)
      let models = session.state.known.models(from: 0, to: 1)
      let lines = session.state.diff.allLines
      return lines.element(DiffLine.index(of: finding, in: lines, models))?.place
    }
    #expect(place("Soup", "title") == "Recipe.title")
    #expect(place("Recipe", "serves") == "Recipe.portions")
    #expect(place("Soup", "serves") == "Recipe.portions")
    #expect(place("Recipe", "nothing") == "Recipe")
    #expect(place("Nothing", nil) == nil && place(nil, nil) == nil)
  }

  @Test("without a line say what they are about and lead to the first line")
  func wholes() throws {
    var session = try session()
    var finding = LintFinding(
      .versionDeleted, at: LintPlace(path: "Recipes.xcdatamodeld"), version: "Recipes 0",
      "It is gone.")
    try session.send("n", "n")
    session.state.on(DiffScreen.self) { $0.go(to: finding, in: &$1) }
    #expect(session.state.diff.list.selected == 0)
    #expect(session.state.notice?.text.contains("“Recipes 0”, which is not compared") == true)
    finding.version = nil
    session.state.on(DiffScreen.self) { $0.go(to: finding, in: &$1) }
    #expect(session.state.notice?.text.contains("the models as a whole") == true)
    (finding.entity, finding.property) = ("Recipe", "gone")
    session.state.on(DiffScreen.self) { $0.go(to: finding, in: &$1) }
    #expect(session.state.diff.selectedLine?.place == "Recipe")
    #expect(session.state.notice?.text.contains("Recipe.gone has no line of its own") == true)
  }

  @Test("none are said to be none, with how many rules looked")
  func none() throws {
    var a = Entity("A")
    a.attributes = [Attribute("n", .string, optional: true)]
    var session = try session([a], [a])
    #expect(session.screen().row(1).contains("✓ no findings"))
    try session.send("f")
    let text = session.screen().description
    #expect(
      text.contains("no findings between these versions; \(LintRule.all.count) rules looked"))
    try session.send("⏎")
    #expect(session.state.notice?.text.contains("no finding is selected") == true)
    try session.send("Esc")
    #expect(session.state.layers.isEmpty && session.state.screen == .diff)
  }

  @Test("are being looked for, cannot be had, or are called off")
  func waiting() throws {
    var session = try Session(width: 120, height: 36)
    session.otherAnswer = { effect in
      if case .compute(_, .lint) = effect { return [] }
      return nil
    }
    try session.send("2")
    #expect(session.screen().row(1).contains("… lint"))
    try session.send("f")
    #expect(session.screen().description.contains("checking the models …"))
    let task = try #require(
      session.effects.lazy.compactMap { effect -> TaskID? in
        if case .compute(let task, .lint) = effect { task } else { nil }
      }.last)
    var stopped = session
    try session.send(
      .failed(task, CoreDataError(.usage, "a word is unknown", path: ".strata.json5")))
    #expect(session.screen().row(1).contains("lint failed"))
    #expect(session.screen().description.contains("✗ a word is unknown: .strata.json5"))
    try stopped.send("Esc")
    stopped.state.on(DiffScreen.self) { screen, context in
      screen.impactTask = nil
      return screen.cancel(in: &context) ?? []
    }
    #expect(stopped.screen().row(1).contains("lint failed"))
    // What comes in all the same is of nobody any more.
    try stopped.send(.answer(task, .linted(try comparison())))
    #expect(stopped.state.diff.findings.comparison == nil)
  }

  private func comparison() throws -> LintComparison {
    let model = try SampleStore.model(1)
    let side = LintComparison.Side(name: "A", path: "", model: model)
    return try LintComparison(from: side, to: side)
  }

  @Test("their details are the rule's page, and all of them can be copied")
  func details() throws {
    var session = try session()
    try session.send("f", "d")
    let text = session.screen().description
    #expect(text.contains("On a device:") && text.contains("entity-dropped (warning)"))
    try session.send("Esc", "y")
    guard case .copy(let copied)? = session.effects.last else {
      Issue.record("nothing was copied")
      return
    }
    #expect(copied.contains("! [attribute-dropped] Soup.isHot\n"))
  }

  @Test("names out of a model cannot steer the terminal")
  func hostile() throws {
    var entity = Entity("A\u{1B}[2J\n\u{202E}B")
    entity.attributes = [Attribute("x\u{7}\r", .string, optional: true)]
    var session = try session([entity], [])
    try session.send("f")
    for keys in [[], ["d"], ["Esc", "⏎"]] {
      for key in keys { try session.send(key) }
      for cell in session.screen().cells {
        #expect(
          cell.text.unicodeScalars.allSatisfy {
            $0.value >= 0x20 && $0.value != 0x7F && $0.value != 0x202E
          })
      }
    }
  }
}
