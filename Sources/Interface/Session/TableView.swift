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

  init() {}

  /// A session of an older version lacks what came later.
  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    sort = try values.decodeIfPresent(String.self, forKey: .sort)
    isDescending = try values.decodeIfPresent(Bool.self, forKey: .isDescending) ?? false
    filter = try values.decodeIfPresent(String.self, forKey: .filter)
    related = try values.decodeIfPresent(Relation.self, forKey: .related)
    order = try values.decodeIfPresent([String].self, forKey: .order)
    hidden = try values.decodeIfPresent([String].self, forKey: .hidden) ?? []
    widths = try values.decodeIfPresent([String: Int].self, forKey: .widths) ?? [:]
    frozen = try values.decodeIfPresent(Int.self, forKey: .frozen) ?? 1
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
