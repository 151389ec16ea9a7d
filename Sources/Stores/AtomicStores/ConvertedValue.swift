import ManagedModel
import ModelWriting

/// A value of an atomic store as an attribute of the model holds it.
enum ConvertedValue: Equatable {
  case value(AttributeValue)
  /// What a Transformable was archived as.
  case archived([UInt8])
  /// What does not fit the attribute's type, as text.
  case unfit(String)

  init(_ value: AtomicValue, for attribute: Attribute) {
    switch value {
    case .text(let text, _): self = Self.read(text, attribute.type)
    case .plain(let value) where attribute.type == .transformable:
      self = .archived(Self.archive(of: value))
    case .known(let value, let name) where attribute.type == .transformable:
      self = .archived(Self.archive(of: value, className: name))
    case .object(_, _, let archive) where attribute.type == .transformable:
      self = .archived(archive)
    case .plain(let value), .known(let value, _): self = Self.fitted(value, attribute.type)
    case .object(let value?, _, _): self = Self.fitted(value, attribute.type)
    case .object(nil, let name, let archive):
      self = attribute.type == .binary ? .value(.bytes(archive)) : .unfit("an object of \(name)")
    }
  }

  /// The text of an XML element.
  private static func read(_ text: String, _ type: AttributeType) -> ConvertedValue {
    let word = text.trimmed
    switch type {
    case .integer16, .integer32, .integer64:
      return Int64(word).map { .value(.integer($0)) } ?? .unfit(text)
    case .boolean:
      switch word {
      case "1", "true", "YES": return .value(.boolean(true))
      case "0", "false", "NO": return .value(.boolean(false))
      default: return .unfit(text)
      }
    case .double, .float: return Double(word).map { .value(.double($0)) } ?? .unfit(text)
    case .date: return Double(word).map { .value(.date($0)) } ?? .unfit(text)
    case .decimal: return DecimalText.words(word) == nil ? .unfit(text) : .value(.decimal(word))
    case .string: return .value(.string(EscapedText.read(text)))
    case .uri: return .value(.uri(EscapedText.read(text)))
    case .binary, .transformable:
      return ByteText.bytes(base64: text).map { .value(.bytes($0)) } ?? .unfit(text)
    case .uuid: return UUIDText.bytes(word).map { .value(.uuid($0)) } ?? .unfit(text)
    case .undefined, .objectID, .composite: return .unfit(text)
    }
  }

  private static func fitted(_ value: AttributeValue, _ type: AttributeType) -> ConvertedValue {
    switch (type, value) {
    case (.integer16, .integer), (.integer32, .integer), (.integer64, .integer),
      (.boolean, .boolean), (.double, .double), (.float, .double), (.date, .date),
      (.decimal, .decimal), (.string, .string), (.uri, .uri), (.binary, .bytes), (.uuid, .uuid):
      return .value(value)
    case (.integer16, .boolean(let flag)), (.integer32, .boolean(let flag)),
      (.integer64, .boolean(let flag)):
      return .value(.integer(flag ? 1 : 0))
    case (.integer16, .double(let number)), (.integer32, .double(let number)),
      (.integer64, .double(let number)):
      return Int64(exactly: number).map { .value(.integer($0)) } ?? .unfit(value.line)
    case (.boolean, .integer(let number)) where number == 0 || number == 1:
      return .value(.boolean(number == 1))
    case (.double, .integer(let number)), (.float, .integer(let number)):
      return .value(.double(Double(number)))
    case (.decimal, .integer(let number)): return .value(.decimal("\(number)"))
    case (.decimal, .double(let number)) where number.isFinite:
      return DecimalText.words(number.description) == nil
        ? .unfit(value.line) : .value(.decimal(number.description))
    case (.date, .double(let seconds)): return .value(.date(seconds))
    case (.date, .integer(let seconds)): return .value(.date(Double(seconds)))
    case (.uri, .string(let text)): return .value(.uri(text))
    default: return .unfit(value.line)
    }
  }

  /// A value that an archive holds without a class, as NSKeyedArchiver would write it alone.
  private static func archive(of value: AttributeValue) -> [UInt8] {
    let list: PropertyListValue =
      switch value {
      case .null: .null
      case .integer(let number): .integer(number)
      case .boolean(let flag): .boolean(flag)
      case .double(let number), .date(let number): .real(number)
      case .decimal(let text), .string(let text), .uri(let text): .string(text)
      case .bytes(let bytes), .uuid(let bytes): .data(bytes)
      }
    return PropertyList.binary(
      .dictionary([
        "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
        "$top": .dictionary([KeyedArchive.rootKey: .uid(1)]),
        "$objects": .array([.string("$null"), list]),
      ]))
  }

  /// A value of one of Foundation's classes, as NSKeyedArchiver would write it alone.
  private static func archive(of value: AttributeValue, className: String) -> [UInt8] {
    var writer = KeyedArchiveWriter()
    let root: PropertyListValue =
      switch (value, className) {
      case (.string(let text), "NSMutableString"):
        writer.add(
          class: ["NSMutableString", "NSString", "NSObject"], ["NS.string": .string(text)])
      case (.bytes(let bytes), "NSMutableData"):
        writer.add(class: ["NSMutableData", "NSData", "NSObject"], ["NS.data": .data(bytes)])
      default: writer.add(attributeValue: value)
      }
    return writer.bytes(root: root)
  }
}
