import JSON
import ManagedModel

/// What Apple's files prove, in files of this package: a model in, hashes, names and values out.
///
/// `Tests/Independent/vectors.py` distils them from the fixtures, so that a clone without the fixtures proves the
/// same. What Apple's engine wrote stands in them as it was written.
public enum Vectors {
  /// Version hashes from stores' metadata and from VersionInfo.plist.
  public static let hashes = (try? load("hashes", HashVector.self)) ?? []
  /// Statements of sqlite_master that follow from a model.
  public static let schemas = (try? load("schemas", SchemaVector.self)) ?? []
  /// Statements of sqlite_master that every store has, or every one with history.
  public static let statements = (try? load("statements", StatementVector.self)) ?? []
  /// Rows and the links that are in them.
  public static let links = (try? load("links", LinkVector.self)) ?? []
  /// Bitmaps of ACHANGE.ZCOLUMNS.
  public static let bitmaps = (try? load("bitmaps", BitmapVector.self)) ?? []
  /// Columns' values.
  public static let values = (try? load("values", ValueVector.self)) ?? []

  /// Reads `Tests/Samples/Vectors/<name>.json`; a test of each kind asks for it, to see why it cannot be read.
  public static func load<Vector: Decodable>(
    _ name: String, _ type: Vector.Type
  ) throws -> [Vector] {
    let tests = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
      .joined(separator: "/")
    return try JSONDecoding.value(
      [Vector].self, from: Fixtures.readFile(tests + "/Samples/Vectors/" + name + ".json"))
  }
}

/// Entities, and their hashes as Apple's tools state them.
public struct HashVector: Decodable, Sendable, CustomStringConvertible {
  /// What the last entity has, such as `attribute: derived`, and what stated the hash.
  public var shows: [String]
  /// One entity behind its ancestors.
  public var entities: [DescribedEntity]
  /// Hexadecimal, by the entity's name.
  public var hashes: [String: String]
  /// The metadata's digest, where the store has no other entities.
  public var digest: String?
  /// The metadata's checksum, likewise.
  public var checksum: String?

  public var description: String { entities.last?.name ?? "" }
}

/// Entities with their numbers in a store, and what its sqlite_master has for them.
public struct SchemaVector: Decodable, Sendable, CustomStringConvertible {
  /// NSPersistenceFrameworkVersion.
  public var framework: Int
  public var entities: [DescribedEntity]
  /// CREATE TABLE, by the table's name; not of all tables that the entities have, as some are told in part.
  public var tables: [String: String]?
  /// CREATE INDEX, by name: all of those tables, and some of others.
  public var indexes: [String: String]?
  /// CREATE TRIGGER, by name.
  public var triggers: [String: String]?
  /// Columns of attributes, by `Entity.attribute`.
  public var columns: [String: String]?

  public var description: String {
    let names = tables?.keys.sorted() ?? columns?.keys.sorted() ?? []
    return "\(framework) " + names.joined(separator: " ")
  }
}

/// Statements of a store that come from no model.
public struct StatementVector: Decodable, Sendable, CustomStringConvertible {
  /// NSPersistenceFrameworkVersion.
  public var framework: Int
  /// How many columns each table of history has.
  public var columns: [String: Int]?
  /// CREATE statements of the bookkeeping and history tables, and their indexes.
  public var statements: [String: String]
  /// An R-tree of the store.
  public var tree: Tree?
  /// CREATE statements of the tree and its triggers.
  public var treeStatements: [String: String]?

  /// An R-tree by its name, its table and the indexed columns.
  public struct Tree: Decodable, Sendable {
    public var name: String
    public var table: String
    public var columns: [String]
  }

  public var description: String { "\(framework)" }
}

/// Rows of a store, of which only the keys are told, and what each object is linked with.
public struct LinkVector: Decodable, Sendable, CustomStringConvertible {
  /// NSPersistenceFrameworkVersion.
  public var framework: Int
  /// Numbered as in a new store.
  public var entities: [DescribedEntity]
  /// By table: keys, order keys and entity numbers, by column.
  public var rows: [String: [[String: Int64]]]
  /// By object, such as `Person/p1`: the objects of each relationship, by its name. Those of an ordered one are
  /// in order.
  public var links: [String: [String: [String]]]

  public var description: String { "\(framework) " + rows.keys.sorted().joined(separator: " ") }
}

/// Bitmaps of changes of one entity.
public struct BitmapVector: Decodable, Sendable, CustomStringConvertible {
  public var entity: String
  /// The entity, and what beside it decides about its columns.
  public var entities: [DescribedEntity]
  public var bitmaps: [Bitmap]

  /// A bitmap that Apple's engine wrote.
  public struct Bitmap: Decodable, Sendable {
    /// Hexadecimal.
    public var bits: String
    /// Names of the properties that were written, sorted.
    public var properties: [String]
    /// How many to-manys were, of which it is not known for certain which.
    public var toManys: Int
  }

  public var description: String { entity }
}

/// A column's value and what a dump prints of it.
public struct ValueVector: Decodable, Sendable, CustomStringConvertible {
  /// The attribute's type as models spell it.
  public var type: String
  /// Whether large values may lie beside the store.
  public var external: Bool?
  /// As SQL.
  public var stored: String
  public var dumped: Dumped
  /// Whether no fixture has one: it is made by the description of the format.
  public var made: Bool?

