/// XML as Xcode lays it out: a tag a line, four spaces a level.
struct XMLText {
  typealias Attributes = [(String, String?)]

  private(set) var text = ""
  private var depth = 0

  mutating func line(_ content: String) {
    text += String(repeating: "    ", count: depth) + content + "\n"
  }

  /// Opens a tag; attributes without a value are left out.
  mutating func open(_ name: String, _ attributes: Attributes) {
    line("<\(name)\(Self.list(attributes))>")
    depth += 1
  }

  mutating func close(_ name: String) {
    depth -= 1
    line("</\(name)>")
  }

  mutating func empty(_ name: String, _ attributes: Attributes) {
    line("<\(name)\(Self.list(attributes))/>")
  }

  mutating func element(
    _ name: String, _ attributes: Attributes, isEmpty: Bool, _ content: (inout XMLText) -> Void
  ) {
    guard !isEmpty else { return empty(name, attributes) }
    open(name, attributes)
    content(&self)
    close(name)
  }

  private static func list(_ attributes: Attributes) -> String {
    attributes.map { name, value in value.map { " \(name)=\"\($0.escapedForXML)\"" } ?? "" }
      .joined()
  }
}
