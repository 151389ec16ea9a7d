import ManagedModel
import ManagedStore
import Terminal
import Testing

@testable import Interface
@testable import Mapping
@testable import Migration

@Suite("Diff, Mapping and Migrate")
struct MigrationScreenTests {

  @Test("a loss of values is accepted by a key, one of objects by the entity's name")
  func losses() throws {
    var session = try Session()
    try session.send("3", "Tab", "a")
    guard (session.state.layers.last?.content as? PromptLayer)?.word == "Draft" else {
      Issue.record("the name is not asked for")
      return
    }
    try session.send("⏎")
    #expect(session.state.mapping.allowedLosses.isEmpty)
    for key in ["D", "r", "a", "f", "t", "⏎"] { try session.send(key) }
    #expect(session.state.mapping.allowedLosses == ["Draft"])
    try session.send("a")
    #expect(session.state.mapping.allowedLosses == ["Draft", "Soup.isHot"])
    #expect(
      session.state.mapping.command(session.state.context)
        == "strata migrate Recipes.sqlite --to 'Recipes.xcdatamodeld@Recipes 2'"
        + " --allow-loss Draft --allow-loss Soup.isHot")
  }

  @Test("Enter refuses with the reason while values would be lost")
  func refused() throws {
    var session = try Session()
    try session.send("4", "⏎")
    #expect(!session.state.migrate.isRunning)
    #expect(session.state.notice?.text.contains("2 objects of Draft would be lost") == true)
  }

  @Test("a migration runs, is told of, ends in a receipt, and the store is opened again")
  func migration() throws {
    var session = try Session(plan: SampleStore.plan(losses: []))
    try session.send("4", "⏎", "y")
    guard case .migrate(let id, _, _, _)? = session.effects.last else {
      Issue.record("nothing was started")
      return
    }
    try session.send(.answer(id, .progress(MigrationProgress(parts: []))))
    #expect(session.state.migrate.isRunning)
    try session.send("q")
    #expect(!session.effects.contains(.quit), "q asks first")
    try session.send("n")
    try session.send(.answer(id, .migrated(SampleStore.receipt)))
    #expect(session.state.migrate.phase == .done(SampleStore.receipt))
    #expect(
      session.effects.contains { if case .open(let task) = $0 { task != TaskID(1) } else { false } }
    )
  }

  @Test("^C stops the migration, and twice with nothing running quits")
  func interrupting() throws {
    var session = try Session(plan: SampleStore.plan(losses: []))
    try session.send("4", "⏎", "y")
    guard case .migrate(let id, _, _, _)? = session.effects.last else {
      Issue.record("nothing was started")
      return
    }
    try session.send("^C")
    #expect(session.effects.last == .cancel(id))
    #expect(session.screen().description.contains("the store stays unchanged"))
    try session.send(.failed(id, CoreDataError(.cancelled, "cancelled")))
    #expect(!session.state.migrate.isRunning)
    try session.send("^C")
    #expect(!session.effects.contains(.quit))
    try session.send("^C")
    #expect(session.effects.contains(.quit))
  }

  @Test("an error is a popup with what happened and what to try")
  func errors() throws {
    var session = try Session(plan: SampleStore.plan(losses: []))
    try session.send("4", "⏎", "y")
    let id = try #require(
      session.effects.last.flatMap { effect -> TaskID? in
        if case .migrate(let id, _, _, _) = effect { id } else { nil }
      })
    try session.send(
      .failed(id, CoreDataError(.failed, code: 134110, "it broke", hint: "Try a copy.")))
    let text = session.screen().description
    #expect(text.contains("error 134110") && text.contains("it broke"))
    #expect(text.contains("› Try a copy."))
    try session.send("Esc")
    #expect(session.state.layers.isEmpty)
  }

  @Test("a plan of several steps with computed values shows all that it does")
  func mapped() throws {
    var plan = try SampleStore.plan(losses: [])
    var first = plan.steps[0]
    first.to = "between"
    var recipe = EntityMapping(
      name: "RecipeToDish", kind: .custom, source: "Recipe", destination: "Dish",
      attributes: [
        AttributeMapping(
          name: "name", source: nil, defaultValue: .string(""), expression: .sql("trim(title)"))
      ],
      relationships: [RelationshipMapping(name: "maker", source: "self", through: "RecipeToMaker")])
    recipe.condition = .sql("title IS NOT NULL")
    recipe.distinct = .sql("title")
    recipe.children = [
      ChildMapping(
        destination: "Step", relationship: "steps", each: .sql("lines"),
        attributes: [AttributeMapping(name: "text", source: nil, expression: .sql("item"))])
    ]
    var removed = EntityMapping(name: "Gone", kind: .remove, source: "Draft", destination: nil)
    removed.isDeletionIntended = true
    var second = first
    (second.from, second.to, second.strategy) = ("between", "Recipes 2", .copy)
    second.mapping = MappingModel(kind: .recipe, entityMappings: [recipe, removed])
    second.rows = ["RecipeToDish": 12, "Gone": 3]
    second.previews = [
      MappingPreview(
        mapping: "RecipeToDish", source: ObjectID(entity: "Recipe", key: 1), destination: "Dish",
        before: [.init(name: "title", value: " Soup ")],
        after: [.init(name: "name", value: "Soup")])
    ]
    plan.steps = [first, second]
    var loss = Loss(entity: "Draft", values: 3)
    loss.isIntended = true
    plan.losses = [loss]
    var session = try Session(width: 120, height: 36, plan: plan)
    try session.send("3", "G", "k")
    let text = session.screen().description
    for part in [
      "2 steps, inferred, recipe, copy", "step 2 of 2: RecipeToDish", "2.~ custom", "Recipe → Dish",
      "title IS NOT NULL", "one for each", "= trim(title), else ''",
      "the object itself through RecipeToMaker", "+ steps:", "Step for each of lines", "= item",
      "title  Soup", "Dish: name Soup", "3 objects would go", "as the recipe says",
    ] {
      #expect(text.contains(part), "“\(part)” is not in\n\(text)")
    }
    try session.send("j")
    #expect(session.screen().description.contains("Its objects are deleted, as the recipe says."))
    try session.send("4")
    let ready = session.screen().description
    #expect(ready.contains("in 2 steps: Recipes 1 → between → Recipes 2"), "\(ready)")
    try session.send("⏎", "y")
    guard case .migrate(let id, _, _, _)? = session.effects.last else {
      Issue.record("nothing was started")
      return
    }
    try session.send(.answer(id, .progress(MigrationProgress(step: 2, steps: 2, parts: []))))
    #expect(session.screen().description.contains("step 2 of 2: between → Recipes 2"))
  }
}
