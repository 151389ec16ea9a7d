import Files
import ManagedModel
import ManagedStore
import Mapping
import SQLite

/// Looks at a store's data for what the steps of a plan would do to it.
///
/// Inferred steps are looked at together, as one mapping from the store to each version on the path;
/// what comes after a mapping model or a recipe can only be determined from their result, so they are
/// carried out in the temporary folder first.
struct PlanAnalysis {
  let store: Store
  let strategy: MigrationPlan.Strategy?
  /// Asked whether to go on; nobody reads what it counts.
  let meter: ProgressMeter

  func run(_ plan: inout MigrationPlan) throws {
    var position = Position(store: store)
    for index in plan.steps.indices where plan.steps[index].mapping.kind != .none {
      do {
        try look(at: index, of: &plan, &position)
      } catch {
        throw located(error, at: index, of: plan, position)
      }
      // What comes after a step that cannot be carried out cannot be determined.
      guard plan.failures.isEmpty else { break }
    }
    plan.secondsEstimated = MigrationPlan.secondsEstimated(
      bytes: plan.storeBytes, rows: plan.steps.reduce(0) { $0 + $1.rows.values.reduce(0, +) })
    try meter.checkCancelled()
    let drift = DriftAnalysis(store: self.store)
    plan.losses += try drift.losses(unless: try keepsColumns(plan))
    plan.notes += try lostAppObjects(plan)
    plan.checks += try drift.checks(taking: taken(by: plan))
    plan.notes += self.store.drift.sentences
    var seen: Set<String> = []
    plan.notes = plan.notes.filter { seen.insert($0).inserted }
  }

  /// The entities of the store whose objects the first step takes over; `nil` where code decides that.
  private func taken(by plan: MigrationPlan) -> Set<String>? {
    guard let step = plan.steps.first(where: { $0.mapping.kind != .none }),
      step.policyMappings(plan.policies).isEmpty
    else { return nil }
    return step.mapping.takenEntities
  }

  /// Finds out which columns that the model does not know a plan keeps. For several steps, a trial without
  /// rows shows it.
  private func keepsColumns(_ plan: MigrationPlan) throws -> (String, String) -> Bool {
    let steps = plan.steps.filter { $0.mapping.kind != .none }
    guard let step = steps.first, !store.drift.unexpectedColumns.isEmpty, plan.failures.isEmpty,
      steps.allSatisfy({ $0.policyMappings(plan.policies).isEmpty })
    else { return { _, _ in false } }
    guard steps.count > 1 else {
      let schemas = StepSchemas(store: store, step: step)
      return { schemas.keepsUnknown($0, of: $1, step.strategy) }
    }
    // Without a result no column is known to last.
    let left = try trial(of: steps)
    return { left?.columns(of: $1).contains($0) == true }
  }

  /// What the file holds at the end of some steps, without rows; `nil` where that cannot be found out.
  private func trial(of steps: [MigrationStep]) throws -> DatabaseTables? {
    do {
      return try store.reading {
        try EmptyTrial(store: store, steps: steps, meter: meter).result()
      }
    } catch {
      try meter.checkCancelled()
      return nil
    }
  }

  /// The app's own views and triggers that are not in the result, since they name what is renamed or removed.
  private func lostAppObjects(_ plan: MigrationPlan) throws -> [String] {
    let steps = plan.steps.filter { $0.mapping.kind != .none }
    let own = store.appObjects
    guard !own.isEmpty, !steps.isEmpty, plan.failures.isEmpty,
      steps.allSatisfy({ $0.policyMappings(plan.policies).isEmpty })
    else { return [] }
    guard let left = try trial(of: steps) else {
      return [
        "Whether the app's own views and triggers are in the result is not known: \(own.map(\.name).joined(separator: ", "))."
      ]
    }
    return own.filter { left.sql[$0.name] == nil }.map {
      "The result is without the app's own \($0.kind) \($0.name): it names a table or a column that is renamed or removed."
    }
  }

  /// How far the steps were gone, to look at the next one.
  private struct Position {
    /// The store itself, or a version on the path in the temporary folder.
    var store: Store
    var folder: PrivateFolder?
    var made = 0
    /// What leads from `store` to the version before the step at hand: nothing, or inferred steps.
    var prefix: [Int] = []
    /// All of `prefix` as one mapping; `nil` where it is empty.
    var composition: MappingModel?
  }

