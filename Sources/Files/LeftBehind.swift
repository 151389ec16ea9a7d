import Synchronization

/// What this process made and could not remove, or could not move to where it belongs.
///
/// It is collected here since much of it is found when a value goes away, where nothing can be thrown. A
/// program looks here before it ends: a copy of somebody's data that stays behind is no success.
package enum LeftBehind {
  private static let found = Mutex<[String]>([])

  /// Adds a sentence that names the file; one that is there already is not repeated.
  package static func add(_ sentence: String) {
    found.withLock { if !$0.contains(sentence) { $0.append(sentence) } }
  }

  /// All sentences so far, in order.
  package static var all: [String] { found.withLock { $0 } }

  /// The same, and none is left: the caller reports them.
  package static func take() -> [String] {
    found.withLock { found in
      defer { found = [] }
      return found
    }
  }
}
