import Files
import ManagedModel
import ManagedStore
import Migration
import ModelSearch
import ModelWriting

/// A store that shipped, and which version of a model it is of.
struct LintStore {
  let path: String
  let store: Store

  /// Opens a store; nothing of it is changed.
  init(path: String, models: [LintedModel]) throws {
    self.path = path
    store = try Store(path: path) { metadata in
      models.lazy.compactMap { $0.version(making: metadata.versionHashes)?.model }.first
        ?? ModelBundle.version(besideStore: path, making: metadata.versionHashes)?.model
    }
  }

  var name: String { FileSystem.name(of: path) }
  var hashes: [String: VersionHash] { store.metadata.versionHashes }

  /// How much of a model the store is of: names count for something, hashes for more.
  func likeness(to model: LintedModel) -> Double {
    model.versions.map { version in
      let same = hashes.keys.count { version.hashes[$0] != nil }
      return Compatibility(storeHashes: hashes, model: version.model).likeness
        + Double(same) / Double(max(1, hashes.count + version.hashes.count))
    }.max() ?? 0
  }

  /// Whether, of several models, it is of this one.
  func isOf(_ model: LintedModel, among models: [LintedModel]) -> Bool {
    let best = models.max { likeness(to: $0) < likeness(to: $1) }
    return best?.path == model.path && likeness(to: model) > 0
  }

  /// The version that made it, whole or for one configuration.
  func version(of model: LintedModel) -> LintedModel.Version? {
    model.version(making: hashes)
      ?? model.versions.last {
        !$0.model.configurations(matching: hashes, of: $0.hashes).isEmpty
      }
  }
}