  private func look(at index: Int, of plan: inout MigrationPlan, _ position: inout Position) throws
  {
    let isInferred = plan.steps[index].isInferredOnly(plan.policies)
    let known = plan.checks.count
    let mapping = plan.steps[index].mapping
    let whole =
      isInferred ? position.composition.flatMap { MappingModel.composed($0, mapping) } : nil
    if whole == nil {
      for step in position.prefix { try go(step, of: plan, &position) }
      (position.prefix, position.composition) = ([], nil)
    }
    try meter.checkCancelled()
    let store = position.store
    // For all that looks at the step by itself.
    var schemas: StepSchemas?
    try store.connection.stopping(when: { meter.shouldStop }) {
      if let whole, let before = position.composition {
        try analyse(&plan, position.prefix + [index], before, whole, in: store)
      } else {
        schemas = try analyse(&plan, index, in: store)
      }
    }
    plan.steps[index].strategy = strategy(
      of: plan.steps[index], isInferred, in: position.prefix.isEmpty ? store : nil, schemas)
    if plan.isEdited(before: index) { deferChecks(of: &plan, after: known) }
    plan.notes += try PlanNotes(
      store: store, mapping: plan.steps[index].mapping, source: plan.steps[index].source,
      destination: plan.steps[index].destination, schemas: schemas
    ).sentences(whole: plan.wholeDestination ?? plan.steps[index].destination)
    position.prefix.append(index)
    position.composition = whole ?? mapping
    guard !isInferred, index < plan.steps.count - 1, plan.failures.isEmpty else { return }
    try go(index, of: plan, &position)
    (position.prefix, position.composition) = ([], nil)
  }

  /// How a step is carried out: as asked where nothing but inference speaks of it, else as costs less.
  ///
  /// - Parameters:
  ///   - store: of the version that the step begins at, where one is at hand.
  ///   - schemas: the step's, where they are at hand.
  private func strategy(
    of step: MigrationStep, _ isInferred: Bool, in store: Store?, _ schemas: StepSchemas?
  ) -> MigrationPlan.Strategy {
    guard isInferred else { return .copy }
    let cheapest = { (store: Store) in
      (schemas ?? StepSchemas(store: store, step: step)).cheapestStrategy(rows: step.rows)
    }
    return strategy ?? store.map(cheapest) ?? .inPlace
  }

  /// Carries a step out in the temporary folder.
  private func go(_ index: Int, of plan: MigrationPlan, _ position: inout Position) throws {
    let folder = try position.folder ?? PrivateFolder()
    position.folder = folder
    position.made += 1
    let path = folder.path + "/\(position.made).sqlite"
    let store = position.store
    _ = try StepRun(
      step: plan.steps[index], source: store, archive: nil, policies: plan.policies, meter: meter
    ).run(into: path)
    // A model that what comes next calls by other names is of the same tables.
    let next = plan.steps[(index + 1)...].first { $0.mapping.kind != .none }?.source
    position.store = try Store(
      path: path, files: StoreFiles(path: path, externalDataOf: store.files), model: next)
  }

  /// The error with the store that the person named, and the step, in place of a temporary path.
  private func located(
    _ error: any Error, at index: Int, of plan: MigrationPlan, _ position: Position
  ) -> any Error {
    guard plan.steps.count > 1, let folder = position.folder else { return error }
    var told = StepSequence.translated(error, path: position.store.path)
    guard told.kind != .cancelled else { return error }
    let step = plan.steps[index]
    if told.path?.hasPrefix(folder.path) == true { told.path = store.path }
    told.message += ", in the step from “\(step.from)” to “\(step.to)”"
    return told
  }

  /// What a stage's code may set right is checked when it has run.
  private func deferChecks(of plan: inout MigrationPlan, after known: Int) {
    for check in plan.checks[known...] where !check.isWarning {
      let place = check.property.map { "\(check.entity).\($0)" } ?? check.entity
      plan.notes.append(
        "\(place): \(check.summary); it is checked after a stage’s code has run.")
    }
    plan.checks.removeSubrange(known...)
  }

  /// A step that can be looked at by itself: the store is of the version that it begins at.
  ///
  /// - Returns: both its sides, where the mapping that was looked at is inferred.
  private func analyse(
    _ plan: inout MigrationPlan, _ index: Int, in store: Store
  ) throws -> StepSchemas? {
    var step = plan.steps[index]
    step.rows = try StepSequence.rows(of: step.mapping, in: store)
    let analysis = try StepAnalysis(
      step, of: store, policies: plan.policies, isCancelled: { meter.shouldStop })
    plan.losses += try analysis.losses()
    plan.checks += try analysis.checks()
    step.previews = try analysis.previews()
    plan.notes += try analysis.notes()
    plan.steps[index] = step
    guard analysis.layout != nil else { return analysis.schemas }
    if strategy == .inPlace {
      plan.notes.append(
        "“In place” works for inferred steps only: from “\(step.from)” to “\(step.to)” the objects are copied, as the mapping says."
      )
    }
    return nil
  }

