import Files
import ManagedModel

/// A store in a container, as far as a short look shows.
package struct ContainedStore: Sendable, Equatable {
  /// Its path in the container.
  package var name: String
  /// The app or the domain it belongs to, where the names of its folders show.
  package var app: String?
  /// Bytes of its main file.
  package var bytes: Int
  /// Bytes of the -wal that comes with it; `nil` without one.
  package var logBytes: Int?
  /// How many files of external data come with it.
  package var externalFiles: Int
  /// Their bytes together.
  package var externalBytes: Int
  /// What its main file shows; ``StoreLook/damaged(_:)``, ``StoreLook/nothing`` and
  /// ``StoreLook/notDownloaded`` for one that is only a store by its name.
  package var look: StoreLook
  /// Files beside it that iCloud Drive has not downloaded.
  package var notDownloaded: [String] = []

  /// What is wrong with it, as a sentence; `nil` where nothing is known to be.
  package var problem: String? {
    switch look {
    case .store, .database:
      notDownloaded.isEmpty
        ? nil
        : "not downloaded from iCloud: \(notDownloaded.joined(separator: ", ")); rows may be missing"
    case .notDownloaded: "not downloaded from iCloud: only its placeholder is here"
    case .damaged(let message): "damaged: \(message)"
    case .nothing: "not an SQLite file, despite its name: damaged or encrypted"
    }
  }

  /// The app that a path speaks of: the domain in a backup, a sandbox on a Mac, the name of an
  /// .xcappdata.
  static func app(of name: String, in container: String) -> String? {
    let parts = (FileSystem.name(of: container) + "/" + name).split(separator: "/").map(String.init)
    for (index, part) in parts.enumerated() {
      for prefix in ["AppDomain-", "AppDomainGroup-", "AppDomainPlugin-"]
      where part.hasPrefix(prefix) {
        return String(part.dropFirst(prefix.count))
      }
      if part.lowercased().hasSuffix(".xcappdata"), let word = part.split(separator: " ").first {
        let name = String(word)
        return name.lowercased().hasSuffix(".xcappdata") ? String(name.dropLast(10)) : name
      }
      if ["Containers", "Group Containers"].contains(part), index + 1 < parts.count,
        parts[index + 1].contains(".")
      {
        return parts[index + 1]
      }
    }
    return nil
  }
}
