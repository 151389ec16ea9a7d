import ManagedModel
import Migration
import Terminal
import TestSupport
import Testing

@testable import Interface

/// Every screen at every size, for a store as it should be, an empty one and one that is broken:
/// its text once, and its colours as roles, a line each.
@Suite("Looks")
struct AppearanceTests {
  enum Kind: String, CaseIterable, Sendable { case ordinary, empty, broken }

  static let sizes = [
    Size(width: 120, height: 36), Size(width: 80, height: 24), Size(width: 60, height: 20),
    Size(width: 40, height: 10),
  ]

  static func session(_ kind: Kind, _ screen: Screen, _ size: Size) throws -> Session {
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

  /// Row by row the roles that the cells have, and what they look like without colours.
  @Test("the colours", arguments: Kind.allCases, Screen.allCases)
  func colors(kind: Kind, screen: Screen) throws {
    var text = ""
    for size in Self.sizes {
      let session = try Self.session(kind, screen, size)
      for (name, theme) in [("roles", Self.roles), ("none", Theme.mono)] {
        var grid = Grid(size, base: theme[.text])
        draw(session.state, with: theme, in: &grid)
        text += "\(size.width)×\(size.height) \(name)\n\(Self.rows(of: grid, theme))\n"
      }
    }
    try Snapshot.expect(text, named: "colors-\(kind.rawValue)-\(screen.title.lowercased())")
  }

  @Test(
    "nothing traps on one cell, with whatever is open",
    arguments: TestScale.some(1, of: Screen.allCases))
  func smallest(screen: Screen) throws {
    let popups = [
      [], ["?"], [":"], ["T"], ["!"], ["w"], ["I"], ["o"], ["/"], ["r"], ["i"], ["F"], ["*"], ["y"],
      ["e"], ["v"], ["Tab", "Tab", "/"], ["?", "/"], ["Tab", "a"], ["Tab", "⏎"], ["b"], ["+"],
      ["f"],
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

  /// Each row as runs of cells, `entity 5`; those of plain text as their number alone. Rows that
  /// look the same are told once.
  private static func rows(of grid: Grid, _ theme: Theme) -> String {
    var rows: [(first: Int, last: Int, text: String)] = []
    for y in 0..<grid.height {
      var runs: [(name: String, count: Int)] = []
      for cell in grid.cells[(y * grid.width)..<((y + 1) * grid.width)] {
        let name = name(of: cell.style, theme)
        if runs.last?.name == name {
          runs[runs.count - 1].count += 1
        } else {
          runs.append((name, 1))
        }
      }
      let text = runs.map { $0.name.isEmpty ? "\($0.count)" : "\($0.name) \($0.count)" }
        .joined(separator: ", ")
      if let last = rows.indices.last, rows[last].text == text {
        rows[last].last = y
      } else {
        rows.append((y, y, text))
      }
    }
    return rows.map {
      "\($0.first)\($0.last > $0.first ? "–\($0.last)" : ""): \($0.text)\n"
    }.joined()
  }

  /// The role that gives the text its colour, then the one that gives it its background, then what
  /// it has besides: `entity/selection+bold`; nothing for plain text.
  private static func name(of style: Style, _ theme: Theme) -> String {
    let flags: [(Style.Attributes, String)] = [
      (.bold, "+bold"), (.dim, "+dim"), (.underline, "+underline"), (.reverse, "+reverse"),
    ]
    func role(_ color: Color) -> String {
      guard case .indexed(let number) = color else { return "" }
      let role = Theme.Role.allCases[Int(number)]
      return role == .text ? "" : role.rawValue
    }
    let background = role(style.background)
    return role(style.foreground) + (background.isEmpty ? "" : "/" + background)
      + flags.filter { style.attributes.contains($0.0) }.map(\.1).joined()
  }

  /// A theme that gives each role colours of its own, where the dark one gives it any.
  private static let roles: Theme = {
    let dark = theme("midnight")
    var styles: [Theme.Role: Style] = [:]
    for (number, role) in Theme.Role.allCases.enumerated() {
      let color = Color.indexed(UInt8(number))
      styles[role] = Style(
        dark[role].foreground == .default ? .default : color,
        on: dark[role].background == .default ? .default : color)
    }
    return Theme(name: "roles", styles: styles)
  }()

  private static func theme(_ name: String) -> Theme {
    let text = Snapshot.read(Snapshot.package + "/Themes/\(name).json") ?? ""
    return (try? Theme(json: Array(text.utf8))) ?? .mono
  }
}
