import ManagedModel

/// A name that is no element of a composite attribute, told by name.
struct WrongElement {
  let message: String
  let hint: String
}

extension WrongElement {
  /// - Parameter composite: named by its path.
  init(_ name: String, of composite: Attribute) {
    let known = composite.elements.map(\.name)
    self.init(
      message: "the composite attribute \(composite.name) has no element “\(name.printable)”",
      hint: Nearest.match(name, in: known).map {
        "Did you mean \(AttributeStorage.path(composite.name, $0))?"
      } ?? "It has: " + known.joined(separator: ", "))
  }

  /// What is wrong with a path into a composite attribute; `nil` where it leads into none.
  init?(_ path: String, of entity: String, in model: Model) {
    var names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
    guard let first = names.popFirst(),
      var composite = model.attribute(named: first, of: entity), composite.type == .composite
    else { return nil }
    while let name = names.popFirst() {
      guard let inner = composite.element(named: name).map(composite.pathed) else {
        self.init(name, of: composite)
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
