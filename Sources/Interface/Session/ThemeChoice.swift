/// A theme that can be chosen, before it is.
package struct ThemeChoice: Sendable, Equatable {
  /// What a theme suits.
  package enum Kind: Sendable, Equatable {
    case dark, light
    /// The terminal's own background.
    case plain
    /// What is wrong with its file, and where.
    case unreadable(String)
  }

  let name: String
  let kind: Kind
  /// Whether it is a file of the person's, and none that came with the program.
  let isOwn: Bool

  /// - Parameter isOwn: whether it is a file of the person's, and none that came with the program.
  package init(name: String, kind: Kind, isOwn: Bool) {
    (self.name, self.kind, self.isOwn) = (name, kind, isOwn)
  }
}
