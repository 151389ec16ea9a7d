extension Attribute {
  /// Transformers of Foundation's that keep values as keyed archives; none named is one of them.
  private static let archivers: Set<String> = [
    "", "NSKeyedUnarchiveFromData", "NSKeyedUnarchiveFromDataTransformerName",
    "NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformerName",
  ]

  /// Whether the transformer of a Transformable attribute makes keyed archives; what an app's own makes,
  /// nobody knows.
  package var isArchived: Bool { Self.archivers.contains(valueTransformerName ?? "") }
}
