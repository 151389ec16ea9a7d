import JSON
import ManagedModel
import ManagedStore

/// `PROPERTY=VALUE` as a person types it, read by what the property is.
///
/// Values stand as `dump` prints them: `null`, numbers, `true`, text with or without quotes, dates as seconds since
/// 2001 or in ISO 8601, `Recipe/p3` for an object and a list of such for a to-many; `@FILE` is the content of a file.
package struct AssignmentText {
  let layout: StoreLayout
  /// Reads the file that `@FILE` names.
  let read: (String) throws -> [UInt8]

  /// - Parameter read: reads a file that a value names.
  package init(_ store: Store, read: @escaping (String) throws -> [UInt8]) {
    self.init(store.layout, read: read)
  }

  /// - Parameter read: reads a file that a value names.
  package init(_ layout: StoreLayout, read: @escaping (String) throws -> [UInt8]) {
    (self.layout, self.read) = (layout, read)
  }

  /// The assignments that a text stands for: several for a composite attribute as a whole.
  ///
  /// - Throws: ``CoreDataError`` of kind usage naming the property, or what the value should be.
  package func assignments(_ text: String, of entity: String) throws -> [StoreEdit.Assignment] {
    let bytes = Array(text.utf8)
    guard let place = bytes.firstIndex(of: UInt8(ascii: "=")), place > 0 else {
      throw CoreDataError(
        .usage, "expected PROPERTY=VALUE, found “\(text.prefix(100))”",
        hint: "Write title=\"New title\", or tags+=Tag/p3.")
    }
    var name = String(decoding: bytes[..<place], as: UTF8.self)
    let value = String(decoding: bytes[(place + 1)...], as: UTF8.self)
    var change = StoreEdit.ToManyChange.set
    let table = try layout.knownTable(of: entity)
    if table.relationship(named: name) == nil, table.attribute(named: name) == nil,
      let last = name.last, "+-".contains(last)
    {
      change = last == "+" ? .add : .remove
      name.removeLast()
    }
    if let entry = table.relationship(named: name) {
      return [try relationship(entry.relationship, change, value, of: entity)]
    }
    guard change == .set else {
      throw CoreDataError(
        .usage, "\(change == .add ? "+=" : "-=") is for to-many relationships", entity: entity,
        property: name)
    }
    if let composite = layout.model.attribute(at: name, of: entity), composite.type == .composite {
      return try elements(of: composite, value, in: table)
    }
    let attribute = try table.editable(name, layout)
    return [.attribute(name, try self.value(value, of: attribute, in: entity))]
  }

  private func relationship(
    _ relationship: Relationship, _ change: StoreEdit.ToManyChange, _ text: String,
    of entity: String
  ) throws -> StoreEdit.Assignment {
    let name = relationship.name
    guard relationship.isToMany else {
      guard change == .set else {
        throw CoreDataError(
          .usage, "the relationship is to-one", entity: entity, property: name,
          hint: "Set it with \(name)=Entity/p3, or empty it with \(name)=null.")
      }
      return .toOne(name, text == "null" ? nil : try object(text, in: relationship, of: entity))
    }
    return .toMany(name, change, try objects(text, in: relationship, of: entity))
  }

  private func objects(
    _ text: String, in relationship: Relationship, of entity: String
  ) throws -> [ObjectID] {
    let text = text.trimmed
    guard !text.isEmpty else {
      throw CoreDataError(
        .usage, "no object was given", entity: entity, property: relationship.name,
        hint: "To empty it, write \(relationship.name)=null.")
    }
    if text == "null" || text == "[]" { return [] }
    var names = text.split(separator: ",").map { String($0).trimmed }
    if text.hasPrefix("["), let tree = try? JSON5.read(Array(text.utf8)),
      case .array(let elements) = tree.kind
    {
      names = elements.map { if case .string(let name, _) = $0.kind { name } else { "" } }
    }
    let ids = try names.map { try object($0, in: relationship, of: entity) }
    guard Set(ids).count == ids.count else {
      throw CoreDataError(
        .usage, "an object appears twice", entity: entity, property: relationship.name)
    }
    return ids
  }

  private func object(
    _ text: String, in relationship: Relationship, of entity: String
  ) throws -> ObjectID {
    var text = text
    if let unquoted = Self.unquoted(text) { text = unquoted }
    let id: ObjectID
    do { id = try layout.objectID(text) } catch {
      var error = error
      (error.entity, error.property) = (entity, relationship.name)
      throw error
    }
    guard layout.model.isKind(id.entity, of: relationship.destination) else {
      throw CoreDataError(
        .usage, "\(id) is not an object of \(relationship.destination)", entity: entity,
        property: relationship.name)
    }
    return id
  }

  private func elements(
    of composite: Attribute, _ text: String, in table: EntityTable
  ) throws -> [StoreEdit.Assignment] {
    let prefix = composite.name + "."
    let paths = table.attributes.map(\.attribute.name).filter { $0.hasPrefix(prefix) }
    guard text == "null", !paths.isEmpty else {
      throw CoreDataError(
        .usage, "a composite attribute is set by its elements", entity: table.entity,
        property: composite.name,
        hint: "Write \(paths.first ?? prefix + "element")=VALUE, or \(composite.name)=null.")
    }
    return paths.map { .attribute($0, .null) }
  }

  /// Text in quotes as JSON has it; `nil` for any other.
  private static func unquoted(_ text: String) -> String? {
    guard text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\""),
      let tree = try? JSON5.read(Array(text.utf8)), case .string(let content, _) = tree.kind
    else { return nil }
    return content
  }

  private func value(
    _ given: String, of attribute: Attribute, in entity: String
  ) throws -> AttributeValue {
    if given == "null" { return .null }
    let isData = attribute.type == .binary || attribute.type == .transformable
    var text = given
    if given.hasPrefix("@") {
      let bytes = try read(String(given.dropFirst()))
      if isData { return .bytes(bytes) }
      guard let decoded = String(validating: bytes, as: UTF8.self) else {
        throw CoreDataError(
          .usage, "the file is not UTF-8 text", path: String(given.dropFirst()), entity: entity,
          property: attribute.name)
      }
      if attribute.type == .string { return .string(decoded) }
      text = decoded.trimmed
    } else if let unquoted = Self.unquoted(given) {
      text = unquoted
    }
    guard let value = Self.value(text, as: attribute.type) else {
      let missing = attribute.type == .date ? CoreDataDate.missingDay(written: text) : nil
      throw CoreDataError(
        .usage, missing ?? "“\(text.prefix(60))” is no \(attribute.type.name)", entity: entity,
        property: attribute.name, hint: Self.forms(of: attribute.type))
    }
    return value
  }

  private static func value(_ text: String, as type: AttributeType) -> AttributeValue? {
    switch type {
    case .integer16: Int16(text).map { .integer(Int64($0)) }
    case .integer32: Int32(text).map { .integer(Int64($0)) }
    case .integer64: Int64(text).map { .integer($0) }
    case .boolean: ["true": true, "1": true, "false": false, "0": false][text].map { .boolean($0) }
    case .double, .float: Double(text).flatMap { $0.isFinite ? .double($0) : nil }
    case .decimal: DecimalText.isNumber(text) ? .decimal(text) : nil
    case .string: .string(text)
    case .uri: .uri(text)
    case .date:
      (Double(text).flatMap { $0.isFinite ? $0 : nil } ?? CoreDataDate.seconds(written: text))
        .map { .date($0) }
    case .uuid: UUIDText.bytes(text).map { .uuid($0) }
    case .binary, .transformable: data(text)
    default: nil
    }
  }

  /// `{"base64": "…"}`, as `dump --blobs` prints bytes.
  private static func data(_ text: String) -> AttributeValue? {
    guard let tree = try? JSON5.read(Array(text.utf8)), case .object(let members) = tree.kind,
      let member = members.first, members.count == 1, member.key == "base64",
      case .string(let digits, _) = member.value.kind, let bytes = ByteText.bytes(base64: digits)
    else { return nil }
    return .bytes(bytes)
  }

  /// How a value of a type is typed, as a sentence.
  package static func forms(of type: AttributeType) -> String {
    switch type {
    case .integer16, .integer32, .integer64:
      "Write a whole number in the range of the type, or null."
    case .boolean: "Write true, false or null."
    case .date:
      "Write 2024-03-01, 2024-03-01T18:30:00Z, 2024-03-01 18:30 +02:00, seconds since 2001, or null."
    case .uuid: "Write 32 hexadecimal digits with hyphens, or null."
    case .binary, .transformable:
      "Write @FILE for the content of a file, {\"base64\": \"…\"}, or null."
    case .string, .uri:
      "Write the text, @FILE for the text in a file, or null. In double quotes it is read as JSON."
    default: "Write a number, or null."
    }
  }
}

