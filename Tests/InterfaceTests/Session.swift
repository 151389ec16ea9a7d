import Lint
import ManagedModel
import Migration
import Terminal

@testable import Interface
@testable import ManagedStore

/// The interface with a store of literals behind it: keys go in, effects are answered at once.
struct Session {
  var state: State
  /// Every effect that was asked for.
  var effects: [Effect] = []
  var plan: MigrationPlan?
  /// Largest number of rows that were in memory.
  var mostRows = 0
  /// What another store answers; `nil` where it answers as the sample does.
  var otherAnswer: ((Effect) throws -> [Message]?)?
  /// Whether counts, objects and rows are answered.
  var answers = true

  init(width: Int = 100, height: Int = 30, plan: MigrationPlan? = nil) throws {
    state = State(
      storePath: "Recipes.sqlite", size: Size(width: width, height: height),
      themeName: "mono")
    self.plan = try plan ?? SampleStore.plan()
    try send(.start)
    try send("Tab", "Tab", "j", "j", "Esc")
  }

  /// One that goes on from a state that has seen nothing yet.
  init(restoring state: State) throws {
    self.state = state
    plan = try SampleStore.plan()
    try send(.start)
  }

  /// Names of keys, as the help page shows them.
  mutating func send(_ names: String...) throws {
    for name in names {
      guard let key = Key(name: name) else { throw CoreDataError(.usage, "no key \(name)") }
      try send(.key(key))
    }
  }

  mutating func send(_ message: Message) throws {
    try answerEffects(update(&state, message))
  }

  /// Answers effects, and those that come of the answers.
  mutating func answerEffects(_ effects: [Effect]) throws {
    var queue = effects
    while !queue.isEmpty {
      let effect = queue.removeFirst()
      self.effects.append(effect)
      for answer in try answer(to: effect) {
        queue += update(&state, answer)
        mostRows = max(mostRows, state.browse.table?.window.rows.count ?? 0)
      }
    }
  }

  func answer(to effect: Effect) throws -> [Message] {
    guard answers else { return [] }
    if let other = try otherAnswer?(effect) { return other }
    switch effect {
    case .open(let id): return [.answer(id, .opened(try SampleStore.summary()))]
    case .versions(let id): return [.answer(id, .versions(try SampleStore.versions()))]
    case .ask(let id, let request):
      return try SampleStore.answers(to: request).map { .answer(id, $0) }
    case .compute(let id, .compare(let from, let to)):
      return [.answer(id, .compared(Comparison(from: from, to: to)))]
    case .compute(let id, .lint(var from, var to, let mappings)):
      // No file is looked for.
      (from.path, to.path) = ("", "")
      return [.answer(id, .linted(try LintComparison(from: from, to: to, mappings: mappings)))]
    case .plan(let id, _): return plan.map { [.answer(id, .planned($0))] } ?? []
    case .names(let id, _): return [.answer(id, .names(ObjectNames()))]
    case .diagnose(let id):
      return [
        .answer(id, .diagnosed(SampleStore.condition)), .answer(id, .held(SampleStore.holdings)),
      ]
    case .sources(let id, let rows):
      let sources = rows.map { row in
        (
          row,
          RecoveredRowSource(isDeleted: !row.key.isMultiple(of: 3), text: "-wal frame \(row.key)")
        )
      }
      return [.answer(id, .sources(Dictionary(sources) { $1 }))]
    case .picture(let id, _, _, _): return SampleStore.picture.map { .answer(id, $0) }
    case .copyText(let id, let form, let subject):
      return [.answer(id, .copied("\(form) of \(subject)"))]
    case .export(let id, let request):
      return SampleStore.exported(request).map { .answer(id, $0) }
    case .find(let id, .footprint(let request)):
      return [.answer(id, .footprint(SampleStore.footprint(request)))]
    default: return []
    }
  }

  func screen() -> Grid {
    var grid = Grid(state.size)
    draw(state, with: .mono, in: &grid)
    return grid
  }
}
