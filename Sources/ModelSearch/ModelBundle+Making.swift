import Files
import ManagedModel

extension ModelBundle {
  /// The version of a bundle, by its path, that has these hashes, or a configuration that has; a
  /// version that cannot be read is passed over.
  package static func version(
    in path: String, making hashes: [String: VersionHash]
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

  /// The version that has these hashes in the bundles that lie beside a store.
  package static func version(
    besideStore path: String, making hashes: [String: VersionHash]
  ) -> (model: Model, name: String)? {
    let folder = FileSystem.parent(of: path) ?? "."
    for name in (try? FileSystem.list(folder)) ?? []
    where name.hasSuffix(".momd") || name.hasSuffix(".xcdatamodeld") {
      if let found = version(in: folder + "/" + name, making: hashes) { return found }
    }
    return nil
  }
}
