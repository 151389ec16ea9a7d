import ManagedModel
import ManagedStore
import SQLite
import TestSupport
import Testing

@testable import Migration

/// What a plan says before every row was looked at.
@Suite("The outline of a plan")
struct PlanOutlineTests {
  private static func outlines(
    _ store: Store, _ request: MigrationRequest
  ) throws -> (told: [PlanOutline], plan: MigrationPlan) {
    var told: [PlanOutline] = []
    let plan = try StoreMigration.plan(store, request, outline: { told.append($0) })
    return (told, plan)
  }

  private static func renamed(_ text: String, _ other: String) throws -> Model {
    try Library.model(replacing: [(text, other)])
  }

  @Test("the mapping is told before anything is counted, then the counts that the plan has")
  func counts() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    let model = try Self.renamed(
      #"<entity name="Loan">"#, #"<entity name="Lending" elementID="Loan">"#)
    let request = MigrationRequest(to: .init(model: model, name: "V 2", path: ""))
    // What a busy machine does not count in time is left out.
    var (told, plan) = try Self.outlines(Store(path: path), request)
    try Patience.wait {
      guard told.last?.isCounted != true else { return true }
      (told, plan) = try Self.outlines(Store(path: path), request)
      return false
    }
    let (first, last) = (try #require(told.first), try #require(told.last))
    #expect(first.steps.map(\.mapping) == plan.steps.map(\.mapping))
    #expect(first.steps.allSatisfy(\.rows.isEmpty) && !first.isCounted)
    #expect(last.isCounted)
    #expect(last.steps.map(\.rows) == plan.steps.map(\.rows))
    #expect(plan.steps[0].rows.values.reduce(0, +) > 0)
    var same = try StoreMigration.plan(Store(path: path), request)
    // Others write to the disk meanwhile.
    same.bytesFree = plan.bytesFree
    #expect(same == plan)
  }

  @Test("where there is nothing to do, nothing is told before")
  func nothingToDo() throws {
    let folder = try TemporaryFolder()
    let store = try Store(path: Library.store(in: folder))
    let request = MigrationRequest(to: .init(model: store.model, name: "same", path: ""))
    #expect(try Self.outlines(store, request).told.isEmpty)
  }

  @Test("counts go along with entities over inferred steps, and no further than those")
  func steps() throws {
    let second = try Self.renamed(
      #"<entity name="Loan">"#, #"<entity name="Lending" elementID="Loan">"#)
    let third = try Self.renamed(
      #"<entity name="Loan">"#, #"<entity name="Borrowing" elementID="Lending">"#)
    let first = try Library.model(Library.version1)
    let path = try MigrationPath.find(
      from: first, to: third, names: ("V 1", "V 3"),
      through: MigrationPathTests.versions(first, second, third))
    #expect(path.steps.count == 2)
    let counts = Dictionary(
      first.entities.enumerated().map { ($1.name, $0 + 3) }
    ) { first, _ in first }
    let whole = PlanOutline(path.steps).counted(counts, PolicyBindings())
    #expect(whole.isCounted)
    let lending = try #require(
      whole.steps[1].mapping.entityMappings.first { $0.source == "Lending" })
    #expect(whole.steps[1].rows[lending.name] == counts["Loan"])

    var known = counts
    known["Loan"] = nil
    let part = PlanOutline(path.steps).counted(known, PolicyBindings())
    #expect(!part.isCounted && part.steps[1].rows[lending.name] == nil)
    #expect(part.steps[1].rows.count == whole.steps[1].rows.count - 1)

    var written = path.steps
    written[0].mapping.kind = .recipe
    let carriedOut = PlanOutline(written).counted(counts, PolicyBindings())
    #expect(carriedOut.steps[0].rows == whole.steps[0].rows && carriedOut.steps[1].rows.isEmpty)
  }

  @Test("what is not counted in time, or stopped, is left out")
  func late() throws {
    let folder = try TemporaryFolder()
    let path = try Library.store(in: folder)
    let store = try Store(path: path)
    let counts = try store.counts()
    var told: [String: Int] = [:]
    store.earlyCounts(within: .seconds(600)) { told = $0 }
    #expect(told == counts)
    told = [:]
    store.earlyCounts(within: .zero) { told = $0 }
    #expect(told.isEmpty)
    store.stopping(when: { true }) { store.earlyCounts(within: .seconds(600)) { told = $0 } }
    #expect(told.isEmpty)
    // It answers as before.
    #expect(try store.counts() == counts)
  }
}
