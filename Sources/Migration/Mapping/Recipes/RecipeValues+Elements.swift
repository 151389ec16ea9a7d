import ManagedModel

extension RecipeValues {
  /// What a recipe gives a whole composite attribute: those elements of another one that it has too,
  /// or nothing.
  func elements(
    of attribute: Attribute, _ given: RecipeDocument.Attribute, copies: Bool
  ) throws -> [AttributeMapping] {
    if let word = given.defaultText {
      throw text.wrong(
        "“\(attribute.name)” has no value of its own", word.range, hint: advice(attribute))
    }
    let word: RecipeWord
    switch given.value {
    case .none: return attribute.storage.columns.map { AttributeMapping(new: $0.attribute) }
    case .source(let name): word = name
    case .expression(_, let expression): word = expression
    }
    guard let former = source.attribute(at: word.text.trimmed, of: entity),
      former.type == .composite, former.isStored
    else {
      throw text.wrong(
        attribute.withoutElement.message, word.range,
        hint: advice(attribute))
    }
    return try ElementAlignment(attribute, from: former).pairs.map { pair in
      guard let before = pair.former else { return AttributeMapping(new: pair.element) }
      guard Self.isCopy(before, pair.element) else {
        throw text.wrong(
          "“\(pair.element.name)” is \(pair.element.type.name), and “\(before.name)” \(before.type.name)",
          word.range, hint: "Give “\(pair.element.name)” a value of its own.")
      }
      return copies
        ? .copy(of: before, to: pair.element)
        : AttributeMapping(name: pair.element.name, source: nil, expression: .sql(before.name))
    }
  }

  private func advice(_ composite: Attribute) -> String {
    let names = composite.storage.columns.map { "\"\($0.attribute.name)\"" }
    return
      "Give each of its elements one (\(names.joined(separator: ", "))), or name a composite attribute of \(entity)."
  }
}
