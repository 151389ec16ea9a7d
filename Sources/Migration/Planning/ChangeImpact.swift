import ManagedStore
import ModelWriting

/// What one change of a model means for the rows of one store.
public struct ChangeImpact: Sendable, Equatable {
  /// How much it matters.
  public enum Severity: Sendable {
    /// Values are kept, or given.
    case harmless
    /// Values or objects would go, or a rule is broken that only a save looks at.
    case loss
    /// The migration would be refused.
    case failure
  }

  /// Name of the entity, as ``ModelDifference`` has it.
  public var entity: String
  /// Name of the property, the destination's where both versions have it; `nil` for the entity.
  public var property: String?
  /// Rows, values or links that it touches; never 0.
  public var rows: Int
  /// What happens to them, as a clause that follows their number.
  public var message: String
  /// The first of them: objects, or values.
  public var samples: [String] = []
  /// The objects among the first, for going there.
  public var objects: [ObjectID] = []
  /// How much it matters.
  public var severity = Severity.harmless
  /// Core Data's code, where the migration would be refused with one.
  public var code: CoreDataError.Code?
  /// What of numbers does not fit the new type, where that is what the rows lose.
  public var misfit: NumberMisfit?
  /// What to do about it, as a sentence.
  public var hint: String?
  /// NSPredicate text that takes exactly those objects among those of the source's entity; `nil`
  /// where none is known.
  public var predicate: String?
}

extension StoreMigration {
  /// Counts what each change between two versions touches in a store; writes nothing.
  ///
  /// Unlike a plan it can be had of versions between which no mapping can be inferred: a change
  /// that stands in the way counts as if the property were another one.
  ///
  /// - Parameter source: the version that made the store; the store's own model where `nil`.
  /// - Throws: ``CoreDataError`` 134130 where the store was opened with a model that did not make it.
  public static func impacts(
    on store: Store, from source: Model? = nil, to destination: Model
  ) throws -> [ChangeImpact] {
    try refuseUnknownModel(of: store)
    return try ImpactAnalysis(
      data: SourceData(store: store),
      source: store.part.model(
        source.flatMap { store.isMade(by: $0) ? $0 : nil } ?? store.wholeModel),
      destination: store.part.model(destination)
    ).impacts()
  }
}
