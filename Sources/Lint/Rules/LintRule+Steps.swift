/// Rules about the steps from one version to the next.
extension LintRule {
  static let stepRules = [
    notInferable, attributeDropped, entityDropped, relationshipDropped, looksLikeRename,
    mandatoryWithoutDefault, becameMandatory, typeChanged, toManyBecameToOne, uniqueAdded,
    storeRefused,
  ]

  static let notInferable = LintRule(
    "not-inferable", .error,
    "A step between two versions cannot be inferred, and no mapping is written for it.",
    "The finding tells the reason that error 134190 carries, with entity and property. A change of type and a to-many that became a to-one have rules of their own.",
    on: "Stores of the version before do not open.", .missingMapping,
    do:
      "Write a mapping model for these two versions, or undo the change. A custom stage refuses what a lightweight one refuses: go by a version between that has both, and fill the new property in its stage."
  )

  static let attributeDropped = LintRule(
    "attribute-dropped", .warning, "An attribute is gone.",
    "It fires for no attribute that is derived or transient, that a renaming identifier (elementID, originalName) takes over, that a mapping model or a recipe reads, that every entity below an abstract one declares now, or where a custom stage has code before the step. It is an error where the same step took it over at the base. With --store only where there are values.",
    on: "Its values are deleted when the store is migrated, without a word.",
    do:
      "If it was renamed, give the new one the renaming identifier. If it was meant, say so: in user info, a comment or .strata.json5."
  )

  static let entityDropped = LintRule(
    "entity-dropped", .warning, "An entity is gone.",
    "It fires for no abstract entity, and for none that a renaming identifier or a mapping takes over. It is an error where the same step took it over at the base. With --store only where there are objects.",
    on: "Its objects are deleted when the store is migrated, without a word.",
    do:
      "If it was renamed, give the new one the renaming identifier. If it was meant, say so: in user info, a comment or .strata.json5."
  )

  static let relationshipDropped = LintRule(
    "relationship-dropped", .warning, "A relationship is gone, and its inverse with it.",
    "It fires where neither side is carried on, though both entities stay. It is an error where the same step took it over at the base. With --store only where there are links.",
    on: "The links are deleted when the store is migrated; the objects stay.",
    do:
      "If it was renamed, give the new one the renaming identifier. If it was meant, say so: in user info, a comment or .strata.json5."
  )

  static let looksLikeRename = LintRule(
    "looks-like-rename", .warning,
    "Something is gone, and something alike has come without a renaming identifier.",
    "Two attributes are alike that have one type and similar names, or that are the only ones of the type that went and came; so are relationships that lead to the same entity, and entities that share half of their attributes. With stores of both versions, attributes are alike that hold the same values. Where it fires, what is gone is not told again.",
    on: "The new one begins empty, and the values of the old one are deleted.",
    do:
      "If it is the same thing under a new name, give it the old name as its renaming identifier: Renaming ID in Xcode, originalName: in Swift."
  )

  static let mandatoryWithoutDefault = LintRule(
    "mandatory-without-default", .error,
    "A mandatory attribute without a default value, or a mandatory relationship, was added to an entity that was there.",
    "A default that only the running app knows, such as UUID(), counts as one in Swift for attributes; nothing fills a relationship. A custom stage does not help: its code before the step does not have the property yet, and the step itself fails. With --store only where there are objects.",
    on: "The migration fails on the first object.", .missingValues,
    do: "Give it a default value, or make it optional.")

  static let becameMandatory = LintRule(
    "became-mandatory", .warning,
    "An optional attribute or relationship became mandatory.",
    "An attribute with a default value takes it where it had none, and is no finding. With --store only where values are missing, and an error then.",
    on: "The migration fails on the first object without a value.", .missingValues,
    do: "Give it a default value, keep it optional, or fill the values in a version before.")

  static let typeChanged = LintRule(
    "type-changed", .warning, "The type of an attribute changed.",
    "Among numbers and truth values a change is inferred, and the store keeps a value that does not fit the new type: Core Data cuts it off when it reads it. Any other change cannot be inferred, which is an error. With --store a change of numbers fires only where values do not fit.",
    on:
      "Values that do not fit are read cut off; after any other change the store does not open.",
    .missingMapping,
    do:
      "Keep the type and add an attribute of another name; a custom stage can fill that one from the old. For Core Data a mapping model can change the type."
  )

  static let toManyBecameToOne = LintRule(
    "to-many-became-to-one", .error, "A to-many relationship became a to-one.",
    "No mapping can be inferred, since nobody says which object is kept.",
    on: "Stores of the version before do not open.", .missingMapping,
    do:
      "Say in a mapping model which object is kept, or keep it to-many and add a to-one of another name, which a custom stage can fill."
  )

  static let uniqueAdded = LintRule(
    "unique-added", .warning,
    "A uniqueness constraint was added to an entity that was there.",
    "With --store only where objects are equal that must differ, and an error then.",
    on: "The migration fails on the first two objects that are equal.", .constraint,
    do:
      "Merge equal objects in a version before, in a mapping model, or in willMigrate of a custom stage."
  )

  static let storeRefused = LintRule(
    "store-refused", .error,
    "A migration of a store that was named would be refused for another reason.",
    "It fires with --store only, and tells what strata plan STORE tells: a rule of the new version that rows of this store break.",
    on: "The migration of this store fails.", .migrationFailed,
    do: "Look at the rows: strata plan STORE --to MODEL names them.")
}
