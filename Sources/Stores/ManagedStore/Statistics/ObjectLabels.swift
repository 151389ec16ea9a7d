import ManagedModel
import SQLite
import StoreTables

/// What a person would call objects by: an attribute of each entity, found or chosen.
public struct ObjectLabels: Sendable, Equatable, Codable {
  /// Names by which apps call what a person would know an object by, best first.
  private static let usual = [
    "name", "title", "label", "displayName", "fullName", "text", "subject",
  ]
  /// Names that are better than no name.
  private static let lesser = ["email", "identifier"]

  /// The attribute that somebody chose, by entity; it holds for subentities too. An empty one
  /// means none.
  public var choices: [String: String]

  /// Makes labels by what was chosen, and by what is found where nothing was.
  public init(choices: [String: String] = [:]) { self.choices = choices }

  /// The attribute that labels objects of an entity; `nil` where none does.
  ///
  /// That is the chosen one, else the String that says most: elements of composite attributes come
  /// after the entity's own; among each, usual names, names that end so, and unique ones come first.
  public func attribute(of table: EntityTable, in model: Model) -> String? {
    var entity: String? = table.entity
    while let name = entity {
      if let choice = choices[name], choice.isEmpty || table.column(of: choice) != nil {
        return choice.isEmpty ? nil : choice
      }
      entity = model.entity(named: name)?.parent
    }
    let unique = Set(
      model.lineage(of: table.entity).flatMap(\.uniquenessConstraints).filter { $0.count == 1 }
        .joined())
    return table.attributes.filter { $0.attribute.type == .string }
      .min { Self.rank($0, unique) < Self.rank($1, unique) }?.attribute.name
  }

  /// Indices of columns in the order in which they are shown: what labels the objects comes first.
  package static func order(_ columns: [RowColumn], _ label: String?) -> [Int] {
    let first = label.flatMap { label in columns.firstIndex { $0.name == label } }
    return (first.map { [$0] } ?? []) + columns.indices.filter { $0 != first }
  }

  /// The lower, the more an attribute says of an object.
  private static func rank(_ column: EntityTable.AttributeColumn, _ unique: Set<String>) -> Int {
    let name = column.path.last ?? column.attribute.name
    let isElement = column.path.count > 1
    let rank =
      usual.firstIndex(of: name)
      ?? (name.hasSuffix("Name") || name.hasSuffix("Title")
        ? 20
        : unique.contains(column.attribute.name)
          ? 21 : lesser.firstIndex(of: name).map { 30 + $0 } ?? 40)
    return isElement ? 100 + rank : rank
  }
}

/// Some rows whose relationships are to be labelled.
public struct LabelRequest: Sendable, Equatable {
  /// The to-many relationships of one object that reference something.
  public struct Owner: Sendable, Equatable {
    /// The object.
    public var id: ObjectID
    /// Names of its relationships.
    public var relationships: [String]

    /// Makes an owner; names of no relationship are passed over.
    public init(id: ObjectID, relationships: [String]) {
      self.id = id
      self.relationships = relationships
    }
  }

  /// Objects to be labelled themselves.
  public var objects: [ObjectID]
  /// Objects whose to-many relationships are to show their first objects.
  public var owners: [Owner]
  /// Which attributes label objects.
  public var labels: ObjectLabels

  /// Makes a request.
  public init(objects: [ObjectID], owners: [Owner] = [], labels: ObjectLabels = ObjectLabels()) {
    self.objects = objects
    self.owners = owners
    self.labels = labels
  }
}

/// What objects are called, and what to-many relationships reference first.
public struct ObjectNames: Sendable, Equatable {
  /// The beginning of each object's label, where it has one.
  public var names: [ObjectID: String] = [:]
  /// The first objects of to-many relationships, by owner and relationship.
  public var firsts: [ObjectID: [String: [ObjectID]]] = [:]

  /// Nothing is known yet.
  public init() {}

  /// Takes in what was found later.
  public mutating func merge(_ other: ObjectNames) {
    names.merge(other.names) { $1 }
    firsts.merge(other.firsts) { $0.merging($1) { $1 } }
  }
}

extension Store {
  /// How many objects of a to-many relationship are named.
  public static let namedOfMany = 3

  /// What a person would call each of some objects: the beginning of the label.
  ///
  /// - Returns: nothing for objects that are not there or have no such text.
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func names(
    of ids: [ObjectID], by labels: ObjectLabels = ObjectLabels()
  ) throws -> [ObjectID: String] {
    try names(of: ids, by: labels, isEnough: { false })
  }

  /// The same for rows of a table, with the first objects of their to-many relationships.
  ///
  /// Looked up object by object through primary keys and the columns of the links, as long as there
  /// is time: what was not reached has no name in the answer.
  ///
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func names(
    for request: LabelRequest, within time: Duration = .milliseconds(40)
  ) throws -> ObjectNames {
    let end = ContinuousClock.now + time
    var found = ObjectNames()
    var ids = request.objects
    for owner in request.owners where ContinuousClock.now < end {
      guard let table = layout.table(of: owner.id.entity) else { continue }
      for name in owner.relationships {
        guard let entry = table.relationship(named: name) else { continue }
        let first = try related(to: owner.id.key, entry, limit: Self.namedOfMany)
        found.firsts[owner.id, default: [:]][name] = first
        ids += first
      }
    }
    found.names = try names(of: ids, by: request.labels) { ContinuousClock.now >= end }
    return found
  }

  private func names(
    of ids: [ObjectID], by labels: ObjectLabels, isEnough: () -> Bool
  ) throws -> [ObjectID: String] {
    var names: [ObjectID: String] = [:]
    for (entity, ids) in Dictionary(grouping: Set(ids), by: \.entity) {
      guard let table = layout.table(of: entity), database.contains(table.table),
        let name = labels.attribute(of: table, in: model), let column = table.column(of: name)
      else { continue }
      try reading {
        let statement = try connection.cached(
          """
          SELECT substr(CAST(\(quoted(column)) AS TEXT), 1, 100) FROM \(quoted(table.table))
          WHERE Z_PK = ? AND typeof(\(quoted(column))) <> 'blob'
          """)
        defer { statement.reset() }
        for id in ids where !isEnough() {
          try statement.bind([.integer(id.key)])
          if try statement.step(), let text = statement.value(at: 0).text, !text.isEmpty {
            names[id] = text
          }
        }
      }
    }
    return names
  }
}
