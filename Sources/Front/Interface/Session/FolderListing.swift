/// What is in a folder that a store may be in.
package struct FolderListing: Sendable, Equatable {
  /// A file or a folder in it.
  package struct Entry: Sendable, Equatable {
    /// What it is, as far as its name and the file system show.
    package enum Kind: Sendable, Equatable { case folder, file }

    /// Its name alone.
    package var name: String
    /// The path that leads to it.
    package var path: String
    /// Whether it is a folder.
    package var kind: Kind
    /// The size of a file.
    package var bytes: Int
    /// When it was last written to, as text.
    var modified: String

    /// An entry, with when it was last changed as text.
    package init(name: String, path: String, kind: Kind, bytes: Int = 0, modified: String = "") {
      (self.name, self.path, self.kind, self.bytes, self.modified) = (
        name, path, kind, bytes, modified
      )
    }

    var isHidden: Bool { name.hasPrefix(".") }
  }

  var path: String
  var parent: String?
  /// What is in it, folders and files.
  package var entries: [Entry]
  /// Whether there were more than are here.
  var isCut: Bool
  /// What of a container could not be looked into or is missing, as sentences.
  package var notes: [String] = []

  /// A folder with what is in it.
  package init(path: String, parent: String?, entries: [Entry], isCut: Bool = false) {
    (self.path, self.parent, self.entries, self.isCut) = (path, parent, entries, isCut)
  }
}

/// What a look at a file or into a folder has reported.
package enum StorePeek: Sendable, Equatable {
  case store(entities: Int)
  /// A store of another type than SQLite, which it is called by.
  case atomic(String)
  /// SQLite, but not Core Data.
  case database
  case folder(stores: Int, models: Int)
  /// An archive, a backup or an app's data, that stores may be in; what it is, as a noun.
  case container(String)
  /// The same of an encrypted backup whose password is not known yet.
  case locked(String)
  /// What should be a store and cannot be read as one, and why.
  case damaged(String)
  /// Neither.
  case nothing
}

/// An encrypted backup whose password is not known yet.
package struct LockedBackup: Sendable, Equatable {
  /// Where it is.
  package var path: String
  /// The folder that it is in.
  package var parent: String?
  /// Device, system and date, as the backup says.
  package var name: String

  /// A backup at a path.
  package init(path: String, parent: String?, name: String) {
    (self.path, self.parent, self.name) = (path, parent, name)
  }
}

/// A store that was looked at before.
package struct RecentStore: Sendable, Equatable {
  var path: String
  /// When, as text.
  var opened: String
  var model: String

  /// A store that was looked at, when, and its model’s name.
  package init(path: String, opened: String, model: String) {
    (self.path, self.opened, self.model) = (path, opened, model)
  }
}
