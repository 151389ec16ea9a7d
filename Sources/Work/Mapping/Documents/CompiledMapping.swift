import ManagedModel

/// Reads a compiled mapping model: the archive of an NSMappingModel.
struct CompiledMapping {
  private let root: ArchivedObject
  private var expressions = ArchivedExpressionReader()
  /// Work still allowed: an archive's objects may be listed any number of times.
  private var budget = 200_000

  init(_ bytes: [UInt8]) throws {
    let archive = try KeyedArchive(bytes)
    guard let root = archive.root.value.object, root.has("NSEntityMappings") else {
      throw CoreDataError(
        .unreadable, "a keyed archive, but not of a mapping model",
        hint: "A model (.mom) is an archive too; give the mapping model (.cdm) instead.")
    }
    self.root = root
  }

  consuming func source() throws -> MappingSource {
    var reader = self
    let list = reader.root["NSEntityMappings"].references
    try reader.charge(list.count)
    let mappings = try list.map { reference in
      guard let object = reference.value.object else {
        throw CoreDataError(.unreadable, "an entity mapping is missing")
      }
      return try reader.entity(object)
    }
    return MappingSource(origin: .hashes, entityMappings: mappings)
  }

  private mutating func charge(_ amount: Int) throws {
    budget -= amount
    guard budget >= 0 else {
      throw CoreDataError(.unreadable, "the mapping model refers to its objects too often")
    }
  }

  private mutating func entity(_ object: ArchivedObject) throws -> MappingSource.Entity {
    let source = object["NSSourceEntityName"].nonEmptyString
    let destination = object["NSDestinationEntityName"].nonEmptyString
    var mapping = MappingSource.Entity(
      name: object["NSMappingName"].nonEmptyString
        ?? MappingDocumentReader.name(from: source, to: destination),
      type: object["NSMappingType"].integer ?? 0, source: source, destination: destination)
    mapping.sourceHash = Self.hash(object["NSSourceEntityVersionHash"])
    mapping.destinationHash = Self.hash(object["NSDestinationEntityVersionHash"])
    mapping.policy = object["NSEntityMigrationPolicyClassName"].nonEmptyString
    if !object["NSSourceExpression"].isNull {
      mapping.sourceExpression = try expressions.expression(object["NSSourceExpression"])
    }
    mapping.attributes = try properties(object["NSAttributeMappings"])
    mapping.relationships = try properties(object["NSRelationshipMappings"])
    mapping.userInfo = try UserInfoReader.read(object["NSUserInfo"])
    return mapping
  }

  private mutating func properties(_ value: ArchivedValue) throws -> [MappingSource.Property] {
    try charge(value.references.count * 4)
    return try value.elements.map { element in
      guard let object = element.object,
        let name = object["NSDestinationPropertyName"].nonEmptyString
      else { throw CoreDataError(.unreadable, "a property mapping has no name") }
      let expression = object["NSValueExpression"]
      return MappingSource.Property(
        name: name,
        value: expression.isNull ? .untouched : .expression(try expressions.expression(expression)))
    }
  }

  private static func hash(_ value: ArchivedValue) -> VersionHash? {
    if case .data(let bytes) = value { VersionHash(bytes: bytes) } else { nil }
  }
}

/// Reads the user info that is archived with a mapping.
struct UserInfoReader {
  private var budget = 10_000

  /// A dictionary with keys that are text; values of unknown classes are left out.
  static func read(_ value: ArchivedValue) throws -> [String: PropertyListValue] {
    var reader = UserInfoReader()
    guard case .dictionary(let entries)? = try reader.plain(value, depth: 0) else { return [:] }
    return entries
  }

  private mutating func plain(_ value: ArchivedValue, depth: Int) throws -> PropertyListValue? {
    budget -= 1 + value.references.count + value.entries.count
    guard budget >= 0, depth < 16 else {
      throw CoreDataError(.unreadable, "a mapping's user info is too large or contains itself")
    }
    switch value {
    case .null, .object: return nil
    case .boolean(let flag): return .boolean(flag)
    case .integer(let number): return .integer(number)
    case .real(let number): return .real(number)
    case .decimal(let digits): return Double(digits).map { .real($0) }
    case .date(let seconds): return .date(seconds)
    case .data(let bytes), .uuid(let bytes): return .data(bytes)
    case .string(let text), .url(let text): return .string(text)
    case .array(let items), .set(let items):
      return .array(try items.compactMap { try plain($0.value, depth: depth + 1) })
    case .dictionary:
      var result: [String: PropertyListValue] = [:]
      for (key, reference) in value.entries {
        result[key] = try plain(reference.value, depth: depth + 1)
      }
      return .dictionary(result)
    }
  }
}
