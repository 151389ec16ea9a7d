import ManagedModel
import Terminal
import Testing

@testable import Interface

@Suite("Values as a person reads them")
struct ValueTextTests {
  @Test(
    "each kind of value has its words and its look",
    arguments: [
      (AttributeValue.null, "—", Theme.Role.null), (.integer(-3), "-3", .number),
      (.boolean(true), "true", .boolean), (.double(2), "2.0", .number),
      (.double(0.25), "0.25", .number), (.decimal("12.50"), "12.50", .number),
      (.string("soup"), "soup", .string), (.date(0), "2001-01-01 00:00Z", .date),
      (.bytes([1, 2]), "2 bytes", .data),
      (
        .uuid([UInt8](repeating: 0xAB, count: 16)), "ABABABAB-ABAB-ABAB-ABAB-ABABABABABAB",
        .identifier
      ),
      (.uri("https://a.b"), "https://a.b", .identifier),
    ])
  func words(value: AttributeValue, text: String, role: Theme.Role) {
    #expect(ValueText(value) == ValueText(text, role))
  }
}
