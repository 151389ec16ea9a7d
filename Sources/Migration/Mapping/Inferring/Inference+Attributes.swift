import ManagedModel

extension Inference {
  /// Where a stored attribute that was there before takes its value from: one mapping, or one for
  /// each element of a composite.
  ///
  /// - Parameter skipped: attributes and elements that a recipe gives values.
  func carried(
    _ attribute: Attribute, from before: Attribute, byName: Bool, entity: String, former: String,
    skipping skipped: Set<String>
  ) throws(CoreDataError) -> [AttributeMapping] {
    guard attribute.type == .composite, before.type == .composite else {
      return try plain(attribute, from: before, entity: entity, former: former, skipped)
    }
    let elements = ElementAlignment(attribute, from: before, byName: byName, given: skipped)
    if let shared = elements.shared.min(by: { $0.key < $1.key }), !allowsSharing {
      throw sharing(shared.key, shared.value, of: entity)
    }
    var mappings: [AttributeMapping] = []
    for pair in elements.pairs {
      if let before = pair.former, pair.isPlain, !Self.isGiven(pair.element, skipped) {
        mappings += try plain(pair.element, from: before, entity: entity, former: former, skipped)
      } else {
        mappings += pair.element.storage.columns.map { AttributeMapping(new: $0.attribute) }
      }
    }
    return mappings
  }

  /// An attribute or an element that is no composite on either side.
  private func plain(
    _ attribute: Attribute, from before: Attribute, entity: String, former: String,
    _ skipped: Set<String>
  ) throws(CoreDataError) -> [AttributeMapping] {
    if let reason = TypeChange.refusal(from: before, to: attribute) {
      let name = before.name == attribute.name ? "" : " with its name (formerly “\(before.name)”)"
      let isSame = before.type == attribute.type
      throw refusal(
        isSame
          ? "the attribute of type \(attribute.type.name)\(name) cannot be mapped"
          : "the attribute would change its type from \(before.type.name) to \(attribute.type.name)\(name)",
        entity: entity, property: attribute.name,
        hint: hint(
          isSame
            ? "Give it a type, or make it transient"
            : "Keep the type \(before.type.name), add an attribute of another name", former, entity,
          attribute.name), coreData: reason.sentence)
    }
    guard attribute.isStored else { return [] }
    guard before.isStored else { return [AttributeMapping(new: attribute)] }
    return [.copy(of: before, to: attribute)]
  }

  /// Whether a recipe gives an attribute its value: of a composite, that of every element.
  static func isGiven(_ attribute: Attribute, _ names: Set<String>) -> Bool {
    guard !names.isEmpty else { return false }
    if names.contains(attribute.name) { return true }
    guard attribute.type == .composite else { return false }
    let columns = attribute.storage.columns
    return !columns.isEmpty && columns.allSatisfy { names.contains($0.attribute.name) }
  }
}

extension AttributeMapping {
  /// An attribute, or an element by its path, that was not there before.
  init(new attribute: Attribute) {
    self.init(name: attribute.name, source: nil, defaultValue: attribute.defaultValue)
  }

  /// What was there before as it is; NULLs of what turned mandatory take the default.
  static func copy(of former: Attribute, to attribute: Attribute) -> AttributeMapping {
    AttributeMapping(
      name: attribute.name, source: former.name,
      defaultValue: former.isOptional && !attribute.isOptional ? attribute.defaultValue : nil)
  }
}
