import ManagedModel
import StoreTables

extension Store {
  /// The object that a person names: `Entity/p12`, or its full URI, whose store must be this one.
  ///
  /// Whether there is such an object is another question, see ``object(_:related:)``.
  ///
  /// - Throws: ``CoreDataError`` of kind usage.
  public func objectID(_ text: String) throws(CoreDataError) -> ObjectID {
    try layout.objectID(text)
  }
}
