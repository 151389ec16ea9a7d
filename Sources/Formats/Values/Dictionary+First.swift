extension Dictionary {
  /// Of several values for one key the first.
  @inlinable
  package init(first pairs: some Sequence<(Key, Value)>) { self.init(pairs) { first, _ in first } }
}
