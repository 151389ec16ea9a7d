import ManagedModel
import Migration

/// Two versions of a model compared, with what Core Data's inference makes of them.
package struct Comparison: Sendable, Equatable {
  package var difference: ModelDifference
  /// Why no mapping can be inferred; `nil` where one can.
  package var refusal: CoreDataError?

  /// Compares; for a large model it takes a while.
  package init(from source: Model, to destination: Model) {
    difference = ModelDifference(from: source, to: destination)
    do {
      _ = try MappingInference.mapping(from: source, to: destination)
    } catch let error as CoreDataError {
      refusal = error
    } catch {
      refusal = CoreDataError(.refused, "\(error)")
    }
  }
}
