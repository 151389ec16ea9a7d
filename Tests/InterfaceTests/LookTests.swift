import Interface
import ManagedModel
import Migration
import Terminal
import Testing

/// Every screen at every size, for a store as it should be, an empty one and one that is broken:
/// its text once, and its colours as roles, a line each.
@Suite("Looks")
struct LookTests {
  enum Kind: String, CaseIterable, Sendable { case ordinary, empty, broken }

  static let sizes = [
    Size(width: 120, height: 36), Size(width: 80, height: 24), Size(width: 60, height: 20),
    Size(width: 40, height: 10),
  ]

  private static func session(_ kind: Kind, _ screen: Screen, _ size: Size) throws -> Session {
    var session = try Session(width: size.width, height: size.height)
    switch kind {
    case .ordinary: break
    case .empty: session = try Session.empty(size)
    case .broken: session = try Session.broken(size)
    }
    try session.send(String(screen.rawValue))
    return session
  }

  @Test("the text", arguments: Kind.allCases, Screen.allCases)
  func text(kind: Kind, screen: Screen) throws {
    var text = ""
    for size in Self.sizes {
      let grid = try Self.session(kind, screen, size).screen()
      text += "\(size.width)×\(size.height)\n\(grid.description)\n\n"
    }
    try Snapshot.expect(text, named: "look-\(kind.rawValue)-\(screen.title.lowercased())")
  }

  /// Dark, light and none: each style by a letter, equal neighbours joined.
  @Test("the colours", arguments: Kind.allCases, Screen.allCases)
  func colors(kind: Kind, screen: Screen) throws {
    var text = ""
    for size in Self.sizes {
      let session = try Self.session(kind, screen, size)
      for (name, theme) in [("dark", Self.dark), ("light", Self.light), ("none", Theme.mono)] {
        var grid = Grid(size, base: theme[.text])
        draw(session.state, with: theme, in: &grid)
        text += "\(size.width)×\(size.height) \(name) \(Self.summary(of: grid))\n"
      }
    }
    try Snapshot.expect(text, named: "colors-\(kind.rawValue)-\(screen.title.lowercased())")
  }

  @Test("nothing traps on one cell, with whatever is open", arguments: Screen.allCases)
  func smallest(screen: Screen) throws {
    let popups = [
      [], ["?"], [":"], ["T"], ["!"], ["w"], ["o"], ["/"], ["r"], ["i"], ["F"], ["*"], ["y"],
      ["e"], ["v"], ["Tab", "Tab", "/"], ["?", "/"], ["Tab", "a"], ["Tab", "⏎"], ["b"], ["+"],
    ]
    for kind in Kind.allCases {
      for keys in popups {
        var session = try Self.session(kind, screen, Size(width: 80, height: 24))
        session.answers = false
        for key in keys { try session.send(key) }
        for (width, height) in [(0, 0), (1, 1), (2, 1), (1, 5), (39, 9), (40, 10), (41, 11)] {
          let size = Size(width: width, height: height)
          try session.send(.resized(size))
          try session.send("j", "PgDn", "k")
          #expect(session.screen().size == size)
        }
      }
    }
  }

  /// How many cells have which look, the most common first: a change of colour shows as a change of
  /// one line.
  private static func summary(of grid: Grid) -> String {
    var counts: [Style: Int] = [:]
    for cell in grid.cells { counts[cell.style, default: 0] += 1 }
    return counts.map { (name(of: $0.key), $0.value) }
      .sorted { ($1.1, $0.0) < ($0.1, $1.0) }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
  }

  private static func name(of style: Style) -> String {
    let flags: [(Style.Attributes, String)] = [
      (.bold, "b"), (.dim, "d"), (.underline, "u"), (.reverse, "r"),
    ]
    let marks = flags.filter { style.attributes.contains($0.0) }.map(\.1).joined()
    func short(_ color: Color) -> String {
      switch color {
      case .default: "-"
      case .ansi(let number): "\(number)"
      case .indexed(let number): "\(number)"
      case .rgb(let red, let green, let blue): ByteText.hex([red, green, blue])
      }
    }
    return "\(short(style.foreground))/\(short(style.background))"
      + (marks.isEmpty ? "" : "/" + marks)
  }

  private static let dark = theme("midnight")
  private static let light = theme("paper")

  private static func theme(_ name: String) -> Theme {
    let text = Snapshot.read(Snapshot.package + "/Themes/\(name).json") ?? ""
    return (try? Theme(json: Array(text.utf8))) ?? .mono
  }
}
