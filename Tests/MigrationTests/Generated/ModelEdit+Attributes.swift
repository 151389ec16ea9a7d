import ManagedModel
import TestSupport

extension ModelEdit {
  typealias Place = (entity: String, attribute: Attribute)

  private static func places(_ draft: Draft, where condition: (Attribute) -> Bool) -> [Place] {
    draft.entities.flatMap { entity in
      entity.attributes.filter(condition).map { (entity.name, $0) }
    }
  }

  private static func defaultValue(
    of type: AttributeType, _ generator: inout SeededGenerator
  ) -> AttributeValue? {
    if type == .binary || type == .transformable { return nil }
    return GeneratedValues.value(of: type, isSmall: true, using: &generator)
  }

  /// Edits of which attributes there are, and under which names.
  func changeAttributes(_ draft: inout Draft, _ generator: inout SeededGenerator) -> String? {
    switch self {
    case .addAttribute, .addAttributeWithDefault, .addMandatoryWithDefault,
      .addMandatoryWithoutDefault:
      return addAttribute(&draft, &generator)
    case .swapAttributes: return swapAttributes(&draft, &generator)
    case .exchangeIdentifiers: return exchangeIdentifiers(&draft, &generator)
    case .moveAttributeUp, .moveAttributeDown: return moveAttribute(&draft, &generator)
    case .addComposite:
      guard let entity = generator.pick(draft.entities)?.name else { return nil }
      let name = draft.freshName("made")
      let composite = ModelGenerator.composite(name, using: &generator)
      draft.change(entity) { $0.attributes.append(composite) }
      return "\(entity).\(name)"
    default: break
    }
    guard let (entity, attribute) = generator.pick(Self.places(draft) { _ in true }) else {
      return nil
    }
    let place = "\(entity).\(attribute.name)"
    // Constraints name attributes: an edit of the name takes them along, or away.
    draft.change(entity) {
      $0.uniquenessConstraints.removeAll { $0.contains(attribute.name) }
    }
    switch self {
    case .renameAttribute:
      let name = draft.freshName(generator.pick(["alpha", "title", "zoo"]) ?? "")
      draft.change(attribute: attribute.name, of: entity) {
        $0.name = name
        $0.renamingIdentifier = attribute.canonicalName
      }
      // No hash holds a composite's name.
      if attribute.type == .composite {
        draft.change(entity) { $0.versionHashModifier = name }
      }
      return "\(place) → \(name)"
    case .chainAttributes:
      let others = Self.places(draft) { _ in true }.filter {
        $0.entity == entity && $0.attribute.name != attribute.name
          && $0.attribute.type != .composite && attribute.type != .composite
      }
      guard let other = generator.pick(others)?.attribute else { return nil }
      let name = draft.freshName("chained")
      draft.change(entity) {
        $0.uniquenessConstraints.removeAll { $0.contains(other.name) }
      }
      draft.change(attribute: other.name, of: entity) {
        $0.name = name
        $0.renamingIdentifier = other.canonicalName
      }
      draft.change(attribute: attribute.name, of: entity) {
        $0.name = other.name
        $0.renamingIdentifier = attribute.canonicalName
      }
      return "\(place) → \(other.name) → \(name)"
    case .removeAttribute:
      draft.change(entity) { $0.attributes.removeAll { $0.name == attribute.name } }
      return place
    case .replaceAttribute:
      guard attribute.type != .composite else { return nil }
      let identifier = draft.freshName("nothing")
      draft.change(attribute: attribute.name, of: entity) {
        $0.isOptional = true
        $0.renamingIdentifier = identifier
      }
      // Without this a hash may stay the same, and then the values stay, too.
      draft.change(entity) { $0.versionHashModifier = identifier }
      return "\(place) is another one now"
    case .claimAttributeTwice:
      guard attribute.isStored, attribute.type != .composite else { return nil }
      var copy = attribute
      copy.name = draft.freshName("claim")
      copy.renamingIdentifier = attribute.canonicalName
      draft.change(entity) { $0.attributes.append(copy) }
      return "\(place) by \(copy.name)"
    default: return nil
    }
  }

