extension Model {
  /// Reads the XML of a source model: the bytes of a .xcdatamodel's `contents`.
  public init(contents bytes: [UInt8]) throws {
    throw CoreDataError(.unreadable, "not yet")
  }
}
