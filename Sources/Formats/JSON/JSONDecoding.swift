/// Makes values out of JSON5 by what they say of themselves as `Decodable`.
///
/// As JSONDecoder does, which would bring a library of ten megabytes along.
package enum JSONDecoding {
  /// - Throws: ``JSON5Mistake`` for what is no JSON5, `DecodingError` for JSON5 that is something else.
  package static func value<Value: Decodable>(
    _ type: Value.Type, from bytes: [UInt8]
  ) throws -> Value {
    try TreeDecoder(tree: try JSON5.read(bytes), codingPath: []).value(type)
  }
}

/// One value of a tree, and where it stands.
private struct TreeDecoder: Decoder, SingleValueDecodingContainer {
  let tree: JSON5
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let plain: Any?
    switch type {
    case is String.Type: plain = if case .string(let text, _) = tree.kind { text } else { nil }
    case is Bool.Type: plain = if case .boolean(let flag) = tree.kind { flag } else { nil }
    case is Double.Type: plain = number
    case is Float.Type: plain = number.map { Float($0) }
    case let integer as any FixedWidthInteger.Type: plain = self.integer(integer)
    default: return try Value(from: self)
    }
    guard let value = plain as? Value else { throw mismatch(type) }
    return value
  }

  private var number: Double? {
    switch tree.kind {
    case .integer(let number): Double(number)
    case .number(let number): number
    default: nil
    }
  }

  private func integer<Value: FixedWidthInteger>(_ type: Value.Type) -> Value? {
    switch tree.kind {
    case .integer(let number): Value(exactly: number)
    case .number(let number): Value(exactly: number)
    default: nil
    }
  }

  private func mismatch(_ type: any Any.Type) -> DecodingError {
    .typeMismatch(
      type, DecodingError.Context(codingPath: codingPath, debugDescription: "this is \(tree.name)"))
  }

  func at(_ key: any CodingKey, _ tree: JSON5) -> TreeDecoder {
    TreeDecoder(tree: tree, codingPath: codingPath + [key])
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .object(let members) = tree.kind else { throw mismatch([String: Any].self) }
    return KeyedDecodingContainer(Members<Key>(decoder: self, members: members))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let elements) = tree.kind else { throw mismatch([Any].self) }
    return Elements(decoder: self, elements: elements)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { if case .null = tree.kind { true } else { false } }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try value(type) }
}

private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: TreeDecoder
  let members: [JSON5.Member]

  var codingPath: [any CodingKey] { decoder.codingPath }
  var allKeys: [Key] { members.compactMap { Key(stringValue: $0.key) } }

  func contains(_ key: Key) -> Bool { members.contains { $0.key == key.stringValue } }

  private func at(_ key: any CodingKey) throws -> TreeDecoder {
    guard let member = members.first(where: { $0.key == key.stringValue }) else {
      throw DecodingError.keyNotFound(
        key, DecodingError.Context(codingPath: codingPath, debugDescription: "the key is missing"))
    }
    return decoder.at(key, member.value)
  }

  func decodeNil(forKey key: Key) throws -> Bool { try at(key).decodeNil() }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try at(key).value(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try at(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try at(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try at(Place(stringValue: "super")) }

  func superDecoder(forKey key: Key) throws -> any Decoder { try at(key) }
}

private struct Elements: UnkeyedDecodingContainer {
  let decoder: TreeDecoder
  let elements: [JSON5]
  var currentIndex = 0

  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex >= elements.count }

  private func next() throws -> TreeDecoder {
    let place = Place(intValue: currentIndex)
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        Any.self,
        DecodingError.Context(
          codingPath: codingPath + [place], debugDescription: "the list is at its end"))
    }
    return decoder.at(place, elements[currentIndex])
  }

  mutating func decodeNil() throws -> Bool {
    let isNull = try next().decodeNil()
    if isNull { currentIndex += 1 }
    return isNull
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let value = try next().value(type)
    currentIndex += 1
    return value
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    let container = try next().container(keyedBy: type)
    currentIndex += 1
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try next().unkeyedContainer()
    currentIndex += 1
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    let decoder = try next()
    currentIndex += 1
    return decoder
  }
}

/// A place in a list, or a name that no value declares.
private struct Place: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) {
    stringValue = "[\(intValue)]"
    self.intValue = intValue
  }
}
