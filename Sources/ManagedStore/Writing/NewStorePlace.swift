import Files
import ManagedModel

/// Where a new store may be: in a folder that can be written to, under a name that is free, also with
/// the endings of what SQLite and Core Data keep beside a store. What lies there would be taken for the
/// new store's own.
package enum NewStorePlace {
  /// What interrupted runs left in the folder is removed first.
  ///
  /// - Parameter stores: the stores at hand.
  /// - Throws: ``CoreDataError`` where nothing may be written there.
  package static func require(_ path: String, besides stores: [String] = []) throws {
    PendingOutput.removeAbandoned(beside: path)
    let files = StoreFiles(path: path)
    guard FileIdentity(of: path) == nil else {
      throw CoreDataError(
        .refused, "the file exists already", path: path, hint: "Name a file that does not exist.")
    }
    let places =
      StoreSuffix.companions.map { (path + $0, $0) }
      + [(files.supportFolder, "folder of external data")]
    for (other, what) in places where FileIdentity(of: other) != nil {
      throw CoreDataError(
        .refused, "a \(what) of such a store is there already", path: other,
        hint: "Name another store, or move that away.")
    }
    if let refusal = OutputPlace.refusal(toWrite: "the new store", at: path, besides: stores) {
      throw refusal
    }
  }
}
