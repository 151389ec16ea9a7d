import Files
import ManagedStore

/// The room that a repair of some kinds of fault takes beside the store.
package enum RepairRoom {
  /// Bytes that must be free for a repair of these kinds.
  package static func bytesNeeded(for kinds: Set<FindingKind>, of path: String) -> Int {
    let size = StoreFiles(path: FileSystem.canonical(path)).size
    return kinds.contains(where: \.asksForNewFile) ? 2 * size : size + size / 4
  }

  /// Whether only files of external data are moved, so that the store stays the file that it is and
  /// no backup of it is made.
  package static func movesFilesAlone(_ kinds: Set<FindingKind>) -> Bool {
    kinds == [.externalOrphaned]
  }
}
