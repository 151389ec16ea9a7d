import ManagedStore

/// What to compare, and how objects are paired.
public struct ComparisonRequest: Sendable, Equatable {
  /// How objects are paired, in place of what is decided otherwise.
  public enum Match: Sendable, Equatable {
    /// By key, though the stores have two UUIDs.
    case key
    /// By uniqueness constraints and attributes that identify, though the stores have one UUID.
    case unique
    /// By the values of attributes: of an entity and those below it, or of every entity that has them.
    case attributes(entity: String?, names: [String])
  }

  /// Entities to report, with those below them; empty for all.
  public var entities: [String] = []
  /// The last that fits an entity counts; one that names the entity goes first.
  public var matches: [Match] = []
  /// `Entity` or `Entity.property`, which are left out; they hold for entities below, too.
  public var ignored: Set<String> = []
  /// Whether bookkeeping is left out.
  public var ignoresBookkeeping = false
  /// Whether attributes pair objects only where both stores have a value of them.
  package var needsValues = false
  /// A predicate over the reported entities: an object counts if it matches in either store.
  public var predicate: String?
  /// How many changes of each entity are reported; all are counted.
  public var limit = Int.max

  /// A request for everything, paired as the stores suggest.
  public init() {}
}

/// How the objects of an entity were paired.
public struct EntityPairing: Sendable, Equatable {
  /// What pairs the objects.
  public enum By: String, Sendable {
    /// The primary key.
    case key
    /// A uniqueness constraint of the model.
    case unique
    /// An attribute that identifies, by its name and by having no value twice.
    case attribute
    /// What the request named.
    case match
    /// Nothing: each object of either store is one that the other has not.
    case none
  }

  /// Name of the entity, as the second store has it where it is there.
  public var entity: String
  /// What pairs its objects.
  public var by: By
  /// The attributes whose values pair them, by their names in the second store.
  public var on: [String] = []
  /// Objects of the first store without a counterpart in the second.
  public var unpairedA = 0
  /// Objects of the second store without a counterpart in the first.
  public var unpairedB = 0
  /// Objects of one key that are two objects, because the stores gave new keys out independently.
  public var splitKeys = 0

  /// Whether the stores may have grown apart.
  public var isGrownApart: Bool { splitKeys > 0 }
}

/// What differs between the models of two stores that are compared.
public struct ModelPairing: Sendable, Equatable {
  /// A name of the first model and what it is called in the second.
  public struct Renaming: Sendable, Equatable {
    /// `Entity` or `Entity.property` of the first model.
    public var from: String
    /// The same of the second.
    public var to: String
  }

  /// Entities and properties that have another name in the second model.
  public var renamed: [Renaming] = []
  /// Entities and properties that only the second model has.
  public var added: [String] = []
  /// Entities and properties that only the first model has.
  public var removed: [String] = []
  /// Why not all of the models could be paired, as sentences.
  public var notes: [String] = []

  /// Whether both stores have one model, as far as names go.
  public var isSame: Bool { renamed.isEmpty && added.isEmpty && removed.isEmpty }
}

/// What a comparison found, once all changes were reported.
public struct ComparisonSummary: Sendable, Equatable {
  /// Objects of one entity that differ.
  public struct EntityCount: Sendable, Equatable {
    /// Name of the entity, as the second store has it where it is there.
    public var entity: String
    /// How many objects only the second store has.
    public var inserted = 0
    /// How many objects both have, with other values or references.
    public var updated = 0
    /// How many objects only the first store has.
    public var deleted = 0
    /// How many objects are in one store only, or have other references, where the rows of the other that would show it
    /// could not be read.
    public var unknown = 0

    /// How many objects differ.
    public var count: Int { inserted + updated + deleted }

    /// Nothing was counted yet.
    package init(entity: String) { self.entity = entity }
  }

  /// Something beside the objects that differs; it never makes two stores different.
  public struct Bookkeeping: Sendable, Equatable {
    /// What it is in, such as `history`.
    public var part: String
    /// What differs, as a clause.
    public var message: String
    /// Rows or objects concerned.
    public var count: Int
  }

  /// Entities that were compared, in the order of their changes.
  public var entities: [EntityCount] = []
  /// What differs beside the objects.
  public var bookkeeping: [Bookkeeping] = []
  /// External data files of the first store and of the second, where either has any.
  public var files: [ExternalDataReport] = []
  /// Values in external files that could not be read, so that it is unknown whether they differ.
  public var unreadableValues = 0
  /// Whether a program saved the first store so often that what was read of it may be of two states.
  public var mixesStates = false

  /// Whether all objects that were compared are alike.
  public var isEqual: Bool { entities.allSatisfy { $0.count == 0 } }
}
