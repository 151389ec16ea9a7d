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

  /// What happens when rows 31, 32 and 35 are deleted: twice the rows are read, and twice a save is known.
  enum Event: CaseIterable {
    case readsFirst, readsAll, knowsFirst, knowsAll
  }

  private static let orders: [[Event]] = {
    func orders(_ events: [Event]) -> [[Event]] {
      guard !events.isEmpty else { return [[]] }
      return events.flatMap { event in
        orders(events.filter { $0 != event }).map { [event] + $0 }
      }
    }
    // Rows are read in the order of the saves, and saves are known in theirs.
    return orders(Event.allCases).filter { order in
      func place(_ event: Event) -> Int { order.firstIndex(of: event) ?? 0 }
      return place(.readsFirst) < place(.readsAll) && place(.knowsFirst) < place(.knowsAll)
    }
  }()

  @Test(
    "deleted rows stay where they were, whether the rows or the save came first",
    arguments: [1, 30, 31, 32, 33, 35, 36], orders)
  func deletedRows(selected: Int64, order: [Event]) {
    var window = RowWindow()
    window.setHeight(20)
    window.take((1...80).map(SampleStore.row), at: .start, total: nil)
    window.select(50)
    window.select(Int(selected) - 1)
    let (offset, keys) = (window.offset, window.rows.map(\.id.key))
    var known: Set<Int64> = []
    for event in order {
      switch event {
      case .readsFirst, .readsAll:
        let gone: Set<Int64> = event == .readsFirst ? [32] : [31, 32, 35]
        let rows = (Int64(1)...80).filter { !gone.contains($0) }.map(SampleStore.row)
        window.takeAgain(rows, isLast: true) { known.contains($0.key) }
      case .knowsFirst, .knowsAll:
        known = event == .knowsFirst ? [32] : [31, 32, 35]
        _ = window.returnDeleted { known.contains($0.key) }
      }
    }
    #expect(window.rows.map(\.id.key) == keys)
    #expect(window.selectedRow?.id.key == selected)
    #expect(window.offset == offset)
  }

  @Test("rows that are gone for another reason do not come back")
  func goneRows() {
    var window = RowWindow()
    window.setHeight(20)
    window.take((1...80).map(SampleStore.row), at: .start, total: nil)
    window.takeAgain((41...80).map(SampleStore.row), isLast: true) { _ in false }
    #expect(!window.returnDeleted { $0.key > 40 })
    #expect(window.rows.map(\.id.key) == Array(41...80))
    // Nor one that is there again.
    window.takeAgain((40...80).map(SampleStore.row), isLast: true) { _ in false }
    #expect(!window.returnDeleted { $0.key == 40 })
    #expect(window.returnDeleted { $0.key == 39 })
    #expect(window.rows.map(\.id.key) == Array(39...80))
    // Another window has none of them.
    window.take((1...80).map(SampleStore.row), at: .start, total: nil)
    #expect(!window.returnDeleted { _ in true })
  }

  @Test("rows that were all deleted stay, struck")
  func allDeleted() {
    var window = RowWindow()
    window.setHeight(20)
    window.take((1...3).map(SampleStore.row), at: .start, total: nil)
    window.takeAgain([], isLast: true) { _ in false }
    #expect(window.rows.isEmpty)
    #expect(window.returnDeleted { _ in true })
    #expect(window.rows.map(\.id.key) == [1, 2, 3])
  }
}
