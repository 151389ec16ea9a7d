import ManagedModel
import TestSupport

/// One kind of change between two versions of a model.
enum ModelEdit: String, CaseIterable, Sendable {
  case renameAttribute, swapAttributes, exchangeIdentifiers, chainAttributes, addAttribute
  case addAttributeWithDefault
  case addMandatoryWithDefault, addMandatoryWithoutDefault, removeAttribute, replaceAttribute
  case makeMandatoryWithDefault, makeMandatoryWithoutDefault, makeOptional
  case changeIntegerWidth, makeTransient, makePersistent, allowExternal, forbidExternal
  case moveAttributeUp, moveAttributeDown, changeDefault
  case renameRelationship, swapRelationships, addRelationship, removeRelationship, removeInverse
  case addInverse, toOneToMany, order, unorder, makeRelationshipMandatory, moveRelationshipUp
  case moveRelationshipDown, widenDestination, replaceSide, addOneToOneInverse, requireSome
  case changeNumberType, addComposite, addElement, removeElement, renameElement
  case renameEntity, swapEntities, chainEntities, addEntity, addChild, removeEntity, insertParent
  case moveWithinHierarchy, moveOut, makeAbstract, makeConcrete, addConstraint, removeConstraint
  case changeModifier
  case claimAttributeTwice, claimRelationshipTwice, replaceToOne
  case changeType, toManyToOne, mergeHierarchies, claimEntityTwice

  /// Changes that no mapping can be inferred for.
  static let refused: [ModelEdit] = [
    .changeType, .toManyToOne, .mergeHierarchies, .claimEntityTwice,
  ]
  /// Changes that data often forbid.
  static let delicate: [ModelEdit] = [
    .addMandatoryWithoutDefault, .makeMandatoryWithoutDefault, .makeAbstract, .addConstraint,
    .makeRelationshipMandatory, .moveRelationshipDown, .forbidExternal, .changeIntegerWidth,
    .moveOut, .requireSome,
  ]
  static let harmless = allCases.filter { !refused.contains($0) && !delicate.contains($0) }

  /// What the edit did, as a sentence; `nil` where the model has nothing it can be done to, or
  /// would not be sound afterwards.
  func apply(to draft: inout Draft, using generator: inout SeededGenerator) -> String? {
    var edited = draft
    guard let text = change(&edited, &generator), edited.isSound else { return nil }
    draft = edited
    return "\(rawValue): \(text)"
  }

  private func change(_ draft: inout Draft, _ generator: inout SeededGenerator) -> String? {
    switch self {
    case .renameAttribute, .swapAttributes, .exchangeIdentifiers, .chainAttributes, .addAttribute,
      .addAttributeWithDefault, .addMandatoryWithDefault, .addMandatoryWithoutDefault,
      .removeAttribute, .replaceAttribute, .claimAttributeTwice, .moveAttributeUp,
      .moveAttributeDown, .addComposite:
      changeAttributes(&draft, &generator)
    case .addElement, .removeElement, .renameElement: changeElements(&draft, &generator)
    case .makeMandatoryWithDefault, .makeMandatoryWithoutDefault, .makeOptional,
      .changeIntegerWidth, .makeTransient, .makePersistent, .allowExternal, .forbidExternal,
      .changeType, .changeDefault, .changeNumberType:
      changeAttribute(&draft, &generator)
    case .renameRelationship, .swapRelationships, .addRelationship, .removeRelationship,
      .removeInverse, .addInverse, .toOneToMany, .order, .unorder, .makeRelationshipMandatory,
      .moveRelationshipUp, .moveRelationshipDown, .widenDestination, .toManyToOne,
      .claimRelationshipTwice, .replaceSide, .replaceToOne, .addOneToOneInverse, .requireSome:
      changeRelationships(&draft, &generator)
    case .renameEntity, .swapEntities, .chainEntities, .addEntity, .addChild, .removeEntity,
      .insertParent, .moveWithinHierarchy, .moveOut, .makeAbstract, .makeConcrete, .addConstraint,
      .removeConstraint, .changeModifier, .mergeHierarchies, .claimEntityTwice:
      changeEntities(&draft, &generator)
    }
  }
}
