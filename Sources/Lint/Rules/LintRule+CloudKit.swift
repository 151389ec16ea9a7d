/// Rules about models that CloudKit mirrors.
extension LintRule {
  static let cloudKitRules = [
    cloudKitUniqueConstraint, cloudKitMandatoryWithoutDefault, cloudKitRelationshipMandatory,
    cloudKitRelationshipWithoutInverse, cloudKitDenyRule, cloudKitOrderedRelationship,
    cloudKitUndefinedAttribute, cloudKitChangedAfterDeployment,
  ]

  private static let scope =
    "It is looked for with --cloudkit, and where the model, the source, the entitlements or a store show that CloudKit is used."
  private static let refused =
    "The container does not load the store, or does so without mirroring."

  static let cloudKitUniqueConstraint = LintRule(
    "cloudkit-unique-constraint", .error, "CloudKit: an entity has a uniqueness constraint.",
    scope, on: refused, .init(134060, "CloudKit integration does not support unique constraints."),
    do: "Take it out, and merge equal objects in the app: another device may have made one.")

  static let cloudKitMandatoryWithoutDefault = LintRule(
    "cloudkit-mandatory-without-default", .error,
    "CloudKit: a mandatory attribute has no default value.", scope, on: refused,
    .init(
      134060,
      "CloudKit integration requires that all attributes be optional, or have a default value set."),
    do: "Give it a default value, or make it optional.")

  static let cloudKitRelationshipMandatory = LintRule(
    "cloudkit-relationship-mandatory", .error, "CloudKit: a relationship is mandatory.", scope,
    on: refused, .init(134060, "CloudKit integration requires that all relationships be optional"),
    do: "Make it optional: objects come from other devices one by one.")

  static let cloudKitRelationshipWithoutInverse = LintRule(
    "cloudkit-relationship-without-inverse", .error, "CloudKit: a relationship has no inverse.",
    scope, on: refused,
    .init(134060, "CloudKit integration requires that all relationships have an inverse"),
    do: "Add the inverse.")

  static let cloudKitDenyRule = LintRule(
    "cloudkit-deny-rule", .error, "CloudKit: a relationship has the delete rule Deny.", scope,
    on: refused, .init(134060), do: "Use Nullify or Cascade, and deny in the app.")

  static let cloudKitOrderedRelationship = LintRule(
    "cloudkit-ordered-relationship", .error, "CloudKit: a relationship is ordered.", scope,
    on: refused, .init(134060, "CloudKit integration does not support ordered relationships."),
    do: "Keep the place in an attribute of the objects instead.")

  static let cloudKitUndefinedAttribute = LintRule(
    "cloudkit-undefined-attribute", .error,
    "CloudKit: an attribute has no type, or that of an object ID.", scope, on: refused,
    .init(134060),
    do: "Give it a type that a record can hold.")

  static let cloudKitChangedAfterDeployment = LintRule(
    "cloudkit-changed-after-deployment", .error,
    "CloudKit: something that shipped was renamed, removed or given another type.",
    scope + " The base is what counts as deployed.",
    on:
      "A schema in production only grows: devices with the old app keep writing the old field, and those with the new one do not see it.",
    do: "Leave it where it is and add the new one beside it; fill both for a while.")
}
