/// Which object of a store: its entity and its primary key.
public struct ObjectID: Sendable, Hashable {
  /// The object's own entity, not an ancestor that a relationship names.
  public var entity: String
  /// Z_PK.
  public var key: Int64

  /// Names the object of that entity with that primary key, whether or not there is one.
  public init(entity: String, key: Int64) {
    self.entity = entity
    self.key = key
  }

  /// Reads `Entity/p12`, or the last two parts of `x-coredata://<store>/Entity/p12`.
  public init?(_ text: String) {
    let parts = text.split(separator: "/")
    guard parts.count == 2 || (parts.count == 4 && parts[0] == "x-coredata:"),
      let last = parts.last, last.first == "p", let key = Int64(last.dropFirst())
    else { return nil }
    self.init(entity: String(parts[parts.count - 2]), key: key)
  }
}

extension ObjectID: CustomStringConvertible {
  /// `Entity/p12`, the short form of Core Data's object URI.
  public var description: String { entity + "/p" + String(key) }

  /// The URI that Core Data gives this object in the store of that UUID.
  public func uri(store uuid: String) -> String { "x-coredata://\(uuid)/\(self)" }
}
