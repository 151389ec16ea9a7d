import ManagedModel
import ManagedStore
import Mapping
import SQLite

/// An object of the store that is being migrated: read only, by the names of the source model.
public final class SourceObject {
  /// Entity and key.
  public let id: ObjectID
  let entity: SourceEntity
  private var values: [Value]?

  init(id: ObjectID, entity: SourceEntity) {
    self.id = id
    self.entity = entity
  }

  /// The value of an attribute; a value in a file of its own is read from there.
  ///
  /// - Throws: ``CoreDataError`` when the entity has no such attribute.
  public func value(_ attribute: String) throws -> AttributeValue {
    guard let index = entity.indexes[attribute] else {
      throw entity.scope.unknown(attribute, in: id.entity)
    }
    if values == nil { values = try entity.values(of: self) }
    guard let values, index < values.count else { return .null }
    return AttributeValue(column: values[index], of: entity.attributes[index].attribute)
  }

  /// The text of a String or URI attribute; `nil` for NULL and for anything else.
  ///
  /// - Throws: ``CoreDataError`` for an unknown attribute.
  public func text(_ attribute: String) throws -> String? { try value(attribute).text }

  /// The object that a to-one relationship references.
  ///
  /// - Throws: ``CoreDataError`` for an unknown relationship.
  public func object(_ relationship: String) throws -> SourceObject? {
    try entity.related(relationship, of: id.key).first
  }

  /// The objects of a relationship, in order where it is ordered.
  ///
  /// - Throws: ``CoreDataError`` for an unknown relationship.
  public func objects(_ relationship: String) throws -> [SourceObject] {
    try entity.related(relationship, of: id.key)
  }
}

/// What keeps the objects that are being made: the run of policies, or a stage's context.
protocol ObjectKeeper: AnyObject {
  /// - Throws: ``CoreDataError`` of kind usage where objects can be worked with no longer.
  func requireAtWork() throws
  func change(_ object: DestinationObject) throws
  func related(_ relationship: String, of object: DestinationObject) throws -> [DestinationObject]
  func link(
    _ owner: DestinationObject, to others: [DestinationObject], in relationship: String,
    isToMany: Bool
  ) throws
}

/// The keeper of objects, for as long as it is at work.
final class KeeperReference {
  weak var keeper: (any ObjectKeeper)?
}

/// An object of the store that is being made, or that a stage edits.
///
/// Values are kept until the engine saves, every 500 objects.
public final class DestinationObject {
  /// Entity and key.
  public let id: ObjectID
  let entity: DestinationEntity
  /// In the order of the entity's columns; `nil` for an object that is in the file and not loaded.
  var values: [Value]?
  var isStored: Bool
  /// Whether it was made by who holds it, and not by a mapping.
  let isOwn: Bool
  private let keeper: KeeperReference

  init(
    id: ObjectID, entity: DestinationEntity, values: [Value]?, isStored: Bool, isOwn: Bool = true,
    keeper: KeeperReference
  ) {
    self.id = id
    self.entity = entity
    self.values = values
    self.isStored = isStored
    self.isOwn = isOwn
    self.keeper = keeper
  }

  private func atWork() throws -> any ObjectKeeper {
    guard let keeper = keeper.keeper else {
      throw CoreDataError(.usage, "the migration is over: its objects are gone")
    }
    try keeper.requireAtWork()
    return keeper
  }

  /// The value of an attribute; one that lies in a file of its own is read from there.
  ///
  /// - Throws: ``CoreDataError`` when the entity has no such attribute.
  public func value(_ attribute: String) throws -> AttributeValue {
    let index = try entity.index(of: attribute)
    if values == nil {
      _ = try atWork()
      values = try entity.values(of: id.key)
    }
    guard let values, index < values.count else { return .null }
    return try entity.value(values[index], at: index)
  }

