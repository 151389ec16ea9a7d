import JSON
import ManagedModel

/// Turns a recipe's text into what it says.
struct RecipeReader {
  /// Longest recipe accepted; real ones have a few pages.
  static let maximumLength = 8 << 20

  let source: RecipeSource
  private var nextUUID: Int

  static func document(_ source: RecipeSource) throws -> RecipeDocument {
    guard source.text.utf8.count <= maximumLength else {
      throw CoreDataError(.usage, "the recipe is too long", path: source.path)
    }
    let json: JSON5
    do {
      json = try JSON5.read(Array(source.text.utf8))
    } catch {
      throw source.wrong(error.message, error.range)
    }
    try MappingEdits.requireFilled(json, in: source)
    var reader = RecipeReader(
      source: source, nextUUID: (json.strings.flatMap(UUIDCalls.numbers).max() ?? 0) + 1)
    return try reader.document(json)
  }

  private mutating func document(_ json: JSON5) throws -> RecipeDocument {
    let object = try RecipeObject(
      json, "a recipe", keys: ["from", "to", "entityMappings", "policies", "rename", "userInfo"],
      in: source)
    let document = RecipeDocument(
      from: try object.text("from"), to: try object.text("to"),
      mappings: try object.list("entityMappings").map { try mapping($0, keys: Self.mappingKeys) },
      policies: try object.names("policies").map { name, value in
        (name, try mapping(value, keys: Self.policyKeys))
      },
      renames: try object.names("rename").map { name, value in
        (name, try RecipeObject.text(value, name.text, in: source))
      }, userInfo: try userInfo(object))
    let isPair = document.from != nil && document.to != nil
    let needsPair =
      !document.mappings.isEmpty || !document.renames.isEmpty || document.from != nil
      || document.to != nil
    guard isPair || !needsPair else {
      throw source.wrong(
        "a recipe must name the version before and the version after",
        object.range.lowerBound..<object.range.lowerBound + 1,
        hint:
          "Add \"from\": and \"to\": with the versions' names or their checksums.")
    }
    return document
  }

  private static let mappingKeys = [
    "name", "source", "destination", "kind", "delete", "where", "distinct", "attributes",
    "relationships", "create", "policy", "userInfo",
  ]
  private static let policyKeys = [
    "delete", "where", "distinct", "attributes", "relationships", "create", "also", "userInfo",
  ]

  private mutating func mapping(_ json: JSON5, keys: [String]) throws -> RecipeDocument.Mapping {
    let object = try RecipeObject(
      json, keys == Self.policyKeys ? "a stand-in" : "an entity mapping", keys: keys, in: source)
    return RecipeDocument.Mapping(
      range: object.range, name: try object.text("name"), source: try object.text("source"),
      destination: try object.text("destination"), kind: try kind(object),
      isDeletion: try object.flag("delete"), condition: try value(object, "where"),
      distinct: try value(object, "distinct"), attributes: try attributes(object),
      relationships: try relationships(object), children: try children(object, depth: 0),
      policy: try object.text("policy")?.text, userInfo: try userInfo(object),
      also: try object.list("also").map { try mapping($0, keys: Self.mappingKeys) })
  }

  private func kind(_ object: RecipeObject) throws -> EntityMapping.Kind? {
    guard let word = try object.text("kind") else { return nil }
    let known = EntityMapping.Kind.allCases
    guard let kind = known.first(where: { $0.name == word.text }) else {
      throw source.wrong(
        "there is no kind “\(word.text)”", word.range,
        hint: "Available: " + known.map(\.name).joined(separator: ", ") + ".")
    }
    return kind
  }

  private mutating func attributes(_ object: RecipeObject) throws -> [RecipeDocument.Attribute] {
    try object.names("attributes").map { name, json in
      guard case .object = json.kind else {
        return RecipeDocument.Attribute(name: name, value: try value(json, name.text))
      }
      let detail = try RecipeObject(
        json, "an attribute", keys: Self.forms + ["source", "default"], in: source)
      var value = try form(detail) ?? .none
      if let word = try detail.text("source") { value = .source(word) }
      return RecipeDocument.Attribute(
        name: name, value: value, defaultText: try detail.text("default"), isExact: true)
    }
  }

  private mutating func relationships(
    _ object: RecipeObject
  ) throws -> [RecipeDocument.Relationship] {
    try object.names("relationships").map { name, json in
      var relationship = RecipeDocument.Relationship(name: name)
      switch json.kind {
      case .null: break
      case .string: relationship.from = try RecipeObject.text(json, name.text, in: source)
      default:
        let detail = try RecipeObject(
          json, "a relationship", keys: ["from", "through", "fetch", "where"], in: source)
        relationship.from = try detail.text("from")
        relationship.through = try detail.text("through")
        relationship.fetched = try detail.text("fetch")
        relationship.condition = try value(detail, "where")
        guard (relationship.from == nil) != (relationship.fetched == nil) else {
          throw source.wrong(
            "a relationship takes its objects \"from\" a key path, or fetches them", json.range,
            hint: "Write { \"from\": \"owner\" }, or null to leave it empty.")
        }
      }
      return relationship
    }
  }

