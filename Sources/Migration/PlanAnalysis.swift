import ManagedModel
import ManagedStore
import SQLite

/// Looks at a store's data for what the steps of a plan would do to it.
///
/// Inferred steps are looked at together, as one mapping from the store to each version on the way;
/// what comes after a mapping model or a recipe can only be told of their result, so they are
/// carried out in the temporary folder first.
struct PlanAnalysis {
  let store: Store
  let strategy: MigrationPlan.Strategy?

  func run(_ plan: inout MigrationPlan) throws {
    var store = self.store
    var folder: TemporaryResults?
    defer { folder?.remove() }
    for index in plan.steps.indices where plan.steps[index].mapping.kind != .none {
      let isFirst = plan.steps[..<index].allSatisfy { $0.mapping.kind == .none }
      if !isFirst {
        if folder == nil { folder = try TemporaryResults() }
        if let next = try folder?.result(of: plan, before: index, from: store) { store = next }
      }
      try analyse(&plan, index, in: store)
    }
    plan.secondsEstimated = MigrationPlan.secondsEstimated(
      bytes: plan.storeBytes,
      rows: plan.steps.reduce(0) { $0 + $1.rows.values.reduce(0, +) })
    let drift = DriftAnalysis(store: self.store)
    plan.losses += try drift.losses()
    plan.checks += try drift.checks()
    plan.notes += self.store.drift.sentences
  }

  private func analyse(_ plan: inout MigrationPlan, _ index: Int, in store: Store) throws {
    var step = plan.steps[index]
    step.rows = try StepSequence.rows(of: step.mapping, in: store)
    let data = SourceData(store: store)
    if step.isInferredOnly(plan.policies) {
      let schemas = StepSchemas(
        store: store, mapping: step.mapping, destination: step.destination)
      step.strategy = strategy ?? schemas.cheapestStrategy(rows: step.rows)
      plan.losses += try LossAnalysis(
        data: data, source: step.source, destination: step.destination, mapping: step.mapping
      ).losses()
      plan.checks += try Preflight(
        data: data, source: step.source, destination: step.destination, mapping: step.mapping
      ).checks()
    } else {
      step.strategy = .copy
      let analysis = try MappedAnalysis(step: step, store: store, policies: plan.policies)
      plan.losses += try analysis.losses()
      plan.checks += try analysis.checks()
      step.previews = try analysis.previews()
      plan.notes += analysis.notes
    }
    plan.steps[index] = step
    plan.notes += try PlanNotes(
      store: store, mapping: step.mapping, destination: step.destination
    ).sentences(whole: plan.wholeDestination ?? step.destination)
  }
}

/// Versions on the way, made in the temporary folder to see what the next step would do to them.
private final class TemporaryResults {
  private let folder: String
  private var made = 0

  init() throws { folder = try FileSystem.makeTemporaryDirectory(prefix: "strata-plan") }

  func remove() { FileSystem.removeTree(folder) }

  deinit { remove() }

  /// The store after the step before `index`.
  func result(of plan: MigrationPlan, before index: Int, from store: Store) throws -> Store? {
    guard let step = plan.steps[..<index].last(where: { $0.mapping.kind != .none }) else {
      return nil
    }
    made += 1
    let path = folder + "/\(made).sqlite"
    let meter = ProgressMeter(isCancelled: { false }, report: { _ in })
    _ = try StepRun(
      step: step, source: store, archive: nil, policies: plan.policies, meter: meter
    ).run(into: path)
    return try Store(
      path: path, files: StoreFiles(path: path, externalDataOf: store.files),
      model: plan.steps[index].source)
  }
}

extension StepSchemas {
  /// In place, unless nearly all rows would have to be written again anyway: then a new file has no
  /// pages of the old tables in it.
  func cheapestStrategy(rows: [String: Int]) -> MigrationPlan.Strategy {
    var (all, rebuilt) = (0, 0)
    for table in destination.tables {
      let count = mappings(into: table).reduce(0) { $0 + (rows[$1.name] ?? 0) }
      all += count
      if case .rebuild = work(for: table) { rebuilt += count }
    }
    return all > 0 && rebuilt * 10 > all * 8 ? .copy : .inPlace
  }
}