  /// Sets an attribute.
  ///
  /// - Throws: ``CoreDataError`` when the entity has no such attribute, or for a value of another
  ///   type.
  public func set(_ value: AttributeValue, for attribute: String) throws {
    let index = try entity.index(of: attribute)
    let column = try entity.column(value, at: index)
    let keeper = try atWork()
    if values == nil { values = try entity.values(of: id.key) }
    guard values?.indices.contains(index) == true else {
      throw CoreDataError(.usage, "\(id) does not exist", entity: id.entity, property: attribute)
    }
    // Asked first: it may save what was kept, and this object is in the file then.
    if isStored { try keeper.change(self) }
    values?[index] = column
  }

  /// The text of a String or URI attribute; `nil` for NULL and for anything else.
  ///
  /// - Throws: ``CoreDataError`` for an unknown attribute.
  public func text(_ attribute: String) throws -> String? { try value(attribute).text }

  /// The object that a to-one relationship references.
  ///
  /// - Throws: ``CoreDataError`` for an unknown relationship.
  public func object(_ relationship: String) throws -> DestinationObject? {
    try objects(relationship).first
  }

  /// The objects of a relationship, in order where it is ordered; what is kept is saved first.
  ///
  /// - Throws: ``CoreDataError`` for an unknown relationship.
  public func objects(_ relationship: String) throws -> [DestinationObject] {
    try atWork().related(relationship, of: self)
  }

  /// Sets a to-one relationship.
  ///
  /// - Throws: ``CoreDataError`` for an unknown relationship, or an object of another entity.
  public func set(_ object: DestinationObject?, for relationship: String) throws {
    try atWork().link(self, to: object.map { [$0] } ?? [], in: relationship, isToMany: false)
  }

  /// Adds objects to a to-many relationship, after those that are in it.
  ///
  /// - Throws: ``CoreDataError`` for an unknown relationship, or an object of another entity.
  public func add(_ objects: [DestinationObject], to relationship: String) throws {
    try atWork().link(self, to: objects, in: relationship, isToMany: true)
  }
}

extension AttributeValue {
  /// A value as a column holds it; SQLite lets any column hold any type.
  init(column: Value, of attribute: Attribute) {
    switch column {
    case .null: self = .null
    case .integer(let number):
      switch attribute.type {
      case .boolean: self = .boolean(number != 0)
      case .date: self = .date(Double(number))
      case .double, .float: self = .double(Double(number))
      case .decimal: self = .decimal(String(number))
      default: self = .integer(number)
      }
    case .real(let number):
      switch attribute.type {
      case .date: self = .date(number)
      case .decimal: self = .decimal(decimalDigits(of: number))
      case .boolean: self = .boolean(number != 0)
      default: self = .double(number)
      }
    case .text(let text):
      switch attribute.type {
      case .uri: self = .uri(text)
      case .decimal: self = .decimal(text)
      default: self = .string(text)
      }
    case .blob(let bytes):
      self = attribute.type == .uuid && bytes.count == 16 ? .uuid(bytes) : .bytes(bytes)
    }
  }
}

extension SourceObject {
  /// The elements of an array that an app archived into a Binary or Transformable attribute; `nil`
  /// where the bytes are no archived array or property list of one, and for NULL.
  ///
  /// NSNull, and what is no plain value, is ``AttributeValue/null``.
  ///
  /// - Throws: ``CoreDataError`` when the entity has no such attribute.
  public func elements(_ attribute: String) throws -> [AttributeValue]? {
    guard case .bytes(let bytes) = try value(attribute),
      let archive = try? KeyedArchive(holding: PropertyList.read(bytes)),
      case .array(let elements) = archive.root.value
    else { return nil }
    return elements.map { AttributeValue(archived: $0.value) }
  }

  /// The date that a text spells, in seconds since 2001-01-01 00:00:00 UTC, by a pattern such as
  /// `yyyy-MM-dd`, which is what recipes call `parse_date`; `nil` for a text that does not fit.
  ///
  /// - Throws: ``CoreDataError`` when the entity has no such attribute, or for letters that patterns
  ///   do not know.
  public func date(_ attribute: String, pattern: String) throws -> Double? {
    let pattern = try DatePattern(pattern)
    return try text(attribute).flatMap { pattern.seconds($0) }
  }
}