extension AssignmentText {
  /// A value as a person would type it: read again, it is the same value.
  ///
  /// Of bytes it is their Base64, however many there are.
  package static func text(of value: AttributeValue) -> String {
    switch value {
    case .null: return "null"
    case .integer(let number): return String(number)
    case .boolean(let flag): return flag ? "true" : "false"
    case .double(let number): return number.description
    case .decimal(let digits): return digits
    case .date(let seconds):
      let text = CoreDataDate.text(seconds)
      return CoreDataDate.seconds(written: text) == seconds ? text : seconds.description
    case .uuid(let bytes): return UUIDText.text(bytes)
    case .string(let text), .uri(let text): return isPlain(text) ? text : quoted(text)
    case .bytes(let bytes): return "{\"base64\": \"\(ByteText.base64(bytes))\"}"
    }
  }

  /// Whether a text is read as itself, and shows all that is in it.
  package static func isPlain(_ text: String) -> Bool {
    text != "null" && !text.hasPrefix("@") && unquoted(text) == nil
      && text.first?.isWhitespace != true && text.last?.isWhitespace != true
      && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
  }

  private static func quoted(_ text: String) -> String {
    var written = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": written += "\\\""
      case "\\": written += "\\\\"
      case "\n": written += "\\n"
      case "\t": written += "\\t"
      case _ where scalar.properties.generalCategory == .control:
        let digits = String(scalar.value, radix: 16)
        written += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
      default: written.unicodeScalars.append(scalar)
      }
    }
    return written + "\""
  }
}

extension DecimalText {
  /// Whether a text is the digits of a number, with or without a point and an exponent.
  fileprivate static func isNumber(_ text: String) -> Bool {
    let bytes = text.utf8
    return Double(text)?.isFinite == true
      && bytes.allSatisfy { "+-.0123456789eE".utf8.contains($0) }
      && bytes.contains(where: \.isDigit)
  }
}

extension EntityTable {
  /// An attribute that a person may set.
  ///
  /// - Throws: ``CoreDataError`` of kind usage for one that is not there, and refused for one that is computed.
  func editable(_ name: String, _ layout: StoreLayout) throws -> Attribute {
    guard let column = attribute(named: name) else {
      let known = attributes.map(\.attribute.name) + relationships.map(\.relationship.name)
      throw CoreDataError(unknown: "property", name, of: entity, known: known)
    }
    guard !column.attribute.isDerived else {
      throw CoreDataError(
        .refused, "a derived attribute cannot be set: it is computed from others", entity: entity,
        property: name)
    }
    return column.attribute
  }
}
