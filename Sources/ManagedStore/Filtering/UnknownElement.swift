import ManagedModel

extension Attribute {
  /// A name that is no element of this composite attribute, which is named by its path.
  func unknownElement(_ element: String) -> UnknownName {
    UnknownName(
      "element", element, of: "the composite attribute \(name)", known: elements.map(\.name)
    ) { AttributeStorage.path(name, $0) }
  }
}

extension Model {
  /// What is wrong with a path into a composite attribute; `nil` where it leads into none.
  func unknownElement(_ path: String, of entity: String) -> UnknownName? {
    var names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
    guard let first = names.popFirst(),
      var composite = attribute(named: first, of: entity), composite.type == .composite
    else { return nil }
    while let name = names.popFirst() {
      guard let inner = composite.element(named: name).map(composite.pathed) else {
        return composite.unknownElement(name)
      }
      guard inner.type == .composite else {
        return UnknownName(
          message: "nothing can follow “\(inner.name.printable)”",
          hint: "It is an attribute with a value of its own.")
      }
      composite = inner
    }
    return composite.withoutElement
  }
}