extension AttributeValue {
  fileprivate init(archived value: ArchivedValue) {
    switch value {
    case .boolean(let flag): self = .boolean(flag)
    case .integer(let number): self = .integer(number)
    case .real(let number): self = .double(number)
    case .decimal(let digits): self = .decimal(digits)
    case .date(let seconds): self = .date(seconds)
    case .data(let bytes): self = .bytes(bytes)
    case .string(let text): self = .string(text)
    case .uuid(let bytes): self = .uuid(bytes)
    case .url(let text): self = .uri(text)
    case .null, .array, .set, .dictionary, .object: self = .null
    }
  }
}

extension SourceObject {
  /// The value of a composite attribute: its elements by name, NULL ones included; those of a
  /// composite within it by their path, `inner.element`. `nil` where no element has a value.
  ///
  /// An element can also be asked for by itself: `value("author.person")`.
  ///
  /// - Throws: ``CoreDataError`` when the entity has no such composite attribute.
  public func composite(_ attribute: String) throws -> [String: AttributeValue]? {
    try CompositeElements(attribute, of: id.entity, in: entity.scope.layout.model).value(of: value)
  }
}

extension DestinationObject {
  /// The value of a composite attribute: its elements by name, NULL ones included; those of a
  /// composite within it by their path, `inner.element`. `nil` where no element has a value.
  ///
  /// An element can also be asked for, and set, by itself: `value("author.person")`.
  ///
  /// - Throws: ``CoreDataError`` when the entity has no such composite attribute.
  public func composite(_ attribute: String) throws -> [String: AttributeValue]? {
    try CompositeElements(attribute, of: id.entity, in: entity.model).value(of: value)
  }

  /// Sets a composite attribute as a whole: elements that are not named become NULL, and all of them
  /// without a value.
  ///
  ///     try book.set(elements: ["person": .string("Ann"), "born": .date(0)], for: "author")
  ///
  /// - Throws: ``CoreDataError`` when the entity has no such composite attribute, or that no such
  ///   element, or for a value of another type: nothing is set then.
  public func set(elements: [String: AttributeValue]?, for attribute: String) throws {
    let composite = try CompositeElements(attribute, of: id.entity, in: entity.model)
    let given = elements ?? [:]
    try composite.requireKnown(given.keys)
    for (name, path) in composite.paths {
      _ = try entity.column(given[name] ?? .null, at: entity.index(of: path))
    }
    for (name, path) in composite.paths { try set(given[name] ?? .null, for: path) }
  }
}

/// The elements of a composite attribute as a program names them.
private struct CompositeElements {
  let entity: String
  let attribute: String
  /// Names within the composite, and the paths of the columns.
  let paths: [(name: String, path: String)]

  init(_ attribute: String, of entity: String, in model: Model) throws {
    guard let composite = model.attribute(at: attribute, of: entity), composite.type == .composite,
      composite.isStored
    else { throw model.unknown(.composite, attribute, of: entity) }
    self.entity = entity
    self.attribute = attribute
    paths = composite.storage.columns.map {
      (String($0.attribute.name.dropFirst(attribute.count + 1)), $0.attribute.name)
    }
  }

  func value(of element: (String) throws -> AttributeValue) rethrows -> [String: AttributeValue]? {
    var values: [String: AttributeValue] = [:]
    for (name, path) in paths { values[name] = try element(path) }
    return values.values.contains { $0 != .null } ? values : nil
  }

  func requireKnown(_ names: some Sequence<String>) throws {
    guard let unknown = names.sorted().first(where: { name in !paths.contains { $0.name == name } })
    else { return }
    throw CoreDataError(
      .usage, "the composite attribute has no such element", entity: entity,
      property: AttributeStorage.path(attribute, unknown),
      hint: Nearest.hint(unknown, in: paths.map(\.name)))
  }
}
