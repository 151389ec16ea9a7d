/// Rules about versions in Swift source.
extension LintRule {
  static let swiftDataRules = [
    liveTypeInFrozenSchema, enumWithoutValue, defaultEvaluatedOnce, unproven,
  ]

  static let enumWithoutValue = LintRule(
    "swiftdata-enum-without-value", .error,
    "An enum or struct that is not optional was added to a class that was there.",
    "SwiftData keeps it as a composite attribute. A default value in Swift is for new objects only: rows that exist get NULL in every element. In a custom stage it is a warning, and no finding where the stage itself assigns the property.",
    on: "The migration runs, and the app stops when it reads the property of such an object.",
    .init(nil, "Could not cast value of type 'Swift.Optional<Any>'"),
    do:
      "Make it optional, and read it with a default; or keep the raw value in an attribute with a default value."
  )

  static let defaultEvaluatedOnce = LintRule(
    "swiftdata-default-evaluated-once", .warning,
    "An attribute was added with a default that is another each time, such as UUID() or Date().",
    "SwiftData evaluates a default once, when it makes the model. It is no finding where a custom stage itself assigns the property, and an error where the attribute must be unique.",
    on:
      "The migration runs, and all objects get one and the same value. Where it must be unique, the migration fails on the second object.",
    do:
      "Add it as an optional attribute, and give each object its value in didMigrate of a custom stage; make it unique in a later version."
  )

  static let liveTypeInFrozenSchema = LintRule(
    "swiftdata-live-type-in-frozen-schema", .warning,
    "A VersionedSchema lists or reaches a class outside of it that a later version uses as well.",
    "The class lives on: the next change of it changes the version hash of the version that shipped, and no store is of that version any more. There is one finding for each class, and none without a migration plan that has stages.",
    on: "After the next change of the class, stores of the version do not open.",
    .unknownVersion,
    do:
      "Copy the class as it shipped into the VersionedSchema, and let the app use that of the last version by a typealias."
  )

  static let unproven = LintRule(
    "swiftdata-unproven", .error,
    "A store's hashes are those of no version in the source.",
    "It fires with --store only, and names the nearest version with what differs. Without a migration plan that has stages it is a warning: SwiftData then infers a step from the model in the store.",
    on: "The app does not open the store.", .unknownVersion,
    do:
      "Write the version as it shipped: strata explain STORE SOURCES tells what differs, strata model STORE what was there."
  )
}
