import ManagedModel

/// The values that errors of a migration name.
extension Advice.Choice {
  /// The model that made a store which has none in it.
  package static let source = Advice.Choice("source", "Store(path:model:)")
  package static let versions = Advice.Choice("versions", "MigrationRequest.versions")
  package static let documents = Advice.Choice("documents", "MigrationRequest.documents")
  package static let joinNames = Advice.Choice("joinNames", "MigrationRequest.joinNames")
  package static let output = Advice.Choice("output", "MigrationOptions.output")
  package static let allowedLosses = Advice.Choice(
    "allowedLosses", "MigrationOptions.allowedLosses")
  package static let force = Advice.Choice("force", "isForced")
  package static let backup = Advice.Choice("backup", "the backup’s path")
  package static let deletesBackup = Advice.Choice("deletesBackup", "deletesBackup")
}
