/// Rules about one version by itself.
extension LintRule {
  static let modelRules = [
    renamingIdentifierIgnored, renamingIdentifierDangling, renamingIdentifierShared, elementIDStale,
    inverseMissing, inverseInconsistent, deleteRuleCascadesBothWays, deleteRuleDeniesForever,
    transformableInsecure,
  ]

  static let renamingIdentifierIgnored = LintRule(
    "renaming-identifier-ignored", .error,
    "The file of a model has renamingIdentifier= where elementID= is meant.",
    "Xcode writes the renaming identifier as elementID, and ignores an attribute of any other name. It fires where the element has no elementID.",
    on: "It begins empty; the values or links that it should take over are deleted.",
    do: "Write elementID= instead, or set the Renaming ID in Xcode.")

  static let renamingIdentifierDangling = LintRule(
    "renaming-identifier-dangling", .warning,
    "A renaming identifier names nothing in any version before.",
    "A thing whose identifier names nothing is new to Core Data, even where the version before has one of its name.",
    on: "It begins empty; what had its name before is deleted.",
    do:
      "Write the name that it had in the version before, or take the identifier out (Renaming ID in Xcode, elementID in the file, originalName: in Swift)."
  )

  static let renamingIdentifierShared = LintRule(
    "renaming-identifier-shared", .error,
    "Two entities or properties claim to be the same former one.",
    "Inference refuses such a step. One of two that kept the former name has the better claim.",
    on: "Stores of the version before do not open.", .missingMapping,
    do: "Leave the renaming identifier with the one that goes on.")

  static let elementIDStale = LintRule(
    "element-id-stale", .warning,
    "Two things of one version have the same renaming identifier, or one has the other's name as its.",
    "Copying an entity or a property in Xcode copies its identifier as well. Nothing happens until one of them is renamed: then it is taken for the other.",
    on: "After a later rename, values go to the wrong place or the step is refused.",
    do: "Take the identifier out of the copy.")

  static let inverseMissing = LintRule(
    "inverse-missing", .warning, "A relationship has no inverse.",
    "Core Data keeps both sides of a relationship in step only where each knows the other.",
    on:
      "Deleting an object leaves links that lead nowhere; reading one ends in “Core Data could not fulfill a fault”.",
    do:
      "Add the inverse in a new version: it enters the version hash. In Swift: @Relationship(inverse:)."
  )

  static let inverseInconsistent = LintRule(
    "inverse-inconsistent", .error,
    "A relationship's inverse is no relationship back to it.",
    "The inverse must be there in the destination, lead back to this entity or one above it, and name this relationship as its own inverse.",
    on: "The app ends when it loads the model, or both sides disagree.",
    do: "Let each of the two name the other.")

  static let deleteRuleCascadesBothWays = LintRule(
    "delete-rule-cascades-both-ways", .warning,
    "Both sides of a relationship delete the other.",
    "Where one of them leads to many, deleting one object deletes the other, with it all that belong to it, and so on.",
    on: "Deleting one object may delete every object that is reached.",
    do: "Let the side that does not own the other nullify.")

  static let deleteRuleDeniesForever = LintRule(
    "delete-rule-denies-forever", .warning,
    "A delete rule denies what nothing can ever allow.",
    "Where both sides deny, neither object can be deleted; where a mandatory relationship denies, its object can not, since it always has one.",
    on: "Deleting fails.",
    .init(.validationRelationshipDeniedDelete),
    do: "Let one side nullify or cascade.")

  static let transformableInsecure = LintRule(
    "transformable-insecure", .warning,
    "A Transformable attribute has no transformer, or one that is not secure.",
    "Without a name Core Data takes one that unarchives any class. A transformer of the app's own is not looked into.",
    on: "Core Data warns when it loads the model, and will refuse it in a later system.",
    do:
      "Name NSSecureUnarchiveFromData, or a subclass of NSSecureUnarchiveFromDataTransformer of your own; it enters no hash."
  )
}
