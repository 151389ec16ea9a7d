import ManagedModel

/// Works out the mapping that Core Data would infer between two models.
public enum MappingInference {
  /// - Throws: ``CoreDataError`` of kind refused, code 134190, naming the entity and property whose
  ///   change cannot be inferred, and the way out.
  public static func mapping(from source: Model, to destination: Model) throws -> MappingModel {
    MappingModel(kind: .none, entityMappings: [])
  }
}
