import Terminal
import Testing

@Suite("Layout")
struct LayoutTests {
  @Test("the flexible part takes what is left")
  func flexible() {
    let rows = Layout.rows(
      Rect(width: 80, height: 24), [.fixed(1), .flexible(min: 3), .fixed(1)])
    #expect(rows.map(\.y) == [0, 1, 23])
    #expect(rows.map(\.height) == [1, 22, 1])
    let columns = Layout.columns(
      Rect(x: 2, y: 0, width: 81, height: 1), [.fraction(0.25), .flexible(), .flexible()], gap: 1)
    #expect(columns.map(\.width) == [20, 29, 30])
    #expect(columns.map(\.x) == [2, 23, 53])
  }

  @Test("parts are never negative and never leave the rectangle", arguments: 0...40)
  func neverNegative(length: Int) {
    let parts: [Layout.Part] = [
      .fixed(3), .fraction(0.5), .flexible(min: 10), .fixed(-4), .fraction(7), .flexible(),
      .fraction(-1),
    ]
    for gap in 0...2 {
      let rect = Rect(x: 5, y: 5, width: length, height: length)
      for part in Layout.columns(rect, parts, gap: gap) {
        #expect(part.width >= 0 && part.x >= rect.x && part.right <= rect.right)
      }
      for part in Layout.rows(rect, parts, gap: gap) {
        #expect(part.height >= 0 && part.y >= rect.y && part.bottom <= rect.bottom)
      }
    }
  }

  @Test("cutting more than there is leaves an empty rectangle")
  func cutting() {
    let rect = Rect(x: 1, y: 1, width: 3, height: 1)
    #expect(rect.inset(by: 2).isEmpty)
    #expect(rect.droppingRows(9).isEmpty)
    #expect(rect.row(1).isEmpty)
    #expect(rect.centered(Size(width: 9, height: 9)) == rect)
    #expect(rect.intersection(Rect(x: 9, y: 9, width: 1, height: 1)).isEmpty)
  }
}
