/// A property whose objects a stored fetch request finds; it occupies no column and enters no hash.
public struct FetchedProperty: Sendable, Equatable {
  public var name: String
  public var isOptional = true
  /// The entity fetched, where the model names it.
  public var entity: String?
  /// The request's predicate in predicate format.
  public var predicate: String?
  public var renamingIdentifier: String?
  public var userInfo: [String: String] = [:]

  public init(_ name: String) { self.name = name }
}
