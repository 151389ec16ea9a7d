import ManagedStore
import TestSupport
import Testing

@testable import Interface

@Suite("Paging through ten thousand rows")
struct RowWindowTests {
  @Test("paging down reaches the last row, one page of memory at a time")
  func down() throws {
    var session = try Session()
    #expect(session.state.browse.table?.entity == "Recipe")
    var seen: [Int64] = []
    let steps = TestScale.count(1_300, ofAll: SampleStore.recipes)
    for _ in 0..<steps {
      if let key = session.state.browse.table?.window.selectedRow?.id.key { seen.append(key) }
      try session.send("j")
    }
    #expect(seen == Array(1...Int64(steps)))
    #expect(session.mostRows <= RowWindow.capacity + RowWindow.page)
    if TestScale.isFull { #expect(session.state.browse.table?.window.hasEnd == true) }
  }

  @Test(
    "and back up again, with the row's number right all the way",
    .enabled(if: TestScale.isFull, "\(TestScale.condition)"))
  func up() throws {
    var session = try Session()
    try session.send("G")
    #expect(session.state.browse.table?.window.selectedRow?.id.key == 10_000)
    let last = Int64(TestScale.isFull ? 1 : 8_700)
    for expected in stride(from: Int64(10_000), through: last, by: -1) {
      let window = try #require(session.state.browse.table?.window)
      #expect(window.selectedRow?.id.key == expected)
      #expect(window.ordinal.map { $0 + window.selected + 1 } == Int(expected))
      try session.send("k")
    }
    if TestScale.isFull { #expect(session.state.browse.table?.window.hasStart == true) }
    #expect(session.mostRows <= RowWindow.capacity + RowWindow.page)
  }

  @Test("a page is what is seen, less one row")
  func pages() throws {
    var session = try Session()
    let height = try #require(session.state.browse.table?.window.height)
    try session.send("PgDn", "PgDn")
    #expect(session.state.browse.table?.window.selected == 2 * (height - 1))
    try session.send("PgUp", "PgUp", "PgUp")
    #expect(session.state.browse.table?.window.selectedRow?.id.key == 1)
  }

  @Test("g and Home come back to the first row from the far end")
  func home() throws {
    var session = try Session()
    try session.send("G", "Home")
    #expect(session.state.browse.table?.window.selectedRow?.id.key == 1)
    try session.send("End", "g")
    #expect(session.state.browse.table?.window.selectedRow?.id.key == 1)
  }

  @Test("keys pressed while a page is on its way are not lost")
  func pending() {
    var window = RowWindow()
    window.setHeight(10)
    window.take((1...200).map(SampleStore.row), at: .start, total: nil)
    window.select(199)
    window.move(by: 5)
    #expect(window.selectedRow?.id.key == 200)
    window.take((201...400).map(SampleStore.row), at: .after(window.rows[199].cursor), total: nil)
    #expect(window.selectedRow?.id.key == 205)
  }

  @Test("an empty entity has no row and wants none")
  func empty() {
    var window = RowWindow()
    window.take([], at: .start, total: 0)
    window.move(by: 3)
    #expect(window.selectedRow == nil && window.wanted == nil && window.visible.isEmpty)
  }

  @Test("a resize keeps the selected row in sight")
  func resize() throws {
    var session = try Session()
    try session.send("PgDn", "PgDn", "PgDn")
    let key = session.state.browse.table?.window.selectedRow?.id.key
    for (width, height) in [(80, 24), (40, 10), (1, 1), (200, 60)] {
      try session.send(.resized(.init(width: width, height: height)))
      let window = try #require(session.state.browse.table?.window)
      #expect(window.selectedRow?.id.key == key)
      #expect(window.visible.contains(window.selected))
    }
  }
}