  private mutating func children(
    _ object: RecipeObject, depth: Int
  ) throws -> [RecipeDocument.Child] {
    try object.list("create").map { json in
      let child = try RecipeObject(
        json, "an object to create",
        keys: ["destination", "relationship", "each", "attributes", "create"], in: source)
      guard depth < 16 else { throw source.wrong("the tree is too deep", json.range) }
      guard let destination = try child.text("destination"),
        let relationship = try child.text("relationship")
      else {
        throw source.wrong(
          "an object to create needs its entity and the relationship it hangs on",
          json.range.lowerBound..<json.range.lowerBound + 1,
          hint: "Add \"destination\": and \"relationship\":.")
      }
      return RecipeDocument.Child(
        destination: destination, relationship: relationship, each: try value(child, "each"),
        attributes: try attributes(child), children: try children(child, depth: depth + 1))
    }
  }

  private mutating func value(
    _ object: RecipeObject, _ key: String
  ) throws -> RecipeDocument.Value? {
    guard let json = object[key] else { return nil }
    guard case .object = json.kind else {
      let value = try value(json, key)
      return value == .none ? nil : value
    }
    return try form(RecipeObject(json, "“\(key)”", keys: Self.forms, in: source))
  }

  private static let forms = ["sql", "expression", "predicate"]

  /// The value that an object gives in one of the forms.
  private mutating func form(_ object: RecipeObject) throws -> RecipeDocument.Value? {
    for form in Self.forms {
      if let word = try object.text(form) { return try expression(word, form) }
    }
    return nil
  }

  /// SQL in quotes, or a number or truth value as it is.
  private mutating func value(_ json: JSON5, _ key: String) throws -> RecipeDocument.Value {
    switch json.kind {
    case .null: return .none
    case .boolean(let value): return .expression(.sql(value ? "1" : "0"), plain(json))
    case .integer(let number):
      return .expression(.sql(AttributeValue.integer(number).literal), plain(json))
    case .number(let number) where number.isFinite:
      return .expression(.sql(AttributeValue.double(number).literal), plain(json))
    case .string: return try expression(RecipeObject.text(json, key, in: source), "sql")
    default:
      throw source.wrong("“\(key)” is an SQL expression in quotes, not \(json.name)", json.range)
    }
  }

  private func plain(_ json: JSON5) -> RecipeWord {
    RecipeWord(text: "", range: json.range, isPlain: false)
  }

  private mutating func expression(
    _ word: RecipeWord, _ form: String
  ) throws -> RecipeDocument.Value {
    switch form {
    case "expression":
      do {
        return .expression(ValueExpression(.expression(try Expression(format: word.text))), word)
      } catch {
        var error = error
        error.kind = .usage
        throw source.located(error, in: word)
      }
    case "predicate":
      do {
        _ = try Predicate(locating: word.text)
      } catch {
        throw source.located(error, in: word)
      }
      return .expression(.predicate(word.text), word)
    default: return .expression(.sql(UUIDCalls.numbered(word.text, &nextUUID)), word)
    }
  }

  private func userInfo(_ object: RecipeObject) throws -> [String: PropertyListValue] {
    Dictionary(first: try object.names("userInfo").map { ($0.name.text, $0.value.propertyList) })
  }
}

/// The text of a recipe, for errors that say where in it.
struct RecipeSource: Sendable, Equatable {
  let text: String
  let path: String
  /// Whether a person wrote the text; else nobody sees it, and places in it say nothing.
  var isWritten = true

  /// An error of the words at a range of UTF-8 bytes: its mark is their line.
  func wrong(
    _ message: String, _ range: Range<Int>, entity: String? = nil, property: String? = nil,
    hint: String? = nil
  ) -> CoreDataError {
    located(
      CoreDataError(.usage, message, entity: entity, property: property, hint: hint), at: range)
  }

  /// The error, with its place in the recipe.
  func located(_ error: CoreDataError, at range: Range<Int>) -> CoreDataError {
    guard isWritten else {
      var error = error
      error.mark = nil
      return error.at(path: path)
    }
    let bytes = Array(text.utf8)
    let place = max(0, min(range.lowerBound, bytes.count))
    let start = bytes[..<place].lastIndex(of: 10).map { $0 + 1 } ?? 0
    let end = bytes[place...].firstIndex { $0 == 10 || $0 == 13 } ?? bytes.count
    let line = bytes[..<start].count { $0 == 10 } + 1
    let column = String(decoding: bytes[start..<place], as: UTF8.self).count + 1
    var error = error
    error.message += " (line \(line), column \(column))"
    error.mark = TextMark(
      String(decoding: bytes[start..<end], as: UTF8.self),
      place - start..<max(place, min(range.upperBound, end)) - start)
    return error.at(path: path)
  }

