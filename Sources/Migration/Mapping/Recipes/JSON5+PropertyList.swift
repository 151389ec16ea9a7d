import JSON
import ManagedModel

extension JSON5 {
  /// The value without its places.
  var propertyList: PropertyListValue {
    switch kind {
    case .null: .null
    case .boolean(let value): .boolean(value)
    case .integer(let value): .integer(value)
    case .number(let value): .real(value)
    case .string(let text, _): .string(text)
    case .array(let elements): .array(elements.map(\.propertyList))
    case .object(let members):
      .dictionary(Dictionary(first: members.map { ($0.key, $0.value.propertyList) }))
    }
  }

  /// Every string in the value that is no key, in the order of the text.
  var strings: [String] {
    switch kind {
    case .string(let text, _): [text]
    case .array(let elements): elements.flatMap(\.strings)
    case .object(let members): members.flatMap(\.value.strings)
    default: []
    }
  }
}
