import ManagedModel
import Reports
import Testing

@testable import Interface
@testable import Mapping
@testable import Migration

@Suite("The verdict on a plan")
struct PlanVerdictTests {
  private static let check = DataCheck(
    code: .migration, entity: "Recipe", property: "title", rows: 3, message: "missing values",
    hint: "Fill them.")

  /// A plan, and how the reason why it cannot be carried out begins.
  private static func plans() throws -> [(plan: MigrationPlan, reason: String?)] {
    var full = try SampleStore.plan(losses: [])
    (full.bytesNeeded, full.bytesFree) = (2_000_000, 500_000)
    return [
      (try SampleStore.plan(losses: []), nil), (full, "not enough space"),
      (
        try SampleStore.plan(losses: [Loss(entity: "Soup", property: "taste", values: 2)]),
        "2 values of Soup.taste would be lost"
      ),
      (
        try SampleStore.plan(checks: [check, check], losses: []),
        "Recipe.title: missing values, in 3 rows (134110), and 1 more"
      ),
    ]
  }

  @Test("the command and the screens say the same")
  func same() throws {
    for (plan, reason) in try Self.plans() {
      let verdict = PlanVerdict(plan, allowing: [])
      #expect((verdict == .canMigrate) == plan.canRun(allowing: []))
      #expect(verdict.reason?.hasPrefix(reason ?? "") == (reason == nil ? nil : true))
      let said = Report(plan, allowing: []).lines.map { "\($0.mark.rawValue) \($0.text.text)" }
      #expect(said.contains("✓ can migrate") == (reason == nil), "\(said)")
      let isStopped = !plan.failures.isEmpty || !plan.obstacles.isEmpty
      #expect(
        said.contains { $0.hasPrefix("✗ cannot migrate: \(reason ?? "")") } == isStopped, "\(said)")
      #expect(
        said.contains { $0.hasPrefix("✗ refused unless allowed") }
          == (!isStopped && !plan.losses.isEmpty), "\(said)")
      var session = try Session(width: 120, height: 36, plan: plan)
      try session.send("4")
      let screen = session.screen().description
      #expect(screen.contains("✓  can migrate") == (reason == nil), "\(screen)")
      if let reason { #expect(screen.contains("✗  cannot migrate: " + reason), "\(screen)") }
      try session.send("3")
      #expect(session.screen().description.contains("✓ can migrate") == (reason == nil))
    }
  }

  @Test("rows that break a rule of which a migration only warns are not said to satisfy the rules")
  func warned() throws {
    var check = Self.check
    check.isWarning = true
    let plan = try SampleStore.plan(checks: [check], losses: [])
    var session = try Session(width: 120, height: 36, plan: plan)
    try session.send("4")
    let screen = session.screen().description
    #expect(screen.contains("!  Recipe.title: missing values"), "\(screen)")
    #expect(!screen.contains("satisfy") && !screen.contains("breaks a rule"), "\(screen)")
    var sound = try Session(width: 120, height: 36, plan: SampleStore.plan(losses: []))
    try sound.send("4")
    #expect(sound.screen().description.contains("no row was found that breaks a rule"))
  }
}
