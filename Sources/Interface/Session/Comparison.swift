import Migration
import ModelWriting

/// Two versions of a model compared, with what Core Data's inference makes of them.
package struct Comparison: Sendable, Equatable {
  var difference: ModelDifference
  /// Each change that keeps a mapping from being inferred; empty where one can be.
  var refusals: [CoreDataError]

  /// Compares; for a large model it takes a while.
  package init(from source: Model, to destination: Model) {
    difference = ModelDifference(from: source, to: destination)
    refusals = MappingInference.remainder(from: source, to: destination).refusals
  }
}
