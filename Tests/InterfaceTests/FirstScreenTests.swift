import ManagedModel
import ManagedStore
import Terminal
import Testing

@testable import Comparison
@testable import Interface

@Suite("The first screen")
struct FirstScreenTests {
  private static let size = Size(width: 100, height: 30)

  /// Answers what may not wait until nothing is asked any more; the effects that were put off.
  private func fill(_ state: inout State) throws -> [Effect] {
    var session = try Session(restoring: State(storePath: "OTHER"))
    session.state = state
    var deferred: [Effect] = []
    var queue = update(&session.state, .start)
    while !queue.isEmpty {
      #expect(!session.state.isFilled)
      let asked = queue.filter { !$0.canWait }
      deferred += queue.filter(\.canWait)
      queue = []
      for effect in asked {
        for answer in try session.answer(to: effect) { queue += update(&session.state, answer) }
      }
    }
    state = session.state
    return deferred
  }

  @Test("it is there with its rows, while what takes long was not begun")
  func rows() throws {
    var state = State(storePath: "Recipes.sqlite", size: Self.size, themeName: "mono")
    #expect(!state.isFilled)
    let deferred = try fill(&state)
    #expect(state.isFilled)
    #expect(state.browse.table?.window.rows.isEmpty == false)
    #expect(deferred.contains { if case .versions = $0 { true } else { false } })
    #expect(deferred.contains { if case .ask(_, .count) = $0 { true } else { false } })
  }

  @Test("rows that cannot be read keep nobody waiting")
  func failure() throws {
    var state = State(storePath: "Recipes.sqlite", size: Self.size, themeName: "mono")
    _ = update(&state, .start)
    let effects = update(&state, .answer(TaskID(1), .opened(try SampleStore.summary())))
    #expect(!state.isFilled)
    for case .ask(let id, .rows) in effects {
      _ = update(&state, .failed(id, CoreDataError(.unreadable, "the page is gone")))
    }
    #expect(state.isFilled)
  }

  @Test("a store opens with what changed since another that was named before it")
  func against() throws {
    var state = State(storePath: "B.sqlite", size: Self.size, themeName: "mono")
    state.against = "A.sqlite"
    _ = update(&state, .start)
    let effects = update(&state, .answer(TaskID(1), .opened(try SampleStore.summary())))
    #expect(state.screen == .browse && state.layers.last?.content is ChangesLayer)
    let task = effects.lazy.compactMap { effect -> TaskID? in
      if case .compare(let task, with: "A.sqlite") = effect { task } else { nil }
    }.first
    guard let task else {
      Issue.record("nothing is compared: \(effects)")
      return
    }
    let id = ObjectID(entity: "Recipe", key: 1)
    let change = ObjectChange(
      kind: .update, a: id, b: id, label: "", attributes: [], relationships: [])
    let found = StoreDifferences(path: "A.sqlite", counts: [], changes: [change], notes: [])
    _ = update(&state, .answer(task, .differs(found)))
    #expect(state.news.marks[id] == change)
    _ = update(&state, .key(.character("C")))
    #expect(state.layers.isEmpty)
    _ = update(&state, .key(.character("C")))
    var grid = Grid(state.size)
    draw(state, with: .mono, in: &grid)
    #expect(grid.description.contains("OLD: A.sqlite  NEW: the store"))
  }

  @Test("models without a store are compared at once, and the screens that need one say so")
  func models() throws {
    var state = State(storePath: "", size: Self.size, themeName: "mono")
    state.models = ["Old.mom", "New.mom"]
    let asked = update(&state, .start)
    #expect(asked.count == 1 && !state.isFilled && state.isStarting)
    guard case .versions(let task)? = asked.first else {
      Issue.record("the versions were not asked for: \(asked)")
      return
    }
    let model = try SampleStore.model(1)
    var versions = ["Old", "Between", "New"].map {
      ModelVersion(name: $0, path: $0 + ".mom", result: .success(model))
    }
    versions[0].isWanted = true
    versions[2].isWanted = true
    let effects = update(&state, .answer(task, .versions(versions)))
    #expect(effects.contains { if case .compute(_, .compare) = $0 { true } else { false } })
    #expect(state.screen == .diff && state.diff.from == 0 && state.diff.to == 2)
    #expect(!state.isStarting)
    for screen in Screen.allCases where screen != .diff {
      #expect(update(&state, .key(.character(Character(String(screen.rawValue))))).isEmpty)
      #expect(state.screen == .diff && state.notice?.text.contains("no store is open") == true)
    }
    // One alone goes with the version before it.
    versions[0].isWanted = false
    #expect(versions.comparedIndices.map { [$0.from, $0.to] } == [1, 2])
    #expect(Array(versions.prefix(1)).comparedIndices == nil)
  }

  @Test("a store that is not of the model that was named says so when it is opened")
  func misfit() throws {
    var state = State(storePath: "Recipes.sqlite", size: Self.size, themeName: "mono")
    _ = update(&state, .start)
    var store = try SampleStore.summary()
    store.misfit = "The version hashes of App.mom are not those of the store (134100)."
    _ = update(&state, .answer(TaskID(1), .opened(store)))
    #expect(state.notice?.text == store.misfit)
  }

  @Test("a notice that is longer than the last row is wrapped, and ends in … where it is cut")
  func longNotice() throws {
    func rows(_ notice: String) throws -> [String] {
      var session = try Session(width: 80, height: 24)
      session.state.notice = Notice(notice, .warning)
      var grid = Grid(session.state.size)
      draw(session.state, with: .mono, in: &grid)
      return (0..<24).map(grid.row)
    }
    let words = (1...24).map { "word\($0)" }.joined(separator: " ")
    let wrapped = try rows(words)
    let told = wrapped.suffix(3).joined(separator: " ").split(separator: " ").drop { $0 != "!" }
    #expect(told.dropFirst().joined(separator: " ") == words, "\(wrapped)")
    let cut = try rows(String(repeating: words + " ", count: 4))
    #expect(cut.last?.contains("…") == true && !cut[19].contains("word"), "\(cut)")
    #expect(try rows("short").last?.contains("! short") == true)
  }

  @Test("the choice of a store waits for none")
  func picker() {
    var state = State(storePath: "", size: Self.size)
    state.picker = PickerScreen(folder: ".", home: nil, showsRecent: false)
    #expect(state.isFilled)
  }
}
