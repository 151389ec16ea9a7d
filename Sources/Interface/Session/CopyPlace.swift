import ManagedModel

/// Where a private copy of a store lies, and the container that it came out of.
package struct CopyPlace: Sendable, Equatable {
  /// The folder that stands for the container.
  var root: String
  /// The container's path.
  var container: String

  /// A copy of what is in a container, in a folder.
  package init(root: String, container: String) {
    (self.root, self.container) = (root, container)
  }

  /// What the person calls a path: one of a copy is gone before it can be typed.
  func named(_ path: String) -> String {
    guard path.utf8.starts(with: (root + "/").utf8) else { return path }
    return container + "//"
      + String(decoding: path.utf8.dropFirst(root.utf8.count + 1), as: UTF8.self)
  }
}

extension State {
  /// A path as the person can type it.
  func named(_ path: String) -> String { copy?.named(path) ?? path }

  /// A failure with the path that the person can type.
  func named(_ error: CoreDataError) -> CoreDataError {
    var error = error
    error.path = error.path.map(named)
    return error
  }
}
