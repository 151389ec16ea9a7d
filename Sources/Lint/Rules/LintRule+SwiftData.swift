/// Rules about versions in Swift source.
extension LintRule {
  static let swiftDataRules = [liveTypeInFrozenSchema, unproven]

  static let liveTypeInFrozenSchema = LintRule(
    "swiftdata-live-type-in-frozen-schema", .warning,
    "A VersionedSchema lists or reaches a class outside of it that a later version uses as well.",
    "The class lives on: with the next change of it the hash of the version that shipped moves too, and no store is of it any more.",
    on: "After the next change of the class, stores of the version do not open.",
    .unknownVersion,
    do:
      "Copy the class as it shipped into the VersionedSchema, and let the app use that of the last version by a typealias."
  )

  static let unproven = LintRule(
    "swiftdata-unproven", .error,
    "A store's hashes are those of no version in the source.",
    "It fires with --store only, and names the nearest version with what differs. Without a migration plan it is a warning: SwiftData then infers a step from the model in the store.",
    on: "The app does not open the store.", .unknownVersion,
    do:
      "Write the version as it shipped: strata explain STORE SOURCES tells what differs, strata model STORE what was there."
  )
}
