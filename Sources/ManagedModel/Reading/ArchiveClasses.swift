/// Names of Apple's classes as archived models mention them.
enum ArchiveClasses {
  /// The class that an attribute's values have when the model names no other.
  static func valueClassName(of type: AttributeType) -> String? {
    switch type {
    case .integer16, .integer32, .integer64, .double, .float, .boolean: "NSNumber"
    case .decimal: "NSDecimalNumber"
    case .string: "NSString"
    case .date: "NSDate"
    case .binary: "NSData"
    case .uuid: "NSUUID"
    case .uri: "NSURL"
    case .composite: "NSDictionary"
    case .undefined, .transformable, .objectID: nil
    }
  }
}
