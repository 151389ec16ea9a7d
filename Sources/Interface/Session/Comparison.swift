import Migration
import ModelWriting

/// Two versions of a model compared, with what Core Data's inference makes of them.
package struct Comparison: Sendable, Equatable {
  var difference: ModelDifference
  /// Each change that keeps a mapping from being inferred; empty where one can be.
  var refusals: [CoreDataError]
  /// What the app's own migration refuses or loses, and strata carries out.
  var appDifferences: [AppMigrationDifference]

  /// Compares; for a large model it takes a while.
  package init(from source: Model, to destination: Model) {
    difference = ModelDifference(from: source, to: destination)
    let remainder = MappingInference.remainder(from: source, to: destination)
    refusals = remainder.refusals
    appDifferences =
      remainder.mapping.map {
        MappingInference.appDifferences($0, from: source, to: remainder.destination)
      } ?? []
  }
}
