import ManagedModel

/// Tells by the rows of a store which version of a model made it, where its metadata is gone.
package struct VersionFit: Sendable, Equatable {
  /// The versions whose tables its rows fit best, by their places; those that make the same tables all fit
  /// alike.
  package private(set) var best: [Int] = []

  private static let doubt = 2.0
  /// What an entity counts that is in the store and not in the model, or the other way round.
  private static let stranger = 10.0

  /// Compares versions; none is the best where no rows tell of any.
  package init(
    of versions: [Model], _ source: SalvageSource, isCancelled: () -> Bool = { false }
  ) throws {
    let names = Set(
      try source.entityNumbers().filter { $0.number < EntityNumbering.firstReserved }.map(\.name))
    var fits: [Double] = []
    var rows = 0
    for model in versions {
      let schema = try source.schema(for: model)
      let ordering = try ColumnOrdering(
        source, schema, tables: schema.tables, isCancelled: isCancelled)
      let entities = Set(model.entities.map(\.name))
      let apart = names.isEmpty ? 0 : names.symmetricDifference(entities).count
      fits.append(ordering.fit - Self.stranger * Double(apart))
      rows = max(rows, ordering.rows)
    }
    guard rows > 0 || !names.isEmpty, let most = fits.max() else { return }
    best = fits.indices.filter { fits[$0] >= most - Self.doubt }
  }
}