  private func addAttribute(_ draft: inout Draft, _ generator: inout SeededGenerator) -> String? {
    guard let entity = generator.pick(draft.entities)?.name,
      let type = generator.pick(GeneratedValues.types)
    else { return nil }
    let isMandatory = self == .addMandatoryWithDefault || self == .addMandatoryWithoutDefault
    let hasDefault = self == .addAttributeWithDefault || self == .addMandatoryWithDefault
    var attribute = Attribute(
      draft.freshName(generator.pick(["added", "new", "Z"]) ?? ""), type, optional: !isMandatory)
    attribute.preservesValueInHistoryOnDeletion = attribute.name.utf8.count % 2 == 0
    if hasDefault {
      guard let value = Self.defaultValue(of: type, &generator) else { return nil }
      attribute.defaultValue = value
    }
    draft.change(entity) { $0.attributes.append(attribute) }
    return
      "\(entity).\(attribute.name) \(type.name) \(attribute.defaultValue.map(OracleText.of) ?? "")"
  }

  /// Names change hands; of different types, since otherwise no hash would tell.
  private func swapAttributes(_ draft: inout Draft, _ generator: inout SeededGenerator) -> String? {
    let places = Self.places(draft) { $0.type != .composite }
    guard let (entity, first) = generator.pick(places),
      let second = generator.pick(
        places.filter { $0.entity == entity && $0.attribute.type != first.type })?
        .attribute
    else { return nil }
    draft.change(entity) { entity in
      entity.uniquenessConstraints = []
      entity.attributes = entity.attributes.map { attribute in
        var copy = attribute
        if attribute.name == first.name { copy.name = second.name }
        if attribute.name == second.name { copy.name = first.name }
        copy.renamingIdentifier = attribute.canonicalName
        return copy
      }
    }
    return "\(entity).\(first.name) ↔ \(second.name)"
  }

  /// Two attributes of one kind claim each other's past: no hash tells, so the values stay where
  /// they are as long as nothing else about the entity changes.
  private func exchangeIdentifiers(
    _ draft: inout Draft, _ generator: inout SeededGenerator
  ) -> String? {
    let places = Self.places(draft) { $0.isStored && $0.type != .composite }
    let pairs = places.flatMap { first in
      places.filter {
        $0.entity == first.entity && $0.attribute.name > first.attribute.name
          && $0.attribute.type == first.attribute.type
      }.map { (first.entity, first.attribute, $0.attribute) }
    }
    guard let (entity, first, second) = generator.pick(pairs) else { return nil }
    draft.change(attribute: first.name, of: entity) {
      $0.renamingIdentifier = second.canonicalName
    }
    draft.change(attribute: second.name, of: entity) {
      $0.renamingIdentifier = first.canonicalName
    }
    return "\(entity).\(first.name) ↔ \(second.name)"
  }

  private func moveAttribute(_ draft: inout Draft, _ generator: inout SeededGenerator) -> String? {
    let isUp = self == .moveAttributeUp
    let places = Self.places(draft) { _ in true }.filter {
      isUp ? draft.entity($0.entity)?.parent != nil : !draft.children(of: $0.entity).isEmpty
    }
    guard let (entity, attribute) = generator.pick(places) else { return nil }
    let targets: [String]
    if isUp {
      targets = draft.entity(entity)?.parent.map { [$0] } ?? []
    } else {
      let children = draft.children(of: entity).map(\.name)
      targets = generator.chance(50) ? children : Array(children.prefix(1))
    }
    draft.change(entity) {
      $0.attributes.removeAll { $0.name == attribute.name }
      $0.uniquenessConstraints.removeAll { $0.contains(attribute.name) }
    }
    for target in targets { draft.change(target) { $0.attributes.append(attribute) } }
    return "\(entity).\(attribute.name) to \(targets.joined(separator: ", "))"
  }

