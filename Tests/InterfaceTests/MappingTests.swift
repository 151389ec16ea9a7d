import ManagedModel
import ManagedStore
import Terminal
import Testing

@testable import Interface
@testable import Mapping
@testable import Migration

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Mapping")
struct MappingTests {
  private static let check = DataCheck(
    code: 134110, entity: "Recipe", property: "title", rows: 3,
    first: [ObjectID(entity: "Recipe", key: 7)],
    message: "missing values on a mandatory destination attribute", hint: "Fill them first.",
    predicate: "title == nil")

  private func lastRequest(_ session: Session) -> PlanRequest? {
    for case .plan(_, let request) in session.effects.reversed() { return request }
    return nil
  }

  @Test("r maps what would be lost, plans anew, and x takes it back")
  func renaming() throws {
    var session = try Session(width: 120, height: 36)
    try session.send("3", "Tab", "r")
    let popup = session.screen().description
    #expect(popup.contains("Draft becomes…") && popup.contains("joins those it has"))
    try session.send("⏎")
    #expect(lastRequest(session)?.edits.pairs == ["Draft": "Recipe"])
    #expect(session.screen().description.contains("✎ objects of Draft become Recipe"))
    try session.send("G", "k", "x")
    #expect(lastRequest(session)?.edits.isEmpty == true)
  }

  @Test("the command line is a line of the lower pane, which a small screen shows whole")
  func commandLine() throws {
    var session = try Session(width: 80, height: 24)
    try session.send("3", "Tab", "G")
    #expect(session.state.mapping.selectedProblem == nil)
    let command = session.state.mapping.command(session.state.context)
    let shown = session.screen().description.filter { !$0.isWhitespace && !"│┃".contains($0) }
    #expect(shown.contains(command.filter { !$0.isWhitespace }), "\(session.screen())")
    #expect(session.state.mapping.copies(session.state.context).first?.title == "command line")
    try session.send("⏎")
    #expect(session.screen().description.contains("as a command"))
    try session.send("Esc", "k")
    #expect(session.state.mapping.selectedProblem != nil)
  }

  @Test("the version that was chosen is the target again after a restart, and that is said once")
  func chosenTarget() throws {
    var session = try Session()
    let other = ModelVersion(
      name: "Recipes 3", path: "Old.xcdatamodeld@Recipes 3",
      result: .success(try SampleStore.model(2)))
    session.otherAnswer = { effect in
      if case .find(let id, .models) = effect { return [.answer(id, .models([other]))] }
      return nil
    }
    try session.send("3")
    try session.send("o", "p", "x", "⏎", "⏎")
    #expect(session.state.mapping.chosen?.name == "Recipes 3")
    let saved = session.state.saved
    var state = State(
      storePath: "Recipes.sqlite", size: Size(width: 100, height: 30), themeName: "mono")
    state.restore(
      try JSONDecoder().decode(SavedSession.self, from: try JSONEncoder().encode(saved)))
    var next = try Session(restoring: state)
    // Where it lies is read again; nothing is planned before that.
    #expect(lastRequest(next) == nil)
    let reading = next.effects.lazy.compactMap { effect -> TaskID? in
      guard case .find(let task, .models(path: "Old.xcdatamodeld@Recipes 3")) = effect else {
        return nil
      }
      return task
    }
    guard let task = reading.first else {
      Issue.record("the version is not read")
      return
    }
    var gone = next
    try next.send(.answer(task, .models([other])))
    #expect(lastRequest(next)?.to.name == "Recipes 3")
    #expect(next.state.notice?.text == "the target Recipes 3 is restored from the last session")
    try gone.send(.failed(task, CoreDataError(.unreadable, "there is no such file")))
    #expect(lastRequest(gone) == nil)
    #expect(gone.screen().description.contains("Nothing is planned. → o chooses another version"))
  }

