import Files
import ManagedModel
import ManagedStore
import SQLite
import TestSupport

@testable import Mapping
@testable import Migration

/// One generated store and a way to migrate it, sound or odd: what explain, plan and migrate say of it, and
/// what is missing afterwards, must be one thing.
final class VerdictRun {
  private let seed: UInt64
  private let source: Model
  private let destination: Model
  private let pair: GeneratedPair
  private let folder: TemporaryFolder
  private let path: String
  private var done: [String] = []
  private var recipe: GeneratedRecipe?
  private var kind = MappingModel.Kind.inferred
  private var isBroken = false
  /// What was not as it should be.
  private(set) var failures: [String] = []
  /// What it came to, for knowing that the dice fall on every side.
  private(set) var outcome = ""

  /// - Parameter isRare: whether the store is odd in a rarer way, too.
  init(seed: UInt64, isRare: Bool = false) throws {
    self.seed = seed
    pair = try GeneratedPair(seed: seed)
    source = try Self.marked(pair.source)
    destination = try Self.marked(pair.destination)
    folder = try TemporaryFolder()
    path = folder.path("Made.sqlite")
    try pair.objects.write(to: path, model: source, uuid: "11111111-2222-4333-8444-555555555555")
    try mark()
    var generator = SeededGenerator(seed: seed &* 0x1_0003)
    for _ in 0..<(generator.pick([0, 0, 1, 1, 2]) ?? 0) {
      guard let oddity = generator.pick(StoreOddity.usual),
        // What breaks the store leaves nothing to be compared: seldom, and alone.
        !oddity.breaksStore || generator.chance(30) && done.isEmpty,
        let text = try oddity.apply(to: path, using: &generator)
      else { continue }
      done.append(text)
      isBroken = oddity.breaksStore
      if isBroken { break }
    }
    if isRare, !isBroken, let oddity = generator.pick(StoreOddity.rare),
      let text = try oddity.apply(to: path, using: &generator)
    {
      done.append(text)
      isBroken = oddity.breaksStore
    }
    guard generator.chance(60) else { return }
    kind = generator.chance(40) ? .mapping : .recipe
    recipe = GeneratedRecipe(from: source, to: destination, using: &generator)
  }

  /// For the search of what went wrong.
  var description: String {
    (source.entities.map { Self.text($0, source) }
      + destination.entities.map { Self.text($0, destination) } + [pair.description] + done + [
        "as \(kind.rawValue)", recipe?.text ?? "",
      ]).joined(
        separator: "\n")
  }

  private static func text(_ entity: Entity, _ model: Model) -> String {
    "  \(entity.name)\(entity.parent.map { ": " + $0 } ?? ""): "
      + entity.attributes.filter { $0.name != "zMark" }.map { "\($0.name) \($0.type)" }.joined(
        separator: ", ") + "; "
      + entity.relationships.map {
        "\($0.name) → \($0.destination).\($0.inverse ?? "–")\($0.isToMany ? " many" : "")\($0.isOrdered ? " ordered" : "")\($0.renamingIdentifier.map { " was " + $0 } ?? "")"
      }.joined(separator: ", ")
  }

  private static func marked(_ model: Model) throws -> Model {
    var entities = model.entities
    for index in entities.indices where entities[index].parent == nil {
      entities[index].attributes.append(Attribute("zMark", .string, optional: true))
    }
    return try Model(entities: entities, versionIdentifiers: model.versionIdentifiers)
  }

  private func mark() throws {
    let store = try Store(path: path)
    let columns = store.entityTables.filter(\.isWholeTable).compactMap { table in
      table.column(of: "zMark").map { (table.table, $0) }
    }
    store.connection.close()
    let connection = try Connection(path: path, mode: .readWrite)
    defer { connection.close() }
    for (table, column) in columns {
      try connection.execute(
        "UPDATE \(quoted(table)) SET \(quoted(column)) = '\(table) ' || Z_PK")
    }
  }

  private func fail(_ what: String) { failures.append(what) }

  func run() throws {
    let store = try Store(path: path)
    let plan: MigrationPlan
    do {
      plan = try self.plan(store)
    } catch let error as CoreDataError {
      outcome = "refused"
      if recipe == nil { explain(store, isPossible: false, error) }
      return
    }
    if plan.isNothingToDo {
      outcome = "nothing"
      return
    }
    outcome = plan.failures.isEmpty ? "done" : "failing"
    if isBroken, plan.failures.isEmpty, needsWhatIsMissing(plan, store) {
      fail("a broken store may be migrated")
    }
    if recipe == nil { explain(store, isPossible: plan.failures.isEmpty, nil) }
    let allowed = Set(plan.losses.map(\.name))
    if plan.losses.contains(where: { !$0.isIntended }) {
      try check(plan, allowing: [], store)
    }
    try check(plan, allowing: allowed, store)
  }

