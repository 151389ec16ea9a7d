import ManagedModel
import Terminal
import Testing

@testable import Interface

@Suite("Components")
struct ComponentTests {
  @Test("work is whose asked for it, until its last answer")
  func owners() {
    var state = State.blank
    let counting = state.lend(to: .screen(.browse)) { $0.newTask() }.result
    let looking = state.lend(to: .layer(7)) { $0.newTask() }.result
    #expect(state.tasks.owner(of: counting, isLast: false) == .screen(.browse))
    #expect(state.tasks.owner(of: looking, isLast: true) == .layer(7))
    #expect(state.tasks.owner(of: looking, isLast: true) == nil)
    #expect(state.tasks.owner(of: counting, isLast: true) == .screen(.browse))
    #expect(state.tasks.owner(of: TaskID(99), isLast: true) == nil)
  }

  @Test("asking in the same place calls off what was asked before")
  func asking() {
    var context = State.blank.context
    var task: TaskID?
    let first = context.ask(&task) { .find($0, .recentStores) }
    let second = context.ask(&task) { .find($0, .recentStores) }
    #expect(first == [.find(TaskID(1), .recentStores)])
    #expect(second == [.cancel(TaskID(1)), .find(TaskID(2), .recentStores)])
    #expect(task.stop() == [.cancel(TaskID(2))])
    #expect(task.stop() == nil)
  }

  @Test("what is asked of others is done in order once the component is back in its place")
  func requests() {
    var state = State.blank
    let effects = state.on(BrowseScreen.self) { browse, context in
      browse.focus = .entities
      context.show(SearchLayer(.screen, former: ""))
      let later =
        context.on(BrowseScreen.self) { browse, context in
          let isBack = browse.focus == .entities && context.isCovered
          #expect(isBack)
          browse.focus = .inspector
          return [.copy("second")]
        } + context.begin([.copy("third")])
      return [.copy("first")] + later
    }
    #expect(effects == [.copy("first"), .copy("second"), .copy("third")])
    #expect(state.browse.focus == .inspector && state.layers.count == 1)
  }

  @Test("the answer to a popup that is gone reaches nobody")
  func gone() throws {
    var session = try Session()
    session.answers = false
    try session.send("T")
    guard case .find(let task, .themes)? = session.effects.last else {
      Issue.record("the themes are not asked for")
      return
    }
    try session.send("Esc")
    let before = session.screen().description
    try session.send(.answer(task, .themes([], hasColors: true)))
    #expect(session.screen().description == before && session.state.layers.isEmpty)
  }

  @Test("a screen is its place in the list")
  func screens() {
    #expect(Screen.allCases.map(\.title) == ["Browse", "Diff", "Mapping", "Migrate", "Rescue"])
    #expect(Screen(rawValue: 2) == .diff && Screen.diff.command == "strata diff A B")
    #expect(Screen(rawValue: 0) == nil && Screen(rawValue: 6) == nil)
    #expect(Screen.files.title == "Files")
  }
}
