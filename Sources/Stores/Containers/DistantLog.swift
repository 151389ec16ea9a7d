import Files
import ManagedStore

/// A -wal in another folder than the store that it looks like that of: who sends one file after the other
/// leaves them so.
///
/// It is reported and never applied: by its name it can be that of another store.
package struct DistantLog: Sendable, Equatable {
  /// The path of the store in the container, which has no -wal beside it.
  package var store: String
  /// The path of the -wal.
  package var log: String
}

extension Container {
  /// The most that are reported.
  private static let mostLogs = 20

  /// Files in other folders that look like the -wal of stores that have none beside them.
  ///
  /// - Parameter stores: paths in the container.
  package func distantLogs(of stores: [String]) -> [DistantLog] {
    let lacking = stores.filter { entry($0 + "-wal") == nil }
    guard !lacking.isEmpty else { return [] }
    let logs = entries.lazy.filter { [self] file in
      file.kind == .file && file.bytes > 32 && file.name.hasSuffix("-wal")
        // Not the one of a file that is there.
        && entry(String(decoding: file.name.utf8.dropLast(4), as: UTF8.self)) == nil
        && StrayLog.isLogHead(head(of: file))
    }.prefix(Self.mostLogs)
    return logs.flatMap { log in
      lacking.filter { store in
        let (name, own) = (FileSystem.name(of: log.name), FileSystem.name(of: store))
        // One in its own folder is reported wherever the store is read.
        return EntryName.folder(of: log.name) != EntryName.folder(of: store)
          && (name == own + "-wal" || !StrayLog.candidates(in: [name], besideStore: own).isEmpty)
      }.map { DistantLog(store: $0, log: log.name) }
    }.prefix(Self.mostLogs).map(\.self)
  }
}
