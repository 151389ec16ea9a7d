import ManagedModel

/// A name that is no element of a composite attribute, told by name.
struct WrongElement {
  let message: String
  let hint: String?
}

extension Attribute {
  /// A name that is no element of this composite attribute, which is named by its path.
  func unknownElement(_ element: String) -> UnknownName {
    UnknownName(
      "element", element, of: "the composite attribute \(name)", known: elements.map(\.name)
    ) { AttributeStorage.path(name, $0) }
  }
}

extension WrongElement {
  /// What is wrong with a path into a composite attribute; `nil` where it leads into none.
  init?(_ path: String, of entity: String, in model: Model) {
    var names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
    guard let first = names.popFirst(),
      var composite = model.attribute(named: first, of: entity), composite.type == .composite
    else { return nil }
    while let name = names.popFirst() {
      guard let inner = composite.element(named: name).map(composite.pathed) else {
        let unknown = composite.unknownElement(name)
        self.init(message: unknown.message, hint: unknown.hint)
        return
      }
      guard inner.type == .composite else {
        self.init(
          message: "nothing can follow “\(inner.name.printable)”",
          hint: "It is an attribute with a value of its own.")
        return
      }
      composite = inner
    }
    self.init(
      message: "\(composite.name.printable) is a composite attribute: name an element of it",
      hint: "It has: "
        + composite.elements.map { composite.pathed($0).name }.joined(separator: ", "))
  }
}
