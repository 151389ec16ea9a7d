import Files
import ManagedModel
import ManagedStore

/// One value, written to a file of its own as it is: bytes, or the UTF-8 of a text.
package struct ValueFile {
  let object: ObjectID
  let property: String
  /// Where it is to be written.
  let path: String
  /// Whether a file that is there may be replaced.
  let replaces: Bool
  private static let piece = 1 << 20

  package init(object: ObjectID, property: String, path: String, replaces: Bool = false) {
    (self.object, self.property) = (object, property)
    (self.path, self.replaces) = (path, replaces)
  }

  /// Writes it under another name first, for its owner only.
  ///
  /// - Parameter stores: the stores at hand.
  /// - Returns: `nil` where there is a file of that name that is not to be replaced; else the number of bytes,
  ///   which is `nil` where the object has no value.
  /// - Throws: ``CoreDataError`` for an unknown attribute, where the value cannot be read, or the file cannot be
  ///   written.
  package func write(
    from store: Store, besides stores: [String], isCancelled: () -> Bool = { false }
  ) throws -> Int?? {
    try ExportPlace.check(path, besides: [store.files.path] + stores)
    guard replaces || FileSystem.status(path) == nil else { return nil }
    guard var part = try store.content(of: property, in: object, count: Self.piece) else {
      return .some(nil)
    }
    if let problem = part.location.problem {
      throw CoreDataError(
        .unreadable, problem, path: store.path, entity: object.entity, property: property)
    }
    let file = try PendingFile(for: path, isPrivate: true)
    var offset = 0
    while !part.bytes.isEmpty {
      try CoreDataError.check(isCancelled, path)
      try file.append(part.bytes)
      offset += part.bytes.count
      guard offset < part.total,
        let next = try store.content(of: property, in: object, from: offset, count: Self.piece)
      else { break }
      part = next
    }
    guard offset == part.total else {
      throw CoreDataError(
        .unreadable, "the value ends after \(offset) of \(part.total) bytes", path: store.path,
        entity: object.entity, property: property)
    }
    try file.finish(replacing: replaces)
    return .some(offset)
  }
}
