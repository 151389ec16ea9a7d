import ManagedModel

/// Determines by the rows of a store which version of a model made it, where its metadata is gone.
package struct VersionFit: Sendable, Equatable {
  /// The versions whose tables its rows fit best, by their places; those that make the same tables all fit
  /// alike.
  package private(set) var best: [Int] = []

  /// Compares versions; none is the best where no rows show any.
  package init(
    of versions: [Model], _ source: SalvageSource, isCancelled: () -> Bool = { false }
  ) throws {
    let names = Set(
      try source.entityNumbers().filter { $0.number < EntityNumbering.firstReserved }.map(\.name))
    var fits: [LostColumns.Fit] = []
    var rows = 0
    for model in versions {
      let schema = try source.schema(for: model)
      let columns = try LostColumns(
        source, schema, tables: schema.tables, looksForTexts: false, isCancelled: isCancelled)
      var fit = columns.fit
      if !names.isEmpty {
        fit.contradictions += names.symmetricDifference(model.entities.map(\.name)).count
      }
      fits.append(fit)
      rows = max(rows, columns.rows)
    }
    guard rows > 0 || !names.isEmpty, let least = fits.min() else { return }
    best = fits.indices.filter { fits[$0] == least }
  }
}