  /// A value of JSON.
  public enum Dumped: Decodable, Sendable, Equatable {
    case null
    case boolean(Bool)
    case number(Double)
    case string(String)
    case object([String: Dumped])

    public init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        self = .null
      } else if let flag = try? container.decode(Bool.self) {
        self = .boolean(flag)
      } else if let number = try? container.decode(Double.self) {
        self = .number(number)
      } else if let text = try? container.decode(String.self) {
        self = .string(text)
      } else {
        self = .object(try container.decode([String: Dumped].self))
      }
    }
  }

  public var description: String { "\(type) \(stored)" }
}

/// An entity in the words of the vectors. What is not said is as Xcode leaves it.
public struct DescribedEntity: Decodable, Sendable {
  public var name: String
  /// Z_ENT in the store.
  public var number: Int64?
  var parent: String?
  var abstract: Bool?
  var modifier: String?
  /// The renaming identifier.
  var was: String?
  var unique: [[String]]?
  var compound: [[String]]?
  var indexes: [DescribedIndex]?
  var info: [String: String]?
  var attributes: [DescribedAttribute]?
  var relationships: [DescribedRelationship]?
  /// Names of fetched properties.
  var fetched: [String]?

  func entity() throws -> Entity {
    var entity = Entity(name, parent: parent)
    entity.isAbstract = abstract ?? false
    entity.versionHashModifier = modifier
    entity.renamingIdentifier = was
    entity.uniquenessConstraints = unique ?? []
    entity.compoundIndexes = compound ?? []
    entity.fetchIndexes = (indexes ?? []).map(\.index)
    entity.userInfo = info ?? [:]
    entity.attributes = try (attributes ?? []).map { try $0.attribute() }
    entity.relationships = try (relationships ?? []).map { try $0.relationship() }
    entity.fetchedProperties = (fetched ?? []).map { FetchedProperty($0) }
    return entity
  }
}

struct DescribedAttribute: Decodable, Sendable {
  var name: String
  var type: String
  var optional: Bool?
  var transient: Bool?
  var modifier: String?
  var was: String?
  var indexed: Bool?
  var external: Bool?
  /// Whether history keeps the value of a deleted object.
  var kept: Bool?
  /// Whether there is a default; which is not told, as it matters for nothing here.
  var `default`: Bool?
  /// The derivation in predicate format.
  var derived: String?
  var elements: [DescribedAttribute]?

  func attribute() throws -> Attribute {
    guard let type = AttributeType(name: type) else { throw VectorError.unknown(type) }
    var attribute = Attribute(name, type, optional: optional ?? false)
    attribute.isTransient = transient ?? false
    attribute.versionHashModifier = modifier
    attribute.renamingIdentifier = was
    attribute.isIndexed = indexed ?? false
    attribute.allowsExternalBinaryDataStorage = external ?? false
    attribute.preservesValueInHistoryOnDeletion = kept ?? false
    if self.default == true { attribute.defaultValue = type.isNumber ? .integer(1) : nil }
    attribute.derivation = derived.map { Attribute.Derivation(expression: $0) }
    attribute.elements = try (elements ?? []).map { try $0.attribute() }
    return attribute
  }
}

struct DescribedRelationship: Decodable, Sendable {
  var name: String
  var to: String
  var inverse: String?
  var many: Bool?
  var ordered: Bool?
  var optional: Bool?
  var transient: Bool?
  var min: UInt32?
  /// Of a to-many with a limit.
  var max: UInt32?
  /// The delete rule.
  var delete: String
  var modifier: String?
  var was: String?
  var info: [String: String]?

  func relationship() throws -> Relationship {
    guard let rule = Relationship.DeleteRule.allCases.first(where: { $0.name == delete }) else {
      throw VectorError.unknown(delete)
    }
    var relationship = Relationship(
      name, to: to, inverse: inverse, toMany: many ?? false, ordered: ordered ?? false,
      optional: optional ?? false)
    relationship.isTransient = transient ?? false
    relationship.minCount = min ?? 0
    if let max { relationship.maxCount = max }
    relationship.deleteRule = rule
    relationship.versionHashModifier = modifier
    relationship.renamingIdentifier = was
    relationship.userInfo = info ?? [:]
    return relationship
  }
}

struct DescribedIndex: Decodable, Sendable {
  var name: String
  var elements: [Element]
  /// The predicate of a partial index.
  var `where`: String?

  struct Element: Decodable, Sendable {
    var property: String?
    var expression: String?
    var rtree: Bool?
    var descending: Bool?
  }

  var index: FetchIndex {
    FetchIndex(
      name,
      elements: elements.map {
        FetchIndex.Element(
          property: $0.property, expression: $0.expression,
          kind: $0.rtree == true ? .rtree : .binary, isAscending: $0.descending != true)
      }, partialPredicate: `where`)
  }
}

extension [DescribedEntity] {
  /// The entities as a model.
  public func model() throws -> Model { try Model(entities: map { try $0.entity() }) }

  /// Z_ENT of each entity that has one.
  public var numbers: [String: Int64] {
    Dictionary(
      compactMap { entity in entity.number.map { (entity.name, $0) } },
      uniquingKeysWith: { first, _ in first })
  }
}

/// Why a vector is no model.
public enum VectorError: Error {
  case unknown(String)
}
