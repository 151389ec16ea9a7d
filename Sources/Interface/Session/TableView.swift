import ManagedStore

/// How an entity's rows are seen.
struct TableView: Codable, Sendable, Equatable {
  /// Attribute or to-one that the rows are sorted by; the key without.
  var sort: String?
  var isDescending = false
  /// NSPredicate text; all rows without.
  var filter: String?
  /// Only what a relationship of one object leads to.
  var related: Relation?
  /// Ids of all columns, where they were moved.
  var order: [String]?
  var hidden: [String] = []
  /// Widths that a person chose, by column.
  var widths: [String: Int] = [:]
  /// Columns at the left that stay when the others scroll.
  var frozen = 1
}

extension TableView {
  /// A session of an older version lacks what came later.
  init(from decoder: any Decoder) throws {
    self.init()
    let values = try decoder.container(keyedBy: CodingKeys.self)
    sort = try values.value(.sort)
    isDescending = try values.value(.isDescending) ?? isDescending
    filter = try values.value(.filter)
    related = try values.value(.related)
    order = try values.value(.order)
    hidden = try values.value(.hidden) ?? hidden
    widths = try values.value(.widths) ?? widths
    frozen = try values.value(.frozen) ?? frozen
  }
}

extension KeyedDecodingContainer {
  /// A value that an older version may not have written.
  func value<Value: Decodable>(_ key: Key) throws -> Value? {
    try decodeIfPresent(Value.self, forKey: key)
  }
}

/// A relationship of one object.
struct Relation: Codable, Sendable, Hashable {
  /// `Person/p3`
  var object: String
  var relationship: String

  init(_ object: ObjectID, _ relationship: String) {
    self.object = object.description
    self.relationship = relationship
  }

  var id: ObjectID? { ObjectID(object) }
}
