import Migration
import TestSupport
import Testing

/// What an app writes that uses the products: nothing here is seen but what is public.
@Suite("A client of the libraries")
struct ClientProgramTests {
  private let place: AppPlace

  init() throws { place = try AppPlace() }

  @Test("the program of the documentation plans and runs as it stands")
  func program() throws {
    let (bundle, path) = (place.bundle, place.store)
    var fractions: [Double] = []
    func print(_ fraction: Double) { fractions.append(fraction) }

    let target = try ModelReference("\(bundle)@App 3").load()
    let plan = try StoreMigration.plan(Store(path: path), MigrationRequest(to: target))
    guard plan.canRun else {
      Issue.record("\(plan.failures) \(plan.losses)")
      return
    }
    let receipt = try StoreMigration.run(plan) { print($0.fraction) }

    // The version that made the store was found in the bundle.
    #expect(plan.steps.map(\.from) == ["App"] && plan.steps.map(\.to) == ["App 3"])
    #expect(receipt.entities.map { [$0.before, $0.after] } == [[3, 3]])
    #expect(fractions.last == 1 && fractions == fractions.sorted())
    #expect(try place.names(of: "Person", by: "fullName") == ["Ada King", "Grace Hopper", "Mel"])
    try SecondReader.expectAgreement(at: path)
  }

  @Test("what would be lost keeps a plan from running until it is allowed")
  func losses() throws {
    let target = try ModelReference("\(place.bundle)@App 4").load()
    let plan = try StoreMigration.plan(Store(path: place.store), MigrationRequest(to: target))
    #expect(!plan.canRun && plan.failures.isEmpty)
    #expect(plan.losses.map { "\($0.name) \($0.values)" } == ["Person.name 3"])
    let error = #expect(throws: CoreDataError.self) { try StoreMigration.run(plan) }
    // Values have their Swift names here; what to type is the command line's to say.
    #expect(
      error?.hint == (plan.losses[0].suggestion.map { $0 + " " } ?? "")
        + "To accept: MigrationOptions.allowedLosses Person.name")
    var options = MigrationOptions()
    options.allowedLosses = ["Person.name"]
    #expect(plan.canRun(allowing: options.allowedLosses))
    options.confirmation = { $0.losses.count == 1 }
    _ = try StoreMigration.run(plan, options: options)
    try SecondReader.expectAgreement(at: place.store)
  }

  @Test("an app's own policy makes what no mapping says")
  func policy() throws {
    var request = MigrationRequest(to: try ModelReference("\(place.bundle)@App 5").load())
    request.documents.add(
      try Recipe(
        text: """
          { from: "App", to: "App 5", entityMappings: [
            { source: "Person", destination: "Person", policy: "App.SplitName",
              attributes: { given: null, family: null } } ] }
          """, path: "App.json5"))
    request.policies["App.SplitName"] = SplitName.self
    let plan = try StoreMigration.plan(Store(path: place.store), request)
    #expect(plan.canRun, "\(plan.failures) \(plan.losses)")
    _ = try StoreMigration.run(plan)
    #expect(try place.names(of: "Person", by: "given") == ["Ada", "Grace", "Mel"])
    #expect(try place.names(of: "Person", by: "family") == ["Hopper", "King"])
    try SecondReader.expectAgreement(at: place.store)
  }

  @Test("a run is cancelled from outside, and the store stays as it was")
  func cancelled() throws {
    let target = try ModelReference("\(place.bundle)@App 3").load()
    let plan = try StoreMigration.plan(Store(path: place.store), MigrationRequest(to: target))
    let error = #expect(throws: CoreDataError.self) {
      try StoreMigration.run(plan, isCancelled: { true })
    }
    #expect(error?.kind == .cancelled)
    #expect(try place.names(of: "Person", by: "name").count == 3)
  }

  @Test("a run in a thread of its own streams its progress until its receipt is there")
  func asynchronous() async throws {
    let target = try ModelReference("\(place.bundle)@App 3").load()
    let plan = try StoreMigration.plan(Store(path: place.store), MigrationRequest(to: target))
    let (progress, report) = AsyncStream.makeStream(of: MigrationProgress.self)
    async let receipt = StoreMigration.run(plan, reporting: report)
    var fractions: [Double] = []
    for await step in progress { fractions.append(step.fraction) }
    let entities = try await receipt.entities
    #expect(entities.map { [$0.before, $0.after] } == [[3, 3]])
    #expect(fractions.last == 1 && fractions == fractions.sorted())
    #expect(try place.names(of: "Person", by: "fullName") == ["Ada King", "Grace Hopper", "Mel"])
    try SecondReader.expectAgreement(at: place.store)
  }

  @Test("a task that is cancelled cancels the run that it waits for")
  func cancelledTask() async throws {
    let target = try ModelReference("\(place.bundle)@App 3").load()
    let plan = try StoreMigration.plan(Store(path: place.store), MigrationRequest(to: target))
    let (progress, report) = AsyncStream.makeStream(of: MigrationProgress.self)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await StoreMigration.run(plan, reporting: report)
    }
    let error = await #expect(throws: CoreDataError.self) { try await task.value }
    #expect(error?.kind == .cancelled)
    // The stream ends, too.
    for await _ in progress {}
    #expect(try place.names(of: "Person", by: "name").count == 3)
  }

  @Test("stages of an app run its code between two versions")
  func stages() throws {
    func version(_ name: String) throws -> StagedVersion {
      .model(try ModelReference("\(place.bundle)@\(name)").load().model, name: name)
    }
    let stages = try StagedMigration(stages: [
      .custom(
        from: version("App"), to: version("App 3"), willMigrate: nil,
        didMigrate: { context in
          try context.forEach("Person") { person in
            try person.set(.string((person.text("fullName") ?? "") + "!"), for: "fullName")
          }
        })
    ])
    let plan = try StoreMigration.plan(Store(path: place.store), MigrationRequest(stages: stages))
    _ = try StoreMigration.run(plan)
    #expect(
      try place.names(of: "Person", by: "fullName") == ["Ada King!", "Grace Hopper!", "Mel!"])
    try SecondReader.expectAgreement(at: place.store)
  }
}

/// One name becomes two.
private final class SplitName: EntityMigrationPolicy {
  override func createDestinationInstances(
    for source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    let person = try manager.makeInstance(of: source, in: mapping)
    let words = (try source.text("name") ?? "").split(separator: " ", maxSplits: 1)
    for (word, attribute) in zip(words, ["given", "family"]) {
      try person.set(.string(String(word)), for: attribute)
    }
  }
}