  /// Whether a plan takes over objects of a broken store that cannot be read: all that breaks it but a missing
  /// table, which nobody needs whose objects all go.
  private func needsWhatIsMissing(_ plan: MigrationPlan, _ store: Store) -> Bool {
    let tables = Set(
      ((try? store.connection.rows("SELECT name FROM sqlite_master WHERE type = 'table'")) ?? [])
        .compactMap { $0.first?.text })
    let missing = Set(
      store.wholeModel.entities.filter { $0.parent == nil }.map(\.name).filter {
        !tables.contains("Z" + $0.uppercased())
      })
    guard !missing.isEmpty, let mapping = plan.steps.first?.mapping else { return true }
    return mapping.entityMappings.contains { entity in
      guard let source = entity.source, entity.destination != nil else { return false }
      return missing.contains(store.wholeModel.root(of: source))
    }
  }

  private func plan(_ store: Store) throws -> MigrationPlan {
    var mapping: MappingModel
    if let recipe {
      guard
        let made = try Recipe(text: recipe.text, path: "recipe.json5").mapping(
          from: store.wholeModel, to: destination, names: ("V1", "V2"))
      else {
        throw CoreDataError(.failed, "the recipe is for another pair", path: path)
      }
      mapping = made
      mapping.kind = kind
    } else {
      mapping = try MappingInference.mapping(from: store.wholeModel, to: destination)
    }
    let strategies: [MigrationPlan.Strategy?] = [nil, .inPlace, .copy]
    return try store.plan(
      steps: [
        MigrationStep(
          from: "V1", to: "V2", source: store.wholeModel, destination: destination,
          mapping: mapping)
      ], strategy: recipe == nil ? strategies[Int(seed % 3)] : nil)
  }

  /// What plan says of a run is what the run does.
  private func check(_ plan: MigrationPlan, allowing allowed: Set<String>, _ store: Store) throws {
    var options = MigrationOptions()
    options.allowedLosses = allowed
    options.output = folder.path("Result\(allowed.count).sqlite")
    do {
      _ = try StoreMigration.run(plan, options: options)
    } catch {
      if plan.canRun(allowing: allowed) {
        fail("plan says that it can run, and the run says: \(error)")
      } else if error.kind != .refused {
        fail("the run should be refused, and ended with: \(error)")
      }
      return
    }
    guard plan.canRun(allowing: allowed), let output = options.output else {
      return fail("plan says that it cannot run, and it ran")
    }
    let result = try Store(path: output)
    guard let mapping = plan.steps.first?.mapping else { return fail("a plan without a step ran") }
    let measured = try MeasuredLosses(store, result, mapping: mapping)
    let told = plan.losses.filter { $0.misfit == nil && !isOwn($0) }
    // Of an object that becomes two the one-to-ones of one copy are told, though the other may keep them.
    let sources = mapping.entityMappings.filter { $0.destination != nil }.compactMap(\.source)
    // Of objects that become one, too, those of all.
    guard Set(sources).count == sources.count,
      mapping.entityMappings.allSatisfy({ $0.distinct == nil })
    else { return }
    let wrong = measured.losses.differences(from: told)
    if !wrong.isEmpty {
      fail("losses: " + wrong.joined(separator: "; "))
      for loss in told {
        fail("  \(loss.name): \(loss.samples.joined(separator: ", "))")
        guard let name = loss.property,
          let own = source.relationship(named: name, of: loss.entity)
        else { continue }
        fail("    to \(own.destination), inverse \(own.inverse ?? "none"), many \(own.isToMany)")
      }
    }
    checkOwn(plan, result)
  }

  /// Whether a loss is of a column that no model knows.
  private func isOwn(_ loss: Loss) -> Bool { loss.property == "MINE" }

  /// An app's own column is kept or told as lost.
  private func checkOwn(_ plan: MigrationPlan, _ result: Store) {
    guard done.contains(where: { $0.hasPrefix(StoreOddity.ownColumn.rawValue) }) else { return }
    let names = (try? result.connection.rows("SELECT name FROM sqlite_master WHERE type = 'table'"))
    let isThere = (names ?? []).compactMap { $0.first?.text }.contains { table in
      ((try? result.connection.value("SELECT count(*) FROM \(quoted(table)) WHERE MINE = 'x'"))
        .flatMap { $0 }?.integer ?? 0) > 0
    }
    if isThere, plan.losses.contains(where: isOwn) {
      fail("a column of the app's own is told as lost, and is there")
    }
  }

  /// What explain says of the store and the model.
  private func explain(_ store: Store, isPossible: Bool, _ error: CoreDataError?) {
    var explanation = CompatibilityExplanation(
      hashes: store.metadata.versionHashes, source: store.wholeModel, model: destination)
    explanation.ask(store, source: store.wholeModel, model: destination)
    guard explanation.isCarried != isPossible else { return }
    fail(
      "explain says \(explanation.isCarried.map { "\($0)" } ?? "nothing") (\(explanation.inference)), plan \(isPossible) \(error.map { "\($0)" } ?? "")"
    )
  }
}