  @Test("the version that --to named is the target again after a restart without it")
  func wantedTarget() throws {
    var session = try Session()
    session.otherAnswer = { effect in
      guard case .versions(let id) = effect else { return nil }
      var versions = try SampleStore.versions()
      versions[1].isWanted = true
      return [.answer(id, .versions(versions))]
    }
    try session.send("^R")
    #expect(session.state.mapping.chosen?.name == "Recipes 2")
    var state = State(
      storePath: "Recipes.sqlite", size: Size(width: 100, height: 30), themeName: "mono")
    state.restore(
      try JSONDecoder().decode(
        SavedSession.self, from: try JSONEncoder().encode(session.state.saved)))
    let next = try Session(restoring: state)
    #expect(next.state.mapping.chosen?.name == "Recipes 2" && next.state.mapping.to == 1)
    #expect(next.state.notice?.text == "the target Recipes 2 is restored from the last session")
  }

  @Test("a loss that was accepted is not accepted of the plan that is made after opening anew")
  func forgottenAcceptance() throws {
    var session = try Session()
    try session.send("3", "A", "a", "l", "l", "⏎")
    #expect(session.state.mapping.allowedLosses.count == 2)
    try session.answerEffects(session.state.reopen())
    #expect(session.state.mapping.allowedLosses.isEmpty)
  }

  @Test("a store without a model beside it goes to the current version of a bundle that is added")
  func addedBundle() throws {
    var session = try Session()
    let (first, second) = (try SampleStore.model(1), try SampleStore.model(2))
    session.state.versions = [
      ModelVersion(name: "this store’s", path: "", isStores: true, result: .success(first))
    ]
    session.state.mapping = MappingScreen()
    session.state.screen = .mapping
    #expect(!session.screen().description.contains("current version"))
    try session.answerEffects(
      session.state.on(MappingScreen.self) {
        $1.add([
          ModelVersion(name: "A 1", path: "A.momd@A 1", isStores: true, result: .success(first)),
          ModelVersion(name: "A 2", path: "A.momd@A 2", isCurrent: true, result: .success(second)),
        ])
      })
    #expect(lastRequest(session)?.to.name == "A 2")
  }

  @Test("two versions that are chosen to be compared are never the same one twice")
  func compared() throws {
    var session = try Session()
    session.state.diff.to = nil
    try session.send("2", "o", "⏎", "⏎")
    #expect(session.state.diff.from == 0 && session.state.diff.to == 1)
  }

  @Test("where only the type fits, Enter leaves the values as they are")
  func typeOnly() throws {
    let suggestion = MappingSuggestion(
      edit: .rename(from: "Soup.isHot", to: "Soup.seen"), name: "Soup.seen",
      note: "Boolean, same type only", likeness: 0.3)
    var session = try Session()
    try session.send("3")
    session.state.show(SuggestionsLayer("Soup.isHot becomes…", [suggestion]))
    #expect(session.screen().description.contains("map nothing: it is lost"))
    try session.send("⏎")
    #expect(session.state.mapping.currentEdits.isEmpty)
  }

