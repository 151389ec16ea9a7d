import ManagedModel

/// Works out the mapping that Core Data would infer between two models.
public enum MappingInference {
  /// - Throws: ``CoreDataError`` of kind refused, code 134190, naming the entity and property whose
  ///   change cannot be inferred, and the way out.
  public static func mapping(
    from source: Model, to destination: Model
  )
    throws(CoreDataError) -> MappingModel
  {
    try mapping(
      from: source, to: destination, hashes: (source.versionHashes, destination.versionHashes))
  }

  /// The same for models whose hashes are known: a search through versions asks thousands of times.
  static func mapping(
    from source: Model, to destination: Model,
    hashes: (source: [String: VersionHash], destination: [String: VersionHash])
  ) throws(CoreDataError) -> MappingModel {
    try Inference(source: source, destination: destination, hashes: hashes).mapping()
  }
}