  /// An error that marks words of a text in the recipe, such as an expression.
  func located(_ error: CoreDataError, in word: RecipeWord) -> CoreDataError {
    guard let mark = error.mark, word.isPlain else { return located(error, at: word.range) }
    // The quote comes before the text.
    let start = word.range.lowerBound + 1
    return located(error, at: start + mark.range.lowerBound..<start + mark.range.upperBound)
  }
}

extension RecipeSource {
  /// The entity of a model that a word names.
  func entity(_ word: RecipeWord, in model: Model, _ side: String) throws -> Entity {
    if let entity = model.entity(named: word.text) { return entity }
    throw wrong(
      model.unknownName(ofEntity: word.text, calling: "the \(side) model"), word.range)
  }

  /// An error about a name at a range.
  func wrong(_ unknown: UnknownName, _ range: Range<Int>) -> CoreDataError {
    wrong(unknown.message, range, hint: unknown.hint)
  }
}

/// A text in a recipe, with its place.
struct RecipeWord: Sendable, Equatable {
  var text: String
  var range: Range<Int>
  /// Whether places in the text are places in the recipe: it was written without escapes.
  var isPlain = true
}

/// An object of a recipe whose keys are known.
struct RecipeObject {
  let source: RecipeSource
  let members: [JSON5.Member]
  let range: Range<Int>

  /// - Throws: ``CoreDataError`` of kind usage for what is no object, or has an unknown key: names
  ///   the nearest and all that are known.
  init(_ json: JSON5, _ what: String, keys: [String], in source: RecipeSource) throws {
    try self.init(json, what, in: source)
    for member in members where !keys.contains(member.key) {
      let question = Nearest.question(member.key, in: keys)
      throw source.wrong(
        "\(what) has no “\(member.key)”", member.keyRange,
        hint: (question.map { $0 + " " } ?? "") + "Available: "
          + keys.joined(separator: ", ") + ".")
    }
  }

  /// An object whose keys are names of the models.
  init(_ json: JSON5, _ what: String, in source: RecipeSource) throws {
    guard case .object(let members) = json.kind else {
      throw source.wrong("\(what) is an object in braces, not \(json.name)", json.range)
    }
    self.source = source
    self.members = members
    range = json.range
  }

  subscript(key: String) -> JSON5? { members.first { $0.key == key }?.value }

  func text(_ key: String) throws -> RecipeWord? {
    try self[key].map { try Self.text($0, key, in: source) }
  }

  func flag(_ key: String) throws -> Bool? {
    guard let json = self[key] else { return nil }
    guard case .boolean(let value) = json.kind else {
      throw source.wrong("“\(key)” is true or false, not \(json.name)", json.range)
    }
    return value
  }

  func list(_ key: String) throws -> [JSON5] {
    guard let json = self[key] else { return [] }
    guard case .array(let elements) = json.kind else {
      throw source.wrong("“\(key)” is a list in brackets, not \(json.name)", json.range)
    }
    return elements
  }

  /// The members of an object of names.
  func names(_ key: String) throws -> [(name: RecipeWord, value: JSON5)] {
    guard let json = self[key] else { return [] }
    return try RecipeObject(json, "“\(key)”", in: source).members.map { member in
      (RecipeWord(text: member.key, range: member.keyRange), member.value)
    }
  }

  static func text(_ json: JSON5, _ key: String, in source: RecipeSource) throws -> RecipeWord {
    guard case .string(let text, let isPlain) = json.kind, !text.isEmpty else {
      throw source.wrong("“\(key)” is text in quotes, not \(json.name)", json.range)
    }
    return RecipeWord(text: text, range: json.range, isPlain: isPlain)
  }
}

extension MappingEdits {
  /// Refuses a recipe with a mark in it.
  ///
  /// - Throws: ``CoreDataError`` of kind usage with the place of the first, and how many there are.
  static func requireFilled(_ json: JSON5, in source: RecipeSource) throws {
    var found: [(text: String, range: Range<Int>)] = []
    func look(_ json: JSON5) {
      switch json.kind {
      case .string(let text, _): if text.hasPrefix(mark) { found.append((text, json.range)) }
      case .array(let elements): for element in elements { look(element) }
      case .object(let members): for member in members { look(member.value) }
      default: break
      }
    }
    look(json)
    guard let first = found.first else { return }
    let asked = first.text.dropFirst(mark.count).drop { $0 == ":" || $0 == " " }
    throw source.wrong(
      found.count == 1
        ? "a place is not filled in yet" : "\(found.count) places are not filled in yet; the first",
      first.range,
      hint: asked.isEmpty ? "Replace it with what is intended." : "Replace it with: \(asked)")
  }
}
