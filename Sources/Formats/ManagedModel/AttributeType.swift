/// The type of an attribute, with the number Core Data gives it in model files and version hashes.
public enum AttributeType: UInt32, Sendable, Hashable, CaseIterable {
  case undefined = 0
  case integer16 = 100
  case integer32 = 200
  case integer64 = 300
  case decimal = 400
  case double = 500
  case float = 600
  case string = 700
  case boolean = 800
  case date = 900
  case binary = 1000
  case uuid = 1100
  case uri = 1200
  case transformable = 1800
  case objectID = 2000
  case composite = 2100

  /// The name Xcode writes in a model's XML, which is also the name shown to people.
  public var name: String {
    switch self {
    case .undefined: "Undefined"
    case .integer16: "Integer 16"
    case .integer32: "Integer 32"
    case .integer64: "Integer 64"
    case .decimal: "Decimal"
    case .double: "Double"
    case .float: "Float"
    case .string: "String"
    case .boolean: "Boolean"
    case .date: "Date"
    case .binary: "Binary"
    case .uuid: "UUID"
    case .uri: "URI"
    case .transformable: "Transformable"
    case .objectID: "Object ID"
    case .composite: "Composite"
    }
  }

  /// The type of that name, as model XML spells it.
  public init?(name: String) {
    guard let match = Self.named[name] else { return nil }
    self = match
  }

  private static let named = Dictionary(allCases.map { ($0.name, $0) }) { first, _ in first }

  /// Whether values are whole numbers in an INTEGER column: the types that inference may exchange.
  public var isInteger: Bool {
    switch self {
    case .integer16, .integer32, .integer64, .boolean: true
    default: false
    }
  }

  /// Whether values are numbers, of whatever kind.
  package var isNumber: Bool {
    switch self {
    case .integer16, .integer32, .integer64, .double, .float, .decimal: true
    default: false
    }
  }

  /// The values of an integer type; `nil` for the others, and for 64 bits, which hold every whole number of SQLite.
  package var wholeNumbers: ClosedRange<Int64>? {
    switch self {
    case .boolean: 0...1
    case .integer16: Int64(Int16.min)...Int64(Int16.max)
    case .integer32: Int64(Int32.min)...Int64(Int32.max)
    default: nil
    }
  }

  /// The class of Apple's that values have in an archived model, where it names no other.
  package var archivedClassName: String? {
    switch self {
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

/// How a store keeps an attribute: in no column, in one, or in one for each element of a composite.
///
/// Whatever names columns, finds an element by its path or puts a composite's value together asks
/// here, so that the rule is written once.
public struct AttributeStorage: Sendable, Equatable {
  /// An attribute, or an element of a composite one, that has a column of its own.
  public struct Column: Sendable, Equatable {
    /// From the attribute's name down to the element's; the last one names the column.
    public var path: [String]
    /// What the column holds, named by its whole path, `author.person`.
    ///
    /// It is optional where a composite around it is, and its renaming identifier is the path of
    /// theirs, so that it can be treated like an attribute of that name.
    public var attribute: Attribute
  }

  /// Composites within composites that are followed; readers refuse or cut deeper ones.
  public static let maximumDepth = 16

  /// In the order of their columns within one block: as the composite lists its elements.
  public let columns: [Column]

  /// The storage of an attribute, which may be an element that is named by its path.
  public init(_ attribute: Attribute) {
    columns = Self.columns(of: attribute, path: [attribute.name], depth: 0)
  }

  private static func columns(of attribute: Attribute, path: [String], depth: Int) -> [Column] {
    guard attribute.isStored, depth <= maximumDepth else { return [] }
    guard attribute.type == .composite else { return [Column(path: path, attribute: attribute)] }
    return attribute.elements.flatMap { element in
      columns(of: attribute.pathed(element), path: path + [element.name], depth: depth + 1)
    }
  }

  /// An element's name behind that of its composite. A property's name cannot hold a dot.
  public static func path(_ composite: String, _ element: String) -> String {
    composite + "." + element
  }
}

extension Attribute {
  /// Where the store keeps it.
  public var storage: AttributeStorage { AttributeStorage(self) }

  /// One of the elements of a composite attribute, named by its path from this attribute's name on,
  /// as ``AttributeStorage/Column/attribute`` says.
  public func pathed(_ element: Attribute) -> Attribute {
    var named = element
    named.name = AttributeStorage.path(name, element.name)
    named.renamingIdentifier =
      renamingIdentifier == nil && element.renamingIdentifier == nil
      ? nil : AttributeStorage.path(canonicalName, element.canonicalName)
    named.isOptional = element.isOptional || isOptional
    return named
  }

  /// What the column of that path holds: the attribute itself, or an element of a composite one.
  func stored(at path: String) -> Attribute? {
    guard type == .composite else { return isStored && name == path ? self : nil }
    return storage.columns.first { $0.attribute.name == path }?.attribute
  }

  /// The element of that name, for a composite attribute.
  public func element(named name: String) -> Attribute? { elements.first { $0.name == name } }
}

extension Entity {
  /// What a column of the entity's own holds: an attribute, or an element by its path
  /// `composite.element`.
  public func storedAttribute(named path: String) -> Attribute? {
    if let whole = attribute(named: path) { return whole.stored(at: path) }
    guard path.utf8.contains(UInt8(ascii: ".")) else { return nil }
    return attribute(named: String(path.prefix { $0 != "." }))?.stored(at: path)
  }
}

extension Model {
  /// An attribute, or at a path such as `author.person` an element of a composite one; either can be
  /// a composite itself. Elements are named by their path.
  public func attribute(at path: String, of entity: String) -> Attribute? {
    if let whole = attribute(named: path, of: entity) { return whole }
    let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard let first = names.first, var found = attribute(named: first, of: entity) else {
      return nil
    }
    for name in names.dropFirst() {
      guard found.type == .composite, let element = found.element(named: name) else { return nil }
      found = found.pathed(element)
    }
    return found
  }

  /// What the columns of an entity hold, inherited ones first: attributes, and the elements of
  /// composite ones by their path `composite.element`.
  public func storedAttributes(of entity: String) -> [Attribute] {
    attributes(of: entity).flatMap { $0.storage.columns.map(\.attribute) }
  }
}
