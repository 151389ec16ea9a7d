import ManagedModel

extension Store {
  /// The object that a person names: `Entity/p12`, or its full URI, whose store must be this one.
  ///
  /// Whether there is such an object is another question, see ``object(_:related:)``.
  ///
  /// - Throws: ``CoreDataError`` of kind usage.
  public func objectID(_ text: String) throws -> ObjectID { try layout.objectID(text) }
}

extension StoreLayout {
  /// The object that a person names, see ``Store/objectID(_:)``.
  package func objectID(_ text: String) throws -> ObjectID {
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
