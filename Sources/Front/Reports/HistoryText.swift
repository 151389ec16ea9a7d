import ManagedStore

extension HistoryTransaction {
  /// Who saved: each name of the store's with what it names, since an author, a context and a process may have the same.
  ///
  /// - Parameter migration: what a migration's transaction is called, by the version that the store had before; its
  ///   author is a text of Core Data's.
  package func who(migration: (FormerVersion) -> String) -> [String] {
    [
      formerVersion.map(migration) ?? author.map { "author \($0)" },
      context.map { "context \($0)" },
      process.map { "process \($0)" } ?? bundle.map { "bundle \($0)" },
    ].compactMap { $0 }
  }
}
