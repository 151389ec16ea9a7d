import ManagedModel
import ManagedStore

/// What a mapping model or a recipe says, reported of the file by itself, or of the two versions that it
/// is for.
public struct MappingOverview: Sendable, Equatable {
  /// A property of the destination, and what it is given.
  public struct Property: Sendable, Equatable {
    /// Its name in the destination entity.
    public let name: String
    /// A property of the source under whatever name, or the expression that computes it.
    public let value: String
    /// Whether it is computed.
    public let isComputed: Bool
    /// The mapping that made what a relationship references, where the file names one.
    public let through: String?
  }

  /// What becomes of the objects of one entity.
  public struct Entity: Sendable, Equatable {
    /// What the mapping is called.
    public let name: String
    /// What happens to the objects.
    public let kind: EntityMapping.Kind
    /// The source entity; `nil` for an entity that begins without objects.
    public let source: String?
    /// The destination entity; `nil` where the objects go.
    public let destination: String?
    /// Hash of the source entity that the file was made for, where it states one.
    public var sourceHash: VersionHash?
    /// Hash of the destination entity that the file was made for, where it states one.
    public var destinationHash: VersionHash?
    /// Which source objects it takes; `nil` for all.
    public let condition: String?
    /// The class that carries it out.
    public let policy: String?
    /// What the destination's properties are given.
    public let carried: [Property]
    /// Properties of the destination that it has no value for: they begin empty, or with their default.
    public var forgotten: [String] = []
    /// Properties of the source that go nowhere; `nil` where the source's model is not known.
    public var dropped: [String]?
    /// Whether a recipe says that the objects go on purpose.
    public let isDeletionIntended: Bool
  }

  /// Two versions that the file is for.
  public struct Pair: Sendable, Equatable {
    /// The source version.
    public let from: ModelVersions.Version
    /// The destination version.
    public let to: ModelVersions.Version
  }

  /// What a file calls the versions that it is for.
  public struct Names: Sendable, Equatable {
    /// The source version's name or digest.
    public let from: String
    /// The destination version's name or digest.
    public let to: String
  }

  /// What shows the versions that a file is for.
  public enum Origin: String, Sendable {
    /// The hashes of the entities that it maps.
    case hashes
    /// Copies of both models in it.
    case models
    /// Names of entities and properties alone.
    case names
    /// Names of versions, or their digests.
    case versions
  }

  /// The file.
  public let path: String
  /// Whether it is a mapping model of Xcode's or a recipe.
  public let kind: MappingModel.Kind
  /// What shows the versions that it is for.
  public let origin: Origin
  /// What the file itself calls the two versions, or the digests of the models in it.
  public internal(set) var names: Names?
  /// The pairs among the versions at hand that it is for; ``entities`` describe the first.
  public internal(set) var pairs: [Pair] = []
  /// The entity mappings, in the order in which they run.
  public internal(set) var entities: [Entity] = []
  /// Source entities that no mapping takes; `nil` where the source's model is not known.
  public internal(set) var untaken: [String]?
  /// Destination entities that no mapping makes objects of; `nil` where their model is not known.
  public internal(set) var unmade: [String]?
  /// Classes that its mappings leave their work to, or that a recipe stands in for.
  public let policies: [String]
  /// What else there is to know, as sentences.
  public internal(set) var notes: [String] = []
}
