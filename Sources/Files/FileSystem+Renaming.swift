import Values

/// Names that change hands without ever taking one that is given.
extension FileSystem {
  /// Puts a file or a folder under a name that must be free.
  ///
  /// - Throws: ``CoreDataError`` where it is taken, or the file system refuses.
  package static func renameExclusively(_ source: String, to destination: String) throws {
    let (from, to) = (try opened(source), try opened(destination))
    try from.folder.renameExclusively(from.name, to: to.name, in: to.folder)
  }

  /// Removes a name, and makes sure that it is gone.
  package static func removeName(_ path: String) throws {
    let (folder, name) = try opened(path)
    try folder.remove(name)
  }
}
