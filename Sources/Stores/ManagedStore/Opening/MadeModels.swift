import Files
import Synchronization

/// Private stores of this process whose model was made of their objects, and is not proved to be the app's: that is
/// known, and said by who made it. No value stands under another name by it.
package enum MadeModels {
  private static let paths = Mutex<Set<String>>([])

  /// Whether the model of a store was made of its objects, without a proof.
  package static func has(_ path: String) -> Bool {
    paths.withLock { !$0.isEmpty && $0.contains(FileSystem.canonical(path)) }
  }

  /// Adds a store, until it is taken out.
  package static func add(_ path: String) {
    _ = paths.withLock { $0.insert(FileSystem.canonical(path)) }
  }

  /// Takes a store out; nothing happens where it was not added.
  package static func remove(_ path: String) {
    _ = paths.withLock { $0.remove(FileSystem.canonical(path)) }
  }
}
