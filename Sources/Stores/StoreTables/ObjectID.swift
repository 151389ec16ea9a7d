import ManagedModel

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

extension StoreLayout {
  /// The object that a person names, see ``Store/objectID(_:)``.
  package func objectID(_ text: String) throws(CoreDataError) -> ObjectID {
    guard let id = ObjectID(text) else {
      throw CoreDataError(
        .usage, "“\(text.prefix(200))” names no object",
        hint: "Write Entity/p12, or x-coredata://\(uuid)/Entity/p12.")
    }
    let parts = text.split(separator: "/")
    if parts.count == 4, parts[1].uppercased() != uuid.uppercased() {
      throw CoreDataError(
        .usage, "“\(text.prefix(200))” is an object of another store",
        hint: "This store is \(uuid).")
    }
    guard table(of: id.entity) != nil else {
      let unknown = unknownName(ofEntity: id.entity)
      throw CoreDataError(.usage, unknown.message, hint: unknown.hint)
    }
    return id
  }
}
