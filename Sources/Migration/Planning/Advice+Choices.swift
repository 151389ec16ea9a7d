import ManagedModel

/// The values that errors of a migration name.
extension Advice.Choice {
  /// The model that made a store which has none in it.
  package static let source = Advice.Choice("source", "Store(path:model:)")
  static let versions = Advice.Choice("versions", "MigrationRequest.versions")
  static let documents = Advice.Choice("documents", "MigrationRequest.documents")
  static let joinNames = Advice.Choice("joinNames", "MigrationRequest.joinNames")
  static let output = Advice.Choice("output", "MigrationOptions.output")
  static let allowedLosses = Advice.Choice(
    "allowedLosses", "MigrationOptions.allowedLosses")
  static let force = Advice.Choice("force", "isForced")
  static let backup = Advice.Choice("backup", "the backup’s path")
  static let deletesBackup = Advice.Choice("deletesBackup", "deletesBackup")
}
