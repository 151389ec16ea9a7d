import Terminal
import Testing

@testable import Interface

@Suite("Choosing a theme")
struct ThemesLayerTests {
  private static let choices = [
    ThemeChoice(
      name: "broken", kind: .unreadable("line 3: there is no role “txet”: /home/a/broken.json"),
      isOwn: true),
    ThemeChoice(name: "dusk", kind: .dark, isOwn: true),
    ThemeChoice(name: "paper", kind: .light, isOwn: false),
    ThemeChoice(name: "mono", kind: .plain, isOwn: false),
  ]

  /// A session with the themes before it, `mono` being the one in use.
  private func session(hasColors: Bool = true) throws -> Session {
    var session = try Session(width: 60, height: 20)
    try session.send("T")
    guard case .find(let task, .themes)? = session.effects.last else { return session }
    try session.send(.answer(task, .themes(Self.choices, hasColors: hasColors)))
    return session
  }

  @Test("moving draws everything in the theme at once, and Escape goes back to the former")
  func preview() throws {
    var session = try session()
    try session.send("k")
    #expect(session.state.themeName == "paper")
    try session.send("k")
    #expect(session.state.themeName == "dusk")
    try session.send("Esc")
    #expect(session.state.themeName == "mono")
    #expect(session.state.layers.isEmpty)
    #expect(!session.effects.contains { if case .keepTheme = $0 { true } else { false } })
  }

  @Test("Enter keeps the theme, for the next start too")
  func keep() throws {
    var session = try session()
    try session.send("k", "⏎")
    #expect(session.state.themeName == "paper")
    #expect(session.state.layers.isEmpty)
    #expect(session.effects.last == .keepTheme("paper"))
  }

  @Test("T goes on to the next one and comes around")
  func next() throws {
    var session = try session()
    try session.send("T", "T")
    #expect(session.state.themeName == "dusk")
  }

  @Test("a theme that is wrong says where, and cannot be kept")
  func broken() throws {
    var session = try session()
    try session.send("g")
    let text = session.screen().description
    #expect(text.contains("✗ unreadable") && text.contains("line 3: there is no role “txet”"))
    try session.send("⏎")
    #expect(session.state.themeName == "mono")
    #expect(session.state.layers.count == 1)
  }

  @Test("the list looks like this")
  func look() throws {
    try Snapshot.expect(session().screen(), named: "themes-60x20")
  }

  @Test("without colours the popup says so")
  func colorless() throws {
    #expect(try session(hasColors: false).screen().description.contains("no colours here"))
  }

  @Test("it fits any terminal", arguments: [(1, 1), (40, 10), (44, 11), (300, 80)])
  func sizes(width: Int, height: Int) throws {
    var session = try session()
    session.state.size = Size(width: width, height: height)
    try session.send("g")
    #expect(session.screen().bounds == Rect(x: 0, y: 0, width: width, height: height))
  }
}
