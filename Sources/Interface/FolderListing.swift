/// What is in a folder that a store may be in.
package struct FolderListing: Sendable, Equatable {
  package struct Entry: Sendable, Equatable {
    package enum Kind: Sendable, Equatable { case folder, file }

    package var name: String
    package var path: String
    package var kind: Kind
    package var bytes: Int
    /// When it was last written to, as text.
    package var modified: String

    package init(name: String, path: String, kind: Kind, bytes: Int = 0, modified: String = "") {
      self.name = name
      self.path = path
      self.kind = kind
      self.bytes = bytes
      self.modified = modified
    }

    var isHidden: Bool { name.hasPrefix(".") }
  }

  package var path: String
  package var parent: String?
  package var entries: [Entry]
  /// Whether there were more than are here.
  package var isCut: Bool

  package init(path: String, parent: String?, entries: [Entry], isCut: Bool = false) {
    self.path = path
    self.parent = parent
    self.entries = entries
    self.isCut = isCut
  }
}

/// What a look at a file or into a folder has told.
package enum StorePeek: Sendable, Equatable {
  case store(entities: Int)
  /// SQLite, but not Core Data.
  case database
  case folder(stores: Int, models: Int)
  /// Neither.
  case nothing
}

/// A store that was looked at before.
package struct RecentStore: Sendable, Equatable {
  package var path: String
  /// When, as text.
  package var opened: String
  package var model: String

  package init(path: String, opened: String, model: String) {
    self.path = path
    self.opened = opened
    self.model = model
  }
}
