import Demo
import Files
import ManagedModel
import Migration
import TestSupport
import Testing

@testable import ManagedStore

@Suite("Stores that SQLite does not open")
struct DamagedOpeningTests {
  enum Damage: String, CaseIterable {
    case magic, header, firstPage, schema, cutOff
  }

  @Test(
    "what can be read is shown, the rest is told, and nothing is changed",
    arguments: TestScale.some(3, of: Damage.allCases))
  func shown(damage: Damage) throws {
    let store = try DamagedDemo()
    switch damage {
    case .magic: try store.change { $0.replaceSubrange(0..<16, with: repeatElement(1, count: 16)) }
    case .header:
      try store.change { $0.replaceSubrange(0..<100, with: repeatElement(0, count: 100)) }
    case .firstPage: try store.damage { $0.zero(page: 1) }
    case .schema:
      try store.change { $0.replaceSubrange(100..<4096, with: repeatElement(0, count: 3996)) }
    case .cutOff: try store.change { $0.removeLast(3 * 4096) }
    }
    let before = try store.bytes()
    let opened = try Store(path: store.path)
    #expect(opened.gaps.first?.contains("page by page") == true, "\(opened.gaps)")
    #expect(opened.shortGap != nil)
    let lines = try StoreDump.lines(opened)
    if damage == .cutOff {
      #expect(lines.count > store.lines.count / 2)
    } else {
      #expect(lines == store.lines)
    }
    #expect(try store.bytes() == before)
  }

  @Test("an empty file whose -wal holds everything is shown")
  func emptyMain() throws {
    let store = try DamagedDemo.everythingLogged()
    try store.change { $0.removeAll() }
    let before = try store.bytes()
    #expect(try StoreDump.lines(Store(path: store.path)) == store.lines)
    #expect(try store.bytes() == before)
  }

  @Test("a store that is read page by page is not migrated")
  func migrated() throws {
    let store = try DamagedDemo()
    try store.change { $0.replaceSubrange(0..<16, with: repeatElement(1, count: 16)) }
    let before = try store.bytes()
    let next = try #require(DemoModels.versions().dropFirst().first)
    let opened = try Store(path: store.path)
    #expect {
      let plan = try opened.plan(to: next.model, names: (from: "Recipes", to: next.name))
      _ = try StoreMigration.run(plan)
    } throws: {
      ($0 as? CoreDataError)?.kind == .refused
    }
    #expect(try store.bytes() == before)
  }
}
