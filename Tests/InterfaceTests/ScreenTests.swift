import Terminal
import TestSupport
import Testing

@testable import Interface
@testable import Mapping
@testable import Migration

@Suite("What the screens look like")
struct ScreenTests {
  static let sizes = [
    Size(width: 100, height: 30), Size(width: 80, height: 24), Size(width: 60, height: 20),
    Size(width: 40, height: 10),
  ]

  @Test("each screen at each size", arguments: Screen.allCases, sizes)
  func snapshot(screen: Screen, size: Size) throws {
    var session = try Session(width: size.width, height: size.height)
    try session.send(String(screen.rawValue))
    let name = "\(screen.title.lowercased())-\(size.width)x\(size.height)"
    try Snapshot.expect(session.screen(), named: name)
  }

  @Test("the header does not name a model before the versions were read")
  func unknown() throws {
    var session = try Session()
    #expect(session.screen().row(0).contains("model “Recipes 1”"))
    session.otherAnswer = { effect in
      if case .versions = effect { return [] }
      return nil
    }
    try session.send("^R")
    let header = session.screen().row(0)
    // Its identifier, “1”, is not what the version is called.
    #expect(header.contains("model …  ✓ exact") && !header.contains("“"), "\(header)")
    try session.send("i")
    #expect(session.screen().description.contains("…"))
    guard
      case .versions(let id)? = session.effects.last(where: {
        if case .versions = $0 { true } else { false }
      })
    else {
      Issue.record("the versions were not asked for")
      return
    }
    try session.send(.answer(id, .versions(try SampleStore.versions())))
    #expect(session.screen().row(0).contains("model “Recipes 1”  ✓ exact"))
  }

  @Test("the migration under way, and its receipt")
  func migration() throws {
    var session = try Session(plan: SampleStore.plan(losses: []))
    try session.send("4", "⏎", "y")
    let id = try #require(
      session.effects.last.flatMap { effect -> TaskID? in
        if case .migrate(let id, _, _, _) = effect { id } else { nil }
      })
    let parts: [MigrationProgress.Part] = [
      .init(
        kind: .copy, title: "copy store", unit: .bytes, done: 1_200_000, total: 1_200_000,
        seconds: 0.7, isFinished: true),
      .init(
        kind: .entity, title: "Recipe", unit: .rows, done: 4_000, total: 8_572, seconds: 0.5),
      .init(kind: .relationships, title: "relationships", unit: .items, total: 1),
      .init(kind: .verify, title: "verify", unit: .rows, total: 8_572),
    ]
    try session.send(
      .answer(
        id,
        .progress(
          MigrationProgress(
            parts: parts, current: 1, elapsed: 1.2, rows: 4_000, bytesWritten: 1_900_000))))
    try Snapshot.expect(session.screen(), named: "migrating-100x30")
    try session.send(.answer(id, .migrated(SampleStore.receipt)))
    try Snapshot.expect(session.screen(), named: "receipt-100x30")
  }

  @Test("the help page and the list of versions")
  func layers() throws {
    var session = try Session(width: 80, height: 24)
    try session.send("?")
    try Snapshot.expect(session.screen(), named: "help-80x24")
    try session.send("Esc", "3", "o")
    try Snapshot.expect(session.screen(), named: "versions-80x24")
  }

  @Test("nothing traps on the smallest screens, whatever is shown")
  func smallest() throws {
    for screen in Screen.allCases {
      var session = try Session()
      try session.send(String(screen.rawValue))
      for keys in [
        [], ["?"], ["Esc", "o"], ["Esc", "f"], ["Esc", "Tab", "a"], ["Esc", "Tab", "⏎", "⏎"],
      ] {
        for key in keys { try session.send(key) }
        for width in TestScale.some(4, of: [0, 1, 2, 3, 17, 39, 40, 41, 60, 79, 80]) {
          for height in TestScale.some(3, of: [0, 1, 2, 3, 9, 10, 11, 12, 14, 24]) {
            try session.send(.resized(Size(width: width, height: height)))
            try session.send("j", "PgDn", "k", "PgUp")
            #expect(session.screen().size == Size(width: width, height: height))
          }
        }
      }
    }
  }

  @Test("a screen that is too small says the size it needs")
  func tooSmall() throws {
    let session = try Session(width: 30, height: 8)
    #expect(session.screen().description.contains("strata needs 40×10"))
  }

  @Test("hostile text out of a store cannot steer the terminal")
  func hostile() throws {
    let session = try Session()
    for cell in session.screen().cells {
      #expect(cell.text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
    }
  }
}
