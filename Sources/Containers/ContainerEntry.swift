/// A file or folder in a container, by the path that it has in there.
package struct ContainerEntry: Sendable, Equatable {
  /// What it is.
  package enum Kind: Sendable, Equatable {
    case file
    case folder
    /// A symbolic link, or a second name of another entry: neither is ever followed or made.
    case link
    /// A device, a pipe, or a file in a form that is not read here.
    case other
  }

  /// Where its bytes are.
  enum Place: Sendable, Equatable {
    /// A file of its own, which may have quite another name.
    case file(String)
    /// A member of an archive, by its number.
    case member(Int)
  }

  /// Its path in the container, without a slash at either end.
  package var name: String
  /// What it is.
  package var kind: Kind
  /// The size that it has, or says it has.
  package var bytes: Int
  var place: Place
}
