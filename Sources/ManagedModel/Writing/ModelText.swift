extension Model {
  /// The model as the XML that Xcode writes into a .xcdatamodel's `contents`.
  public func xcdatamodelContents() -> String { "" }

  /// The model as JSON text, the same for the same model.
  public var json: String { "" }

  /// The model as a Mermaid class diagram.
  public func mermaid() -> String { "" }

  /// The model as a plain listing.
  public func text() -> String { "" }
}
