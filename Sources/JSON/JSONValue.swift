/// A JSON value whose objects keep their members in order, so that equal input gives equal text.
package indirect enum JSONValue: Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([(key: String, value: JSONValue)])

  /// A string, or null.
  package static func optional(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

  /// A list of strings.
  package static func strings(_ list: [String]) -> JSONValue { .array(list.map { .string($0) }) }

  /// The text; with an indent, one member a line.
  package func text(indented: Bool = false) -> String {
    var text = ""
    write(to: &text, depth: indented ? 0 : nil)
    return text
  }

  private func write(to text: inout String, depth: Int?) {
    switch self {
    case .null: text += "null"
    case .boolean(let value): text += value ? "true" : "false"
    case .integer(let value): text += String(value)
    // JSON has no infinity; a string says what it was.
    case .number(let value): text += value.isFinite ? "\(value)" : "\"\(value)\""
    case .string(let value): text += Self.quoted(value)
    case .array(let values):
      Self.list(values, "[", "]", depth, &text) { value, depth, text in
        value.write(to: &text, depth: depth)
      }
    case .object(let members):
      Self.list(members, "{", "}", depth, &text) { member, depth, text in
        text += Self.quoted(member.key) + (depth == nil ? ":" : ": ")
        member.value.write(to: &text, depth: depth)
      }
    }
  }

  private static func list<Element>(
    _ elements: [Element], _ open: String, _ close: String, _ depth: Int?, _ text: inout String,
    _ write: (Element, Int?, inout String) -> Void
  ) {
    text += open
    for (index, element) in elements.enumerated() {
      if index > 0 { text += "," }
      if let depth { text += "\n" + String(repeating: "  ", count: depth + 1) }
      write(element, depth.map { $0 + 1 }, &text)
    }
    if let depth, !elements.isEmpty { text += "\n" + String(repeating: "  ", count: depth) }
    text += close
  }

  /// A text as a string of JSON.
  package static func quoted(_ value: String) -> String { JSONText.quoted(value) }
}