  @Test("r says that nothing new takes a loss, and is not promised where it takes none")
  func nothingFits() throws {
    var session = try Session(
      plan: SampleStore.plan(losses: [Loss(entity: "Person", property: "name", values: 5)]))
    try session.send("3", "Tab", "r")
    #expect(
      session.state.notice?.text.hasSuffix("nothing new in the destination fits Person.name")
        == true
    )
    #expect(session.screen().description.contains("nothing in the new version fits"))
  }

  @Test("R rehearses as if the open losses were accepted")
  func rehearsalAccepting() throws {
    var session = try Session()
    try session.send("3", "R")
    guard case .rehearse(_, _, let options)? = session.effects.last else {
      Issue.record("nothing is rehearsed")
      return
    }
    #expect(options.allowedLosses == ["Draft", "Soup.isHot"])
    #expect(session.state.mapping.allowedLosses.isEmpty)
  }

  @Test("changes by hand are undone by u and done again by U")
  func undo() throws {
    var session = try Session(width: 120, height: 36)
    try session.send("3", "Tab", "d")
    for key in ["D", "r", "a", "f", "t", "⏎"] { try session.send(key) }
    #expect(lastRequest(session)?.edits.deletions == ["Draft"])
    try session.send("u")
    #expect(lastRequest(session)?.edits.isEmpty == true)
    try session.send("U")
    #expect(lastRequest(session)?.edits.deletions == ["Draft"])
  }

  @Test("a missing value is computed by an expression that is typed")
  func value() throws {
    var session = try Session(
      width: 120, height: 36, plan: SampleStore.plan(checks: [Self.check], losses: []))
    try session.send("3", "Tab", "=")
    #expect(session.screen().description.contains("= coalesce(title, '')"))
    try session.send("⏎")
    #expect(lastRequest(session)?.edits.values == ["Recipe.title": "coalesce(title, '')"])
    #expect(session.state.mapping.command(session.state.context).contains("--mapping"))
  }

  @Test("an expression is checked while it is typed, and a wrong one is not taken")
  func checkedValue() throws {
    var session = try Session(
      width: 120, height: 36, plan: SampleStore.plan(checks: [Self.check], losses: []))
    try session.send("3", "Tab", "=")
    // What is proposed is selected: it goes with the first letter.
    for letter in "trim(titel)" { try session.send(.key(.character(letter))) }
    let screen = session.screen()
    let row = (0..<screen.height).first { screen.row($0).contains("= trim(titel) ") } ?? 0
    let text = Array(screen.row(row))
    let column = (text.firstIndex(of: "=") ?? 0) + "= trim(".count
    #expect(Array(screen.row(row + 1))[column...].starts(with: "^^^^^ "))
    #expect(screen.description.contains("Did you mean title?"))
    try session.send("⏎")
    #expect(session.state.notice?.text.contains("no property “titel”") == true)
    #expect(session.state.layers.last?.content is ExpressionLayer)
    try session.send("^U", "t", "i", "Tab", "⏎")
    #expect(lastRequest(session)?.edits.values == ["Recipe.title": "title"])
  }

  @Test("what is only not closed yet is no mistake of an expression")
  func unfinishedValue() throws {
    var session = try Session(
      width: 120, height: 36, plan: SampleStore.plan(checks: [Self.check], losses: []))
    try session.send("3", "Tab", "=")
    for letter in "coalesce(title, 'no" { try session.send(.key(.character(letter))) }
    let layer = session.state.layers.last?.content as? ExpressionLayer
    #expect(layer?.line.mistake?.mark?.range == 19..<19)
    try session.send("⏎")
    #expect(session.state.mapping.currentEdits.isEmpty)
  }

  @Test("Enter on a check goes to its rows, and the screen's key comes back")
  func check() throws {
    var session = try Session(plan: SampleStore.plan(checks: [Self.check], losses: []))
    try session.send("3", "Tab")
    #expect(session.screen().description.contains("⏎ go to the rows"))
    try session.send("⏎")
    #expect(session.state.screen == .browse)
    #expect(session.state.browse.table?.filter == "title == nil")
    #expect(session.state.browse.table?.property?.name == "title", "the failing column is chosen")
    #expect(session.screen().description.contains("3 goes back to Mapping"))
    try session.send("3")
    #expect(session.screen().description.contains("first: Recipe/p7"))
  }

  @Test("Enter on a check that no predicate tells goes to the first of its objects")
  func checkWithoutPredicate() throws {
    var check = Self.check
    check.predicate = nil
    var session = try Session(plan: SampleStore.plan(checks: [check], losses: []))
    try session.send("3", "Tab", "⏎")
    #expect(session.state.browse.table?.window.selectedRow?.id.key == 7)
    #expect(session.state.notice?.text == "Recipe/p7, the first of 3 rows; 3 goes back to Mapping")
  }

  @Test("the details of a loss lead to the rows that would lose a value")
  func lossRows() throws {
    var session = try Session()
    try session.send("3", "Tab", "j", "⏎", "⏎")
    #expect(session.state.layers.isEmpty)
    #expect(session.state.browse.table?.entity == "Soup")
    #expect(session.state.browse.table?.filter == "isHot != nil")
  }

  @Test(
    "a refusal shows every change that cannot be inferred, and r applies what would let it pass")
  func refusal() throws {
    var session = try Session(width: 120, height: 36)
    session.answers = false
    try session.send("3")
    try session.send(.answer(TaskID(0), .versions([])))
    guard
      case .plan(let task, _)? = session.effects.last(where: {
        if case .plan = $0 { true } else { false }
      })
    else {
      Issue.record("no plan was asked for")
      return
    }
    // The sample answers no plan when it is told not to.
    try session.send(
      .failed(
        task,
        CoreDataError(
          .refused, code: 134190, "no mapping can be inferred: the attribute would change its type",
          entity: "Recipe", property: "portions", hint: "Keep the type.")))
    let text = session.screen().description
    #expect(text.contains("✗ no mapping (134190)") && text.contains("✗ Recipe.portions"))
    #expect(text.contains("→ or r: Recipe.portions = "))
    try session.send("r")
    #expect(lastRequest(session)?.edits.values["Recipe.portions"] != nil)
  }

  @Test("what would be lost and what would fail besides stands below the refusals, on both screens")
  func refused() throws {
    var session = try Session(width: 120, height: 36)
    session.answers = false
    try session.send("3")
    try session.send(.answer(TaskID(0), .versions([])))
    let tasks = session.effects.compactMap { effect -> TaskID? in
      if case .plan(let task, _) = effect { task } else { nil }
    }
    let error = CoreDataError(
      .refused, code: 134190, "no mapping can be inferred: the type changes", entity: "Recipe",
      property: "portions", reason: "the type changes")
    let plan = RefusedPlan(
      error: error, from: "Recipes 1", to: "Recipes 2", refusals: [error],
      losses: [Loss(entity: "Draft", values: 2)],
      checks: [
        DataCheck(
          code: 134110, entity: "Recipe", property: "title", rows: 3, message: "missing values",
          hint: "Fill them in.")
      ])
    for task in tasks.suffix(1) { try session.send(.answer(task, .refused(plan))) }
    for key in ["3", "4"] {
      try session.send(key)
      let text = session.screen().description
      for name in ["Recipe.portions", "Recipe.title", "Draft"] {
        #expect(text.contains(name), "\(name) is not in \(text)")
      }
    }
  }

  @Test("all losses are accepted with one typed word")
  func allLosses() throws {
    var session = try Session()
    try session.send("3", "A")
    #expect(session.screen().description.contains("2 objects and 1,428 values"))
    try session.send("a", "l", "l", "⏎")
    #expect(session.state.mapping.allowedLosses == ["Draft", "Soup.isHot"])
    #expect(session.screen().description.contains("→ m goes on to migrate"))
  }

  @Test("w writes the recipe elsewhere than beside the store, and asks before it overwrites")
  func writing() throws {
    var session = try Session(plan: SampleStore.plan(losses: []))
    try session.send("3", "w")
    #expect(session.screen().description.contains("› ../Recipes 1 to Recipes 2.json5"))
    try session.send("⏎")
    guard case .writeRecipe(let task, let file)? = session.effects.last else {
      Issue.record("nothing is written")
      return
    }
    #expect(!file.overwrites)
    try session.send(.failed(task, CoreDataError(.refused, "the file is there already")))
    #expect(session.screen().description.contains("Enter overwrites it"))
    try session.send("⏎")
    let (again, forced) = try #require(
      session.effects.last.flatMap { effect -> (TaskID, RecipeFile)? in
        if case .writeRecipe(let again, let forced) = effect { (again, forced) } else { nil }
      })
    #expect(forced.overwrites)
    try session.send(.answer(again, .written(path: forced.path)))
    #expect(session.state.mapping.recipePath == "../Recipes 1 to Recipes 2.json5")
  }

  @Test("S shows the statements by what they work at")
  func code() throws {
    var session = try Session(plan: SampleStore.plan(losses: []))
    try session.send("3", "S")
    guard case .compute(let task, .statements)? = session.effects.last else {
      Issue.record("the statements were not asked for")
      return
    }
    try session.send(
      .answer(
        task,
        .statements([
          MigrationStatement(step: 1, part: "Recipe", sql: "UPDATE ZRECIPE SET ZRATING = 0")
        ])))
    let text = session.screen().description
    #expect(text.contains("SQL of the plan: 1 statement"))
    #expect(text.contains("-- Recipe") && text.contains("UPDATE ZRECIPE SET ZRATING = 0;"))
  }

  @Test("a rehearsal shows its progress, ends in a receipt, and ^C stops it")
  func rehearsal() throws {
    var session = try Session(plan: SampleStore.plan(losses: []))
    try session.send("3", "R")
    guard case .rehearse(let task, _, let options)? = session.effects.last else {
      Issue.record("nothing was rehearsed")
      return
    }
    #expect(!options.keepsBackup)
    try session.send(.answer(task, .progress(MigrationProgress(parts: []))))
    #expect(session.screen().description.contains("rehearsing"))
    try session.send("^C")
    #expect(session.effects.last == .cancel(task))
    try session.send(.answer(task, .migrated(SampleStore.receipt)))
    #expect(session.screen().description.contains("✓ Rehearsed; the store is unchanged"))
    try session.send("Esc")
    #expect(session.state.migrate.phase == .ready, "it was no migration")
  }

  @Test("a rehearsal that fails says that the store is as it was")
  func failedRehearsal() throws {
    var session = try Session(plan: SampleStore.plan(losses: []))
    try session.send("3", "R")
    let task = try #require(
      session.effects.last.flatMap { effect -> TaskID? in
        if case .rehearse(let task, _, _) = effect { task } else { nil }
      })
    try session.send(.failed(task, CoreDataError(.failed, "the disk is full")))
    let text = session.screen().description
    #expect(text.contains("the disk is full") && text.contains("The store is unchanged"))
  }

  @Test("--mapping and --via go into the plan and into the command line")
  func options() throws {
    var session = try Session(width: 120, height: 36)
    session.state.planOptions = PlanOptions(via: "Recipes.xcdatamodeld", documents: ["a.json5"])
    session.state.mapping.isThroughVersions = true
    try session.send("3")
    #expect(lastRequest(session)?.options.documents == ["a.json5"])
    #expect(lastRequest(session)?.options.via == "Recipes.xcdatamodeld")
    #expect(
      session.state.mapping.command(session.state.context)
        == "strata migrate Recipes.sqlite --to 'Recipes.xcdatamodeld@Recipes 2'"
        + " --via Recipes.xcdatamodeld --mapping a.json5")
    try session.send("Tab", "r")
    #expect(session.state.notice?.text.contains("a.json5 says what is mapped") == true)
  }

  @Test("every state says what to do next", arguments: [false, true])
  func next(isNothing: Bool) throws {
    var plan = try SampleStore.plan(losses: [])
    if isNothing { plan.steps[0].mapping = MappingModel(kind: .none, entityMappings: []) }
    var session = try Session(plan: plan)
    try session.send("3")
    #expect(
      session.screen().description.contains(
        isNothing ? "→ o chooses another version" : "→ m goes on to migrate, R rehearses"))
    var full = try SampleStore.plan(losses: [])
    (full.bytesNeeded, full.bytesFree) = (2_000_000, 500_000)
    session = try Session(plan: full)
    try session.send("3")
    #expect(session.screen().description.contains("→ not enough space: about"))
  }

  @Test("without other versions the way to give one is told")
  func noVersions() throws {
    var session = try Session()
    session.state.versions = []
    session.state.diff = DiffScreen()
    session.state.mapping = MappingScreen()
    try session.send("2")
    #expect(session.screen().description.contains("→ o, then p: take a .xcdatamodeld"))
    try session.send("o")
    #expect(session.screen().description.contains("p opens one by its"))
  }

  @Test(
    "nothing of it traps on the smallest screens", arguments: ["r", "S", "w", "A", "=", "R", "o"])
  func smallest(key: String) throws {
    var session = try Session(plan: SampleStore.plan(checks: [Self.check]))
    try session.send("3", "Tab", key)
    if key == "o" { try session.send("p") }
    for width in [0, 1, 7, 39, 40, 41, 60, 80] {
      for height in [0, 1, 9, 10, 12, 14, 24] {
        try session.send(.resized(Size(width: width, height: height)))
        #expect(session.screen().size == Size(width: width, height: height))
      }
    }
  }
}
