import ManagedModel

extension SourceObject {
  /// The elements of an array that an app archived into a Binary or Transformable attribute; `nil`
  /// where the bytes are no archived array or property list of one, and for NULL.
  ///
  /// NSNull, and what is no plain value, is ``AttributeValue/null``.
  ///
  /// - Throws: ``CoreDataError`` when the entity has no such attribute.
  public func elements(_ attribute: String) throws -> [AttributeValue]? {
    guard case .bytes(let bytes) = try value(attribute),
      let archive = try? KeyedArchive(holding: PropertyList.read(bytes)),
      case .array(let elements) = archive.root.value
    else { return nil }
    return elements.map { AttributeValue(archived: $0.value) }
  }

  /// The date that a text spells, in seconds since 2001-01-01 00:00:00 UTC, by a pattern such as
  /// `yyyy-MM-dd`, which is what recipes call `parse_date`; `nil` for a text that does not fit.
  ///
  /// - Throws: ``CoreDataError`` when the entity has no such attribute, or for letters that patterns
  ///   do not know.
  public func date(_ attribute: String, pattern: String) throws -> Double? {
    let pattern = try DatePattern(pattern)
    return try text(attribute).flatMap { pattern.seconds($0) }
  }
}

extension AttributeValue {
  fileprivate init(archived value: ArchivedValue) {
    switch value {
    case .boolean(let flag): self = .boolean(flag)
    case .integer(let number): self = .integer(number)
    case .real(let number): self = .double(number)
    case .decimal(let digits): self = .decimal(digits)
    case .date(let seconds): self = .date(seconds)
    case .data(let bytes): self = .bytes(bytes)
    case .string(let text): self = .string(text)
    case .uuid(let bytes): self = .uuid(bytes)
    case .url(let text): self = .uri(text)
    case .null, .array, .set, .dictionary, .object: self = .null
    }
  }
}
