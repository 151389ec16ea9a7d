extension Model {
  /// Reads a compiled model: the bytes of a .mom, or of a store's model cache once inflated.
  public init(archive bytes: [UInt8]) throws {
    try self.init(keyedArchive: KeyedArchive(bytes))
  }

  package init(keyedArchive: KeyedArchive) throws {
    throw CoreDataError(.unreadable, "not yet")
  }
}
