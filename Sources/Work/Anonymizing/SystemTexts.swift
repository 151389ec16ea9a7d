import ManagedModel
import ManagedStore

/// Texts that Core Data itself writes into its tables and metadata: they say nothing of anybody's data.
struct SystemTexts {
  private let names: Set<String>

  init(_ model: Model) {
    names = Set(
      model.entities.flatMap { entity in
        [entity.name] + entity.attributes.map(\.name) + entity.relationships.map(\.name)
      })
  }

  private static let constants: Set<String> = [
    "__defaultOwner__", "_defaultZone", "com.apple.coredata.cloudkit.zone",
  ]
  private static let beginnings = ["NSCloudKit", "PFCloudKit"]

  /// Whether a text of history or of the mirror's tables stays: names of the model, and Core Data's own.
  func stays(_ text: String) -> Bool {
    // Records are named for entities, with a prefix.
    let bare = text.hasPrefix("CD_") ? String(text.dropFirst(3)) : text
    return names.contains(bare) || Self.constants.contains(text)
      || Self.beginnings.contains(where: text.hasPrefix)
      || text.hasSuffix("ErrorDomain") || MigratorAuthor(text) != nil
  }

  private static let metadataBeginnings = [
    "NSStore", "NSPersist", "_NSStore", "_NSAutoVacuumLevel", "_NSPersist", "PFCloudKit",
    "NSCloudKit",
  ]

  /// Whether a key of the metadata is one of Core Data's.
  func isMetadataKey(_ key: String) -> Bool {
    Self.metadataBeginnings.contains(where: key.hasPrefix)
  }
}
