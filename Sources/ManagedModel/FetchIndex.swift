/// An index that a model asks the store to keep.
public struct FetchIndex: Sendable, Equatable {
  /// One column or expression of an index.
  public struct Element: Sendable, Equatable {
    /// The form of an index element: ordinary, or an R-tree for ranges of coordinates.
    public enum Kind: Sendable, Equatable { case binary, rtree }

    /// Name of the indexed property; `nil` when an expression is indexed instead.
    public var property: String?
    /// The indexed expression in predicate format.
    public var expression: String?
    /// Ordinary or R-tree.
    public var kind: Kind
    /// Whether the element is sorted upwards.
    public var isAscending: Bool

    /// Makes an element over a property or over an expression, not both.
    public init(
      property: String? = nil, expression: String? = nil, kind: Kind = .binary,
      isAscending: Bool = true
    ) {
      self.property = property
      self.expression = expression
      self.kind = kind
      self.isAscending = isAscending
    }
  }

  /// Name of the index, unique within its entity.
  public var name: String
  /// What is indexed, the most significant first.
  public var elements: [Element]
  /// Predicate format of the rows a partial index covers.
  public var partialPredicate: String?

  /// Makes an index; `partialPredicate` restricts the rows it covers.
  public init(_ name: String, elements: [Element], partialPredicate: String? = nil) {
    self.name = name
    self.elements = elements
    self.partialPredicate = partialPredicate
  }
}

extension Entity {
  /// The entity with the indexes that Xcode's compiler adds: for an index over one of its attributes a
  /// second one that is called like the attribute, such as `date` for `byDate`. Stores show both.
  var withCompiledIndexes: Entity {
    var copy = self
    for index in fetchIndexes {
      guard let name = attribute(ofSingle: index), index.name != name,
        !copy.fetchIndexes.contains(where: { $0.name == name })
      else { continue }
      copy.fetchIndexes.append(FetchIndex(name, elements: [FetchIndex.Element(property: name)]))
    }
    return copy
  }

  /// Whether Xcode's compiler adds the index by itself, for another one over the same attribute.
  package func isAddedByCompiler(_ index: FetchIndex) -> Bool {
    guard let name = attribute(ofSingle: index), index.name == name,
      index.elements.first?.isAscending == true
    else { return false }
    return fetchIndexes.contains { $0.name != name && attribute(ofSingle: $0) == name }
  }

  /// The stored attribute of the entity that an index covers alone; `nil` for any other index.
  private func attribute(ofSingle index: FetchIndex) -> String? {
    guard index.elements.count == 1, let element = index.elements.first, element.kind == .binary,
      index.partialPredicate == nil, let name = element.property,
      let attribute = attributes.first(where: { $0.name == name }), attribute.isStored,
      attribute.type != .composite
    else { return nil }
    return name
  }
}
