import ManagedModel

/// The values that errors of a migration name.
extension Advice.Choice {
  /// The model that made a store which has none in it.
  package static let source = Advice.Choice("source", "Store(path:model:)")
  /// The versions to go through.
  package static let versions = Advice.Choice("versions", "MigrationRequest.versions")
  /// Mapping models and recipes.
  package static let documents = Advice.Choice("documents", "MigrationRequest.documents")
  /// Where the result goes, the store left alone.
  package static let output = Advice.Choice("output", "MigrationOptions.output")
  /// What may be lost.
  package static let allowedLosses = Advice.Choice(
    "allowedLosses", "MigrationOptions.allowedLosses")
  /// Going on in spite of what speaks against it.
  package static let force = Advice.Choice("force", "isForced")
  /// The backup to restore.
  package static let backup = Advice.Choice("backup", "the backup’s path")
  /// The old store goes for good.
  package static let deletesBackup = Advice.Choice("deletesBackup", "deletesBackup")
  /// How many objects an app may delete on all devices.
  package static let confirmedDeletions = Advice.Choice(
    "confirmedDeletions", "the number of deletions")
}
