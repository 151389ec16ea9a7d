import ManagedModel

/// A version of a model as Swift source has it: a VersionedSchema, or all there is.
public struct SourceVersion: Sendable {
  /// A class of the version.
  public struct Class: Sendable, Equatable {
    /// Its entity.
    public var entity: String
    /// Its whole name, such as `SchemaV1.Item`.
    public var name: String
    /// Where it is declared.
    public var place: SourcePlace
    /// Whether the version lists it, or reaches it by a relationship alone.
    public var isListed: Bool
    /// Whether it is declared within the version; one outside lives on when the version is frozen.
    public var isInside: Bool
    /// Lines of its properties, by name.
    public var lines: [String: Int]
    /// Properties whose default only a running program knows.
    public var computedDefaults: [String]
  }

  /// The name that `PATH@NAME` calls it by.
  public internal(set) var name: String
  /// What `versionIdentifier` says, or `1.0.0`.
  public let identifier: String
  /// Where it is declared; `nil` for one that has no declaration.
  public let place: SourcePlace?
  /// Its classes, by their entities.
  public let classes: [Class]
  /// The place of each entity's class among them.
  let classPlaces: [String: Int]
  /// The model, or why there is none.
  public let result: Result<Model, CoreDataError>
  /// What could not be seen of it, or was taken for granted.
  public let remarks: [SourceRemark]

  /// - Throws: why the classes are no sound model.
  public var model: Model { get throws(CoreDataError) { try result.get() } }

  /// Where an entity, or a property of it, is declared.
  public func place(of entity: String, property: String? = nil) -> SourcePlace? {
    guard let found = type(of: entity) else { return nil }
    guard let property else { return found.place }
    return found.lines[property].map { SourcePlace(path: found.place.path, line: $0) }
  }

  /// The class of an entity.
  package func type(of entity: String) -> Class? { classPlaces[entity].map { classes[$0] } }

  /// Whether another version has the very same classes.
  func hasClasses(of other: SourceVersion) -> Bool {
    Set(classes.map(\.name)) == Set(other.classes.map(\.name))
  }
}
