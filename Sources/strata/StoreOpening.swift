import ManagedModel
import ManagedStore
import Migration

/// Opens a store as a person names it, with the models that lie beside it as a fallback.
enum StoreOpening {
  /// - Parameter model: what `--model` or `--from` named.
  static func open(_ path: String, model: String? = nil) throws -> Store {
    // Copies that an earlier run could not remove hold somebody's data.
    PrivateFolder.removeAbandoned()
    let given = try model.map { try ModelReference($0).load().model }
    do {
      return try Store(path: path, model: given) { metadata in
        version(besideStore: path, of: metadata.versionHashes)?.model
      }
    } catch var error as CoreDataError {
      // What an interrupted run left is the likelier reason.
      let told = StoreMigration.leftovers(of: path)
      if !told.isEmpty { error.hint = told.joined(separator: " ") }
      throw error
    }
  }

  /// The same for a command that prints what the store holds: the file is checked first, where that
  /// takes no time worth mentioning.
  static func reading(_ path: String, model: String? = nil) throws -> Store {
    let store = try open(path, model: model)
    try store.inspect(upTo: Store.readingCheckSize)
    return store
  }

  /// The model version beside a store that has these hashes.
  static func version(
    besideStore path: String, of hashes: [String: VersionHash]
  ) -> (model: Model, name: String)? {
    let folder = FileSystem.parent(of: path) ?? "."
    for name in (try? FileSystem.list(folder)) ?? []
    where name.hasSuffix(".momd") || name.hasSuffix(".xcdatamodeld") {
      if let found = version(inBundle: folder + "/" + name, of: hashes) { return found }
    }
    return nil
  }

  /// The version of a bundle that has these hashes, or a configuration that has; a version that cannot
  /// be read is passed over.
  static func version(
    inBundle path: String, of hashes: [String: VersionHash]
  ) -> (model: Model, name: String)? {
    guard let bundle = try? ModelBundle(readingFrom: path) else { return nil }
    var ofConfiguration: (model: Model, name: String)?
    for version in bundle.versions {
      guard let model = try? version.model else { continue }
      let own = model.versionHashes
      if own == hashes { return (model, version.name) }
      // Of several that differ elsewhere only, the last knows the most renaming identifiers.
      if !model.configurations(matching: hashes, of: own).isEmpty {
        ofConfiguration = (model, version.name)
      }
    }
    return ofConfiguration
  }
}

extension Console {
  /// Tells what of a store is lost or may be, and what that makes of a command's status.
  ///
  /// - Parameter told: sentences that were printed already.
  func finish(
    _ store: Store, told: [String] = [], _ status: CommandStatus = .done
  ) -> CommandStatus {
    let gaps = store.gaps
    // Values may stand under the names of others.
    if let mismatch = store.modelMismatch, !told.contains(mismatch) { note("! " + mismatch) }
    for gap in gaps where !told.contains(gap) { note("! " + gap) }
    return gaps.isEmpty ? status : .unreadable
  }
}
