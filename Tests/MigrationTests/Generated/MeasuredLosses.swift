import ManagedModel
import ManagedStore
import SQLite

@testable import Mapping
@testable import Migration

/// What is missing after a migration, counted in the two files themselves: an object that nothing was made
/// of; a value of which nothing in the result was computed, or only NULL; a link without a link in its place.
///
/// Objects are told by an attribute that every one of them has another value of, `zMark`.
struct MeasuredLosses {
  private(set) var losses = MigrationOracle.Losses()

  private let source: Model
  private let mapping: MappingModel
  private let before: [Found]
  private let after: [String: [Found]]

  /// One object as it is in a file.
  private struct Found {
    var entity: String
    var mark: String
    /// Attributes that are not NULL.
    var values: Set<String> = []
    /// Marks of the objects that relationships lead to.
    var links: [String: Set<String>] = [:]
  }

  init(_ source: Store, _ result: Store, mapping: MappingModel) throws {
    self.source = source.model
    self.mapping = mapping
    before = try Self.objects(of: source)
    after = Dictionary(grouping: try Self.objects(of: result), by: \.mark)
    for object in before { count(object) }
    countLinks()
  }

  private static func objects(of store: Store) throws -> [Found] {
    var found: [Found] = []
    var marks: [ObjectID: String] = [:]
    var ids: [[String: [ObjectID]]] = []
    for entity in store.model.entities where !entity.isAbstract {
      guard let table = store.table(of: entity.name), let mark = table.column(of: "zMark") else {
        continue
      }
      let columns = table.attributes.map { "\(quoted($0.column)) IS NOT NULL" }
      var rows: [Int64: Found] = [:]
      for row in try store.connection.rows(
        """
        SELECT \((["Z_PK", quoted(mark)] + columns).joined(separator: ", ")) FROM \(quoted(table.table))
        WHERE Z_ENT = \(table.entityID)
        """)
      {
        guard let key = row[0].integer, let mark = row[1].text else { continue }
        var object = Found(entity: entity.name, mark: mark)
        for (entry, value) in zip(table.attributes, row.dropFirst(2)) where value == .integer(1) {
          object.values.insert(entry.attribute.name)
        }
        rows[key] = object
        marks[ObjectID(entity: entity.name, key: key)] = mark
      }
      let cursor = try ObjectCursor(store, entity: entity.name)
      while let object = try cursor.next() {
        guard let own = rows[object.key] else { continue }
        var links: [String: [ObjectID]] = [:]
        for (entry, related) in zip(cursor.table.relationships, object.relationships) {
          switch related {
          case .toOne(let id): links[entry.relationship.name] = [id].compactMap { $0 }
          case .toMany(let ids): links[entry.relationship.name] = ids
          }
        }
        found.append(own)
        ids.append(links)
      }
    }
    // Of an end that is of another entity than its relationship leads to the entity is not told: by key
    // among the tables that it may be in.
    for index in found.indices {
      for (name, ends) in ids[index] {
        found[index].links[name] = Set(ends.compactMap { marks[$0] })
      }
    }
    return found
  }

  /// Mappings that take an object, with what they made of it.
  private func takers(of object: Found) -> [(mapping: EntityMapping, result: Found)] {
    (after[object.mark] ?? []).flatMap { result in
      mapping.entityMappings.filter {
        $0.source == object.entity && $0.destination == result.entity
      }.map { ($0, result) }
    }
  }

  private mutating func count(_ object: Found) {
    guard after[object.mark] != nil else {
      losses.exact[object.entity, default: 0] += 1
      return
    }
    let takers = takers(of: object)
    for value in object.values {
      let isKept = takers.contains { mapping, result in
        mapping.attributes.contains { attribute in
          (attribute.source == value
            || attribute.expression.map { Self.names(in: $0.text).contains(value) } == true)
            && result.values.contains(attribute.name)
        }
      }
      guard !isKept else { continue }
      let declarer =
        source.declaringEntity(of: OracleElements.whole(value), in: object.entity)
        ?? object.entity
      losses.exact["\(declarer).\(value)", default: 0] += 1
    }
  }

  /// Names in an expression, text in quotes left out.
  private static func names(in expression: String) -> Set<String> {
    var names: Set<String> = []
    for (index, part) in expression.split(separator: "'", omittingEmptySubsequences: false)
      .enumerated()
    where index % 2 == 0 {
      names.formUnion(
        part.split { !$0.isLetter && !$0.isNumber && $0 != "." && $0 != "_" }.map(String.init))
    }
    return names
  }

  private mutating func countLinks() {
    let objects = Dictionary(before.map { ($0.mark, $0) }) { first, _ in first }
    /// Whether the result has a link in the place of one.
    func isKept(_ name: String?, from object: Found, to other: Found) -> Bool {
      guard let name else { return false }
      return takers(of: object).contains { mapping, result in
        mapping.relationships.contains { relationship in
          relationship.source == name
            && result.links[relationship.name]?.contains(other.mark) == true
        }
      }
    }
    for entity in source.entities {
      for relationship in entity.relationships {
        let name = "\(entity.name).\(relationship.name)"
        let inverse = relationship.inverse.map { "\(relationship.destination).\($0)" }
        if let inverse, inverse < name { continue }
        var links = MigrationOracle.Losses.Links(
          names: Set([name] + (inverse.map { [$0] } ?? [])), least: 0, most: 0)
        var pairs = before.filter { source.isKind($0.entity, of: entity.name) }.flatMap { object in
          (object.links[relationship.name] ?? []).map { [object.mark, $0] }
        }
        // The sides of a one-to-one may disagree: a link is one that either has.
        if let back = relationship.inverse, !relationship.isToMany,
          source.relationship(named: back, of: relationship.destination)?.isToMany == false
        {
          pairs += before.filter { source.isKind($0.entity, of: relationship.destination) }.flatMap
          {
            object in (object.links[back] ?? []).map { [$0, object.mark] }
          }
        }
        var seen: Set<[String]> = []
        for pair in pairs where !seen.contains(pair) {
          guard inverse != name || !seen.contains(pair.reversed()) else { continue }
          seen.insert(pair)
          guard let object = objects[pair[0]], let other = objects[pair[1]],
            !isKept(relationship.name, from: object, to: other),
            !isKept(relationship.inverse, from: other, to: object)
          else { continue }
          let stays = [object, other].filter { after[$0.mark] != nil }.count
          if stays == 2 { links.least += 1 }
          if stays > 0 { links.most += 1 }
        }
        if links.most > 0 { losses.links.append(links) }
      }
    }
  }
}
