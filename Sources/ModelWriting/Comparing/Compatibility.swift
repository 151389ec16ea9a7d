/// Whether a store opens with a model, and if not, because of which entities.
///
/// Core Data compares version hashes: those the store states must be those of the entities in the
/// configuration it is opened with. It reports 134100 otherwise, without saying which differ.
public struct Compatibility: Sendable, Equatable {
  /// Entities of the model that the store does not know.
  public let missingInStore: [String]
  /// Entities of the store that the model does not have.
  public let missingInModel: [String]
  /// Entities of both whose hashes differ.
  public let differing: [String]
  /// Entities of both whose hashes are equal.
  public let matching: [String]

  /// - Parameters:
  ///   - storeHashes: NSStoreModelVersionHashes of the store's metadata.
  ///   - configuration: the model's configuration the store is opened with; all entities when `nil`
  ///     or unknown.
  public init(
    storeHashes: [String: VersionHash], model: Model, configuration: String? = nil
  ) {
    var hashes = model.versionHashes
    if let members = configuration.flatMap({ model.configurations[$0] }) {
      hashes = hashes.filter { members.contains($0.key) }
    }
    let names = Set(hashes.keys).union(storeHashes.keys).sorted()
    missingInStore = names.filter { storeHashes[$0] == nil }
    missingInModel = names.filter { hashes[$0] == nil }
    let shared = names.filter { storeHashes[$0] != nil && hashes[$0] != nil }
    differing = shared.filter { storeHashes[$0] != hashes[$0] }
    matching = shared.filter { storeHashes[$0] == hashes[$0] }
  }

  /// Whether the store opens: no entity is missing on either side, and no hash differs.
  public var isCompatible: Bool {
    missingInStore.isEmpty && missingInModel.isEmpty && differing.isEmpty
  }

  /// Entities of either.
  package var count: Int {
    matching.count + differing.count + missingInStore.count + missingInModel.count
  }

  /// How many of the entities of either fit, from 0 to 1: the nearest of several versions has the
  /// highest.
  public var likeness: Double { count == 0 ? 1 : Double(matching.count) / Double(count) }
}
