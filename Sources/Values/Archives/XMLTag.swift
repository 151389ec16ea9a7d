/// A tag's attributes, which are read by name; what was not asked for in the end is not known.
package struct XMLTag {
  /// What stands first in the tag.
  package let name: String
  // A tag has a handful of attributes: walking them costs less than hashing their names.
  private var attributes: [(name: String, value: String, isRead: Bool)]
  private let xml: XMLReader

  /// A tag as the reader met it; none of its attributes counts as read.
  package init(name: String, attributes: [(name: String, value: String)], xml: XMLReader) {
    self.name = name
    self.xml = xml
    self.attributes = attributes.map { ($0.name, $0.value, false) }
  }

  /// Names of the attributes that nobody asked for, as the document orders them.
  package var unread: [String] { attributes.filter { !$0.isRead }.map(\.name) }

  /// Whether there are such attributes.
  package var hasUnread: Bool { attributes.contains { !$0.isRead } }

  /// The attribute's text, which may be empty; `nil` where the tag has no such attribute.
  package mutating func text(_ key: String) -> String? {
    guard let index = attributes.firstIndex(where: { $0.name == key }) else { return nil }
    attributes[index].isRead = true
    return attributes[index].value
  }

  /// The text, where there is some.
  package mutating func nonEmpty(_ key: String) -> String? {
    text(key).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// - Throws: an error that names the line when the attribute is missing.
  package mutating func required(_ key: String) throws(CoreDataError) -> String {
    guard let value = nonEmpty(key) else { throw xml.error("expected <\(name) \(key)=\"…\">") }
    return value
  }

  /// YES or NO.
  package mutating func boolean(_ key: String) -> Bool? { text(key).map { $0 == "YES" } }

  /// A number of 32 bits, which documents write with a sign too.
  package mutating func number(_ key: String) throws(CoreDataError) -> UInt32? {
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
  package mutating func ignore(_ keys: String...) { for key in keys { _ = text(key) } }
}
