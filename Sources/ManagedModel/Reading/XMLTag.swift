/// A tag's attributes, which are read by name; what was not asked for in the end is not known.
package struct XMLTag {
  package let name: String
  private var values: [String: String] = [:]
  private var order: [String] = []
  private var read: Set<String> = []
  private let xml: XMLReader

  package init(name: String, attributes: [(name: String, value: String)], xml: XMLReader) {
    self.name = name
    self.xml = xml
    for (name, value) in attributes {
      values[name] = value
      order.append(name)
    }
  }

  /// Names of the attributes that nobody asked for, as the document orders them.
  package var unread: [String] { order.filter { !read.contains($0) } }

  package mutating func text(_ key: String) -> String? {
    read.insert(key)
    return values[key]
  }

  /// The text, where there is some.
  package mutating func nonEmpty(_ key: String) -> String? {
    text(key).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// - Throws: an error that names the line when the attribute is missing.
  package mutating func required(_ key: String) throws -> String {
    guard let value = nonEmpty(key) else { throw xml.error("expected <\(name) \(key)=\"…\">") }
    return value
  }

  /// YES or NO.
  package mutating func boolean(_ key: String) -> Bool? { text(key).map { $0 == "YES" } }

  package mutating func number(_ key: String) throws -> UInt32? {
    guard let text = text(key) else { return nil }
    guard let value = Int64(text), let number = UInt32(exactly: value & 0xFFFF_FFFF),
      value >= -1, value <= Int64(UInt32.max)
    else { throw xml.error("expected a number, found \(key)=\"\(text)\"") }
    return number
  }

  /// The text as a list of one, or none when it is empty.
  package mutating func list(_ key: String) -> [String] { nonEmpty(key).map { [$0] } ?? [] }

  /// The renaming identifier, where it says something that the name does not.
  package mutating func renaming(_ name: String) -> String? {
    nonEmpty("elementID").flatMap { $0 == name ? nil : $0 }
  }

  /// Marks attributes as known and of no interest here.
  package mutating func ignore(_ keys: String...) { read.formUnion(keys) }
}
