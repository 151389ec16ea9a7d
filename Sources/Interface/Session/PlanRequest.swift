import Migration

/// What a plan is to be made of.
package struct PlanRequest: Sendable, Equatable {
  /// What the store's own version is called.
  package var from: String
  /// The version to migrate to.
  package var to: ModelVersion
  /// How it is to be gone there.
  package var options: PlanOptions
  /// What was changed here.
  package var edits: MappingEdits
}

/// A mapping that is to be written as a recipe.
package struct RecipeFile: Sendable, Equatable {
  /// Where it is to be written.
  package var path: String
  /// The mapping, with its two models.
  package var step: MigrationStep
  /// What the recipe calls the two versions; their digests where empty.
  package var from: String
  /// What the destination is called; empty where nothing shows.
  package var to: String
  /// Whether a file that is there may be replaced.
  package var overwrites: Bool
}

/// What `--via` and `--mapping` asked the interface for.
package struct PlanOptions: Sendable, Equatable {
  /// The bundle or folder whose versions are gone through; `nil` goes straight.
  package var via: String?
  /// Mapping models and recipes.
  package var documents: [String] = []

  /// What `--via` and `--mapping` named.
  package init(via: String? = nil, documents: [String] = []) {
    (self.via, self.documents) = (via, documents)
  }
}
