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
    try RecipeSkeleton.requireFilled(json, in: source)
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
