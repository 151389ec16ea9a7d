/// Rules about the versions that a model has.
extension LintRule {
  static let versionRules = [
    releasedVersionEdited, versionDeleted, currentRolledBack, currentNotAdvanced, noPath,
    noPathFromOldest, duplicateChecksum, mappingStale,
  ]

  static let releasedVersionEdited = LintRule(
    "released-version-edited", .error,
    "A version that shipped has other hashes than it had.",
    "A store remembers the version hashes of the model that made it. Once a version has shipped, whatever enters a hash must stay: names, types, optionality, relationships with their inverses, uniqueness. Default values, class names, indexes, user info and renaming identifiers enter no hash, and changing them never fires.",
    on:
      "Stores of the version that shipped are of no version any more, and the app does not open them.",
    .missingSource,
    do:
      "Put the version back as it shipped and make the change in a new version, which becomes the current one."
  )

  static let versionDeleted = LintRule(
    "version-deleted", .error, "A version that shipped is gone.",
    "Stores of it need its model to be migrated from. A version may be renamed: what counts is that one with its hashes is there. Of Swift without a migration plan that has stages nothing is missed, since a step is inferred from the model in the store.",
    on: "Stores of the version cannot be migrated any more.", .missingSource,
    do:
      "Keep every version that any user's store may be of; git has it: strata model PATH@REVISION --format xcdatamodel."
  )

  static let currentRolledBack = LintRule(
    "current-rolled-back", .error,
    "The current version is an older one than the current version that shipped.",
    "Of a bundle it is what .xccurrentversion says, of Swift the schema of the container, or the last version of the plan. A version that the base does not have is newer, whatever it is called.",
    on:
      "Stores of the newer version are migrated back, losing what came with it, or do not open at all.",
    .init(.stagedMigrationBackwardMigration),
    do:
      "Make the newer version current again. To take a change back, add a version in which it is undone."
  )

  static let currentNotAdvanced = LintRule(
    "current-not-advanced", .warning,
    "A version was added, and the current version is still the one before it.",
    "Of a bundle it is what .xccurrentversion says, of Swift the schema of the container, or the last version of the plan.",
    on: "The app goes on with the old version: what was added to the new one is not there.",
    do:
      "Make the new version the current one (in Xcode: Model Version in the file inspector), or add it to the plan with a stage that leads to it."
  )

  static let noPath = LintRule(
    "no-path", .error,
    "From a version that shipped, no inferred or written path leads to the current one.",
    "Steps that can be inferred and mapping models are tried, straight and through other versions; a custom stage leads nowhere that a lightweight one does not. With --store it fires as well for a store whose version is none of the model's.",
    on: "Stores of the version do not open.", .missingMapping,
    do:
      "Add a mapping model for the step that the finding names, or change the new version so that the step can be inferred."
  )

  static let noPathFromOldest = LintRule(
    "no-path-from-oldest", .error,
    "From the oldest version that shipped, no path leads to the current one.",
    "The same as no-path, for the one version that is most often given up on purpose: turn the rule off when nobody has it any more.",
    on: "Stores of people who did not update for long do not open.", .missingMapping,
    do: "Keep the old steps and their mapping models, or say in .strata.json5 what is released.")

  static let duplicateChecksum = LintRule(
    "duplicate-checksum", .warning, "Two versions have equal hashes.",
    "A store cannot tell them apart. Stages are found by checksum: in a SchemaMigrationPlan that has stages it is an error. Elsewhere it is one warning for each group of equal versions, and mostly means that a version was added for nothing. A version outside of the plan does not count.",
    on: "The app ends when it opens any store.", .duplicateChecksums,
    do:
      "Take one of them out. Where two versions must differ though nothing in them does, give one a version hash modifier."
  )

  static let mappingStale = LintRule(
    "mapping-stale", .warning,
    "A mapping model is for no two versions of the model.",
    "A mapping model holds the hashes of the entities that it maps. Where a version was edited after it was made, Core Data passes it over.",
    on:
      "The mapping is not found: the step is inferred instead, or stores do not open.",
    .missingMapping,
    do:
      "Open it in Xcode and refresh the data models (Editor menu), or put the version back; delete it where its step is gone."
  )
}