  /// Edits of what an attribute is.
  func changeAttribute(_ draft: inout Draft, _ generator: inout SeededGenerator) -> String? {
    let places = Self.places(draft) { attribute in
      guard attribute.type != .composite else { return false }
      return switch self {
      case .makeMandatoryWithDefault, .makeMandatoryWithoutDefault:
        attribute.isOptional && !attribute.isTransient
      case .makeOptional: !attribute.isOptional
      case .changeIntegerWidth: attribute.type.isInteger && attribute.isStored
      case .changeNumberType: GeneratedValues.numbers.contains(attribute.type) && attribute.isStored
      case .makeTransient: !attribute.isTransient
      case .makePersistent: attribute.isTransient
      case .allowExternal: attribute.type == .binary && !attribute.allowsExternalBinaryDataStorage
      case .forbidExternal: attribute.allowsExternalBinaryDataStorage
      default: attribute.isStored
      }
    }
    guard let (entity, attribute) = generator.pick(places) else { return nil }
    var copy = attribute
    switch self {
    case .makeMandatoryWithDefault:
      guard let value = Self.defaultValue(of: attribute.type, &generator) else { return nil }
      copy.isOptional = false
      copy.defaultValue = value
    case .makeMandatoryWithoutDefault:
      copy.isOptional = false
      copy.defaultValue = nil
    case .makeOptional: copy.isOptional = true
    case .changeIntegerWidth:
      let types: [AttributeType] = [.integer16, .integer32, .integer64, .boolean]
      guard let type = generator.pick(types.filter { $0 != attribute.type }) else { return nil }
      copy.type = type
      copy.defaultValue = nil
    case .changeNumberType:
      let types = GeneratedValues.numbers.filter { $0 != attribute.type }
      guard let type = generator.pick(types) else { return nil }
      copy.type = type
      copy.defaultValue = nil
    case .makeTransient: copy.isTransient = true
    case .makePersistent:
      copy.isTransient = false
      copy.isOptional = true
      copy.defaultValue = generator.chance(50) ? Self.defaultValue(of: copy.type, &generator) : nil
    case .allowExternal: copy.allowsExternalBinaryDataStorage = true
    case .forbidExternal: copy.allowsExternalBinaryDataStorage = false
    case .changeDefault:
      guard let value = Self.defaultValue(of: attribute.type, &generator) else { return nil }
      copy.defaultValue = value
    default:
      let types = GeneratedValues.types.filter { type in
        type != attribute.type
          && !(GeneratedValues.numbers.contains(type)
            && GeneratedValues.numbers.contains(attribute.type))
      }
      guard let type = generator.pick(types) else { return nil }
      copy.type = type
      copy.allowsExternalBinaryDataStorage = false
      copy.defaultValue = nil
    }
    draft.change(attribute: attribute.name, of: entity) { $0 = copy }
    if !copy.isStored {
      draft.change(entity) { $0.uniquenessConstraints.removeAll { $0.contains(copy.name) } }
    }
    return "\(entity).\(attribute.name) \(attribute.type.name) → \(copy.type.name)"
      + (copy.defaultValue.map { " default \(OracleText.of($0))" } ?? "")
  }

  /// Edits of the elements of a composite.
  func changeElements(_ draft: inout Draft, _ generator: inout SeededGenerator) -> String? {
    guard let (entity, composite) = generator.pick(Self.places(draft) { $0.type == .composite })
    else { return nil }
    var copy = composite
    let text: String
    switch self {
    case .addElement:
      guard let type = generator.pick(GeneratedValues.types) else { return nil }
      let element = Attribute(draft.freshName("part"), type, optional: true)
      copy.elements.insert(
        element, at: Int.random(in: 0...composite.elements.count, using: &generator))
      text = "+ \(element.name)"
    case .removeElement:
      guard composite.elements.count > 1, let gone = generator.pick(composite.elements) else {
        return nil
      }
      copy.elements.removeAll { $0.name == gone.name }
      text = "− \(gone.name)"
    default:
      guard let index = composite.elements.indices.randomElement(using: &generator) else {
        return nil
      }
      let former = composite.elements[index]
      copy.elements[index].name = draft.freshName("renamed")
      copy.elements[index].renamingIdentifier = former.canonicalName
      text = "\(former.name) → \(copy.elements[index].name)"
    }
    let edited = copy
    draft.change(attribute: composite.name, of: entity) { $0 = edited }
    return "\(entity).\(composite.name): \(text)"
  }
}
