import ManagedModel

extension EntityReader {
  /// What an enum is kept as: its raw value, or an element for each case.
  mutating func cases(of place: Int, _ property: PropertyDeclaration) -> [Attribute] {
    if let raw = resolver.rawType(of: place) {
      return [Attribute(property.name, raw, optional: true)]
    }
    let type = table.entries[place]
    if type.declaration.cases.contains(where: \.hasPayload) {
      remark(
        property.line,
        "\(entry.ownName).\(property.name): how SwiftData stores the payloads of \(type.name) is assumed"
      )
    }
    var seen: Set<String> = []
    return type.declaration.cases.filter { seen.insert($0.name).inserted }.map {
      Attribute($0.name, .string, optional: true)
    }
  }

  /// What a struct is kept as: an element for each stored property.
  mutating func elements(
    of place: Int, _ isOptional: Bool, _ property: PropertyDeclaration
  ) -> [Attribute] {
    let type = table.entries[place]
    let name = "\(entry.ownName).\(property.name)"
    var elements: [Attribute] = []
    var seen: Set<String> = []
    for inner in type.declaration.properties
    where !inner.isStatic && !inner.isComputed && !inner.isLazy && seen.insert(inner.name).inserted
    {
      guard !inner.isTuple,
        let spelled = inner.type ?? resolver.type(of: inner.initializer, in: type.path)
      else {
        remark(
          property.line,
          "\(name): the element \(inner.name) was left out: its type is not written, and its value"
            + " does not show it. The version hash of \(entry.ownName) is not the app's")
        continue
      }
      let (kind, isInnerOptional) = resolver.resolve(
        spelled, in: type.path, parameters: type.declaration.parameters)
      var element = Attribute(inner.name, .binary, optional: isOptional || isInnerOptional)
      switch kind {
      case .plain(let plain): element.type = plain
      case .none(let reason):
        remark(property.line, "\(name): \(type.name).\(inner.name) was taken as Binary: \(reason)")
      case .structure, .enumeration, .color, .codableClass:
        remark(
          property.line,
          "\(name): that \(type.name).\(inner.name) is kept as Binary is assumed")
      default: break
      }
      elements.append(element)
    }
    return elements
  }
}
