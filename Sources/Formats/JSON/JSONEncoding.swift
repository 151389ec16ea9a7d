/// Makes JSON out of values by what they say of themselves as `Encodable`: a member a line, in the
/// order of their names.
package enum JSONEncoding {
  /// - Throws: `EncodingError` for a value that JSON has no form for.
  package static func bytes(of value: some Encodable) throws -> [UInt8] {
    let node = Node()
    try NodeEncoder(node: node, codingPath: []).encode(value)
    var json = JSONWriter(indented: true)
    node.write(to: &json)
    return json.bytes
  }
}

/// A value that is filled in by and by: an encoder hands out containers and never hears of their end.
private final class Node {
  enum Kind {
    case null
    case plain(any JSONField)
    case array([Node])
    case object([String: Node])
  }

  var kind = Kind.null

  func write(to json: inout JSONWriter) {
    switch kind {
    case .null: json.null()
    case .plain(let value): value.write(to: &json)
    case .array(let elements):
      json.array { json in for element in elements { element.write(to: &json) } }
    case .object(let members):
      json.object { json in
        for (name, member) in members.sorted(by: { $0.key < $1.key }) {
          json.key(name)
          member.write(to: &json)
        }
      }
    }
  }

  func member(_ name: String) -> Node {
    let node = Node()
    var members: [String: Node] = if case .object(let members) = kind { members } else { [:] }
    members[name] = node
    kind = .object(members)
    return node
  }

  func element() -> Node {
    let node = Node()
    kind = .array(elements + [node])
    return node
  }

  var elements: [Node] { if case .array(let elements) = kind { elements } else { [] } }
}

private struct NodeEncoder: Encoder, SingleValueEncodingContainer {
  let node: Node
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func encode<Value: Encodable>(_ value: Value) throws {
    switch value {
    case let text as String: node.kind = .plain(text)
    case let flag as Bool: node.kind = .plain(flag)
    case let number as Double: node.kind = .plain(number)
    case let number as Float: node.kind = .plain(Double(number))
    case let number as any FixedWidthInteger:
      guard let number = Int64(exactly: number) else {
        throw EncodingError.invalidValue(
          value, EncodingError.Context(codingPath: codingPath, debugDescription: "too large"))
      }
      node.kind = .plain(number)
    default: try value.encode(to: self)
    }
  }

  func encodeNil() { node.kind = .null }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if case .null = node.kind { node.kind = .object([:]) }
    return KeyedEncodingContainer(NodeMembers<Key>(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    if case .null = node.kind { node.kind = .array([]) }
    return NodeElements(encoder: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

private struct NodeMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: NodeEncoder
  var codingPath: [any CodingKey] { encoder.codingPath }

  private func at(_ key: any CodingKey) -> NodeEncoder {
    NodeEncoder(node: encoder.node.member(key.stringValue), codingPath: codingPath + [key])
  }

  func encodeNil(forKey key: Key) { at(key).encodeNil() }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try at(key).encode(value)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> { at(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    at(key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder {
    NodeEncoder(node: encoder.node.member("super"), codingPath: codingPath)
  }

  func superEncoder(forKey key: Key) -> any Encoder { at(key) }
}

private struct NodeElements: UnkeyedEncodingContainer {
  let encoder: NodeEncoder
  var codingPath: [any CodingKey] { encoder.codingPath }
  var count: Int { encoder.node.elements.count }

  private func next() -> NodeEncoder {
    NodeEncoder(node: encoder.node.element(), codingPath: codingPath)
  }

  func encodeNil() { next().encodeNil() }

  func encode<Value: Encodable>(_ value: Value) throws { try next().encode(value) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> { next().container(keyedBy: type) }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next().unkeyedContainer() }

  func superEncoder() -> any Encoder { next() }
}
