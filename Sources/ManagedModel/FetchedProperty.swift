/// A property whose objects a stored fetch request finds; it occupies no column and enters no hash.
public struct FetchedProperty: Sendable, Equatable {
  /// Name, unique within the entity.
  public var name: String
  /// Whether it is marked optional, which has no effect on storage.
  public var isOptional = true
  /// The entity fetched, where the model names it.
  public var entity: String?
  /// The request's predicate in predicate format.
  public var predicate: String?
  /// Name the property had in an older version.
  public var renamingIdentifier: String?
  /// Whatever the model's author noted.
  public var userInfo: [String: String] = [:]

  /// Makes a fetched property without a request.
  public init(_ name: String) { self.name = name }
}
