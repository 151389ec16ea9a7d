import ManagedModel

/// Values by the names of their properties: a row of a page, or an object.
///
/// Each reading answers `nil` for NULL, for a value of another type, and for a property that was not read.
public protocol NamedValues {
  /// The properties that were read.
  var columns: [RowColumn] { get }
  /// One a column.
  var values: [PropertyValue] { get }
}

extension NamedValues {
  /// What a property holds; an element of a composite attribute is named by its path.
  public subscript(name: String) -> PropertyValue? {
    columns.firstIndex { $0.name == name }.flatMap { $0 < values.count ? values[$0] : nil }
  }

  /// The value of an attribute that is no bytes.
  public func value(_ name: String) -> AttributeValue? {
    if case .value(let value)? = self[name] { value } else { nil }
  }

  /// The text of a String or URI attribute.
  public func string(_ name: String) -> String? { value(name)?.text }

  /// The number of an Integer attribute.
  public func integer(_ name: String) -> Int64? {
    if case .integer(let number)? = value(name) { number } else { nil }
  }

  /// The value of a Boolean attribute.
  public func boolean(_ name: String) -> Bool? {
    if case .boolean(let flag)? = value(name) { flag } else { nil }
  }

  /// The number of a Double or Float attribute.
  public func double(_ name: String) -> Double? {
    if case .double(let number)? = value(name) { number } else { nil }
  }

  /// The digits of a Decimal attribute.
  public func decimal(_ name: String) -> String? {
    if case .decimal(let digits)? = value(name) { digits } else { nil }
  }

  /// The time of a Date attribute, in seconds since 2001-01-01 00:00:00 UTC.
  public func date(_ name: String) -> Double? {
    if case .date(let seconds)? = value(name) { seconds } else { nil }
  }

  /// The sixteen bytes of a UUID attribute.
  public func uuid(_ name: String) -> [UInt8]? {
    if case .uuid(let bytes)? = value(name) { bytes } else { nil }
  }

  /// The bytes of a Binary or Transformable attribute, or what is known of them.
  public func data(_ name: String) -> DataValue? {
    if case .data(let data)? = self[name] { data } else { nil }
  }

  /// The object at the other end of a to-one relationship.
  public func object(_ relationship: String) -> ObjectID? {
    if case .toOne(let id)? = self[relationship] { id } else { nil }
  }

  /// The objects at the other end of a to-many relationship: how many, and the first of them.
  public func objects(_ relationship: String) -> ToMany? {
    if case .toMany(let objects)? = self[relationship] { objects } else { nil }
  }
}
