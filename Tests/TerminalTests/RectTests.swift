import Terminal
import Testing

@Suite("Rectangles")
struct RectTests {
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
