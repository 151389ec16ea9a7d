/// An index that a model asks the store to keep.
public struct FetchIndex: Sendable, Equatable {
  public struct Element: Sendable, Equatable {
    public enum Kind: Sendable, Equatable { case binary, rtree }

    /// Name of the indexed property; `nil` when an expression is indexed instead.
    public var property: String?
    /// The indexed expression in predicate format.
    public var expression: String?
    public var kind: Kind
    public var isAscending: Bool

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

  public var name: String
  public var elements: [Element]
  /// Predicate format of the rows a partial index covers.
  public var partialPredicate: String?

  public init(_ name: String, elements: [Element], partialPredicate: String? = nil) {
    self.name = name
    self.elements = elements
    self.partialPredicate = partialPredicate
  }
}