  /// The last of several inferred steps: what all of them do to the store together, less what those
  /// before are known to do.
  ///
  /// - Parameters:
  ///   - before: all but the last as one mapping.
  ///   - whole: all of them.
  private func analyse(
    _ plan: inout MigrationPlan, _ steps: [Int], _ before: MappingModel, _ whole: MappingModel,
    in store: Store
  ) throws {
    guard let first = steps.first, let last = steps.last else { return }
    let data = SourceData(store: store)
    for entityMapping in plan.steps[last].mapping.entityMappings {
      // Objects of the entity it takes, as they are counted before the first step.
      plan.steps[last].rows[entityMapping.name] = try before.entityMappings.filter {
        $0.destination != nil && $0.destination == entityMapping.source
      }.reduce(0) { sum, mapping in
        sum + (try mapping.source.map { try data.count($0, where: []) } ?? 0)
      }
    }
    let known = plan.losses
    let analysis = try StepAnalysis(
      MigrationStep(
        from: plan.steps[first].from, to: plan.steps[last].to, source: plan.steps[first].source,
        destination: plan.steps[last].destination, mapping: whole), of: store)
    for var loss in try analysis.losses() {
      loss.values -= known.filter { $0.isSame(as: loss) }.reduce(0) { $0 + $1.values }
      if loss.values > 0 { plan.losses.append(loss) }
    }
    let checks = plan.checks
    plan.checks += try analysis.checks().filter { check in
      !checks.contains {
        $0.property == check.property && $0.first == check.first && $0.asks(as: check)
      }
    }
  }
}

extension StepSchemas {
  /// In place, unless nearly all rows would have to be written again anyway: then a new file has no
  /// pages of the old tables in it.
  func cheapestStrategy(rows: [String: Int]) -> MigrationPlan.Strategy {
    let counted = destination.tables.map { table in
      (table: table, rows: mappings(into: table).reduce(0) { $0 + (rows[$1.name] ?? 0) })
    }.filter { $0.rows > 0 }
    let all = counted.reduce(0) { $0 + $1.rows }
    var (rebuilt, open) = (0, all)
    // The largest decide: what is to be done with a small one need not be worked out.
    for (table, count) in counted.sorted(by: { $0.rows > $1.rows }) {
      open -= count
      if case .rebuild = work(for: table, self.rows(for: table)) { rebuilt += count }
      if rebuilt * 10 > all * 8 { return .copy }
      if (rebuilt + open) * 10 <= all * 8 { return .inPlace }
    }
    return .inPlace
  }
}

extension Store {
  /// Views and triggers that are neither SQLite's nor for the model, by name.
  fileprivate var appObjects: [(kind: String, name: String)] {
    let trees = Set(schema.rtreeIndexes.flatMap(\.triggers).map(\.name))
    return database.sql.keys.sorted().compactMap { name in
      if let table = database.triggers[name] {
        let isModels =
          trees.contains(name) || schema.triggerGroups.contains { $0.owns(name, on: table) }
        return isModels ? nil : ("trigger", name)
      }
      return database.tables[name] == nil && database.indexes[name] == nil ? ("view", name) : nil
    }
  }
}

/// The steps of a plan on a store with the same tables and no rows: shows which tables and columns last.
struct EmptyTrial {
  let store: Store
  let steps: [MigrationStep]
  let meter: ProgressMeter

  /// - Returns: what the file at the end holds; `nil` where a step is not what a trial can decide.
  func result() throws -> DatabaseTables? {
    guard let first = steps.first, steps.allSatisfy({ $0.handlers == nil }) else { return nil }
    let folder = try PrivateFolder()
    var source = try Store(path: emptyStore(in: folder.path), model: first.source)
    for (index, step) in steps.enumerated() {
      var step = step
      step.rows = try StepSequence.rows(of: step.mapping, in: source)
      let path = folder.path + "/\(index + 1).sqlite"
      _ = try StepRun(
        step: step, source: source, archive: nil, policies: PolicyBindings(), meter: meter
      ).run(into: path)
      let next = index + 1 < steps.count ? steps[index + 1].source : nil
      source = try Store(path: path, model: next)
    }
    return source.database
  }

  /// A file with the store's tables, and of their rows only those that say what the store is.
  private func emptyStore(in folder: String) throws -> String {
    let path = folder + "/0.sqlite"
    _ = try FileSystem.createEmpty(path)
    let connection = try Connection(path: path, mode: .readWrite)
    defer { connection.close() }
    let shadows = try store.connection.shadowTables()
    try connection.transaction {
      for (table, sql) in store.database.sql.sorted(by: { $0.key < $1.key })
      where store.database.tables[table] != nil && !shadows.contains(table)
        && sql.uppercased().hasPrefix("CREATE TABLE") && !table.lowercased().hasPrefix("sqlite_")
      {
        // One statement, whatever else the text says.
        try connection.run(sql)
      }
      for object in store.appObjects {
        // One that cannot be made says nothing of those that can.
        if let sql = store.database.sql[object.name] { try? connection.run(sql) }
      }
      for table in ["Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE"]
      where store.database.contains(table) {
        for row in try store.connection.rows("SELECT * FROM \(table)") {
          let places = Array(repeating: "?", count: row.count).joined(separator: ", ")
          try connection.run("INSERT INTO \(table) VALUES (\(places))", row)
        }
      }
    }
    return path
  }
}
