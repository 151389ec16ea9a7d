import ManagedModel
import ManagedStore
import Mapping
import SQLite

/// What the links of loose one-to-ones come to when each is set after the other, in temporary
/// tables: to know in advance what is lost, and to compare afterwards.
struct PlannedPairs {
  /// A one-to-one with its claims, and the table of the pairs that last.
  struct Plan {
    let pair: OneToOne
    let links: [LinkProgram]
    let table: String

    /// Whether a link's owner is of the first side.
    func isForward(_ link: LinkProgram) -> Bool {
      link.relationship == pair.first.name && link.entity == pair.first.entity
    }

    /// SELECT of owner and destination as the relationship that an entity declares has them.
    func pairs(of side: OneToOne.Side) -> String {
      side == pair.first
        ? "SELECT owner, destination FROM temp.\(table)"
        : "SELECT destination AS owner, owner AS destination FROM temp.\(table)"
    }
  }

  /// Links of one relationship and mapping that others take the object of.
  struct Lost {
    var link: LinkProgram
    var count: Int
    /// Keys of the first few: owner and destination.
    var first: [(owner: Int64, destination: Int64)]
  }

  let plans: [Plan]
  let connection: Connection

  /// - Parameters:
  ///   - links: in the order in which their entity mappings run.
  ///   - connection: has the source attached as `src`.
  init(_ pairs: [OneToOne], links: [LinkProgram], connection: Connection) throws {
    self.connection = connection
    plans = pairs.enumerated().map { index, pair in
      Plan(
        pair: pair, links: links.filter { pair.contains($0.relationship, of: $0.entity) },
        table: "planned_\(index)")
    }
    for plan in plans { try fill(plan) }
  }

  /// The links of a step's mappings in the order in which they are set.
  static func ordered(_ links: [LinkProgram], by mapping: MappingModel) -> [LinkProgram] {
    let links = Dictionary(grouping: links, by: \.mapping)
    return mapping.entityMappings.flatMap { links[$0.name] ?? [] }
  }

  /// Replacing what claims either end is what setting one side does.
  private func fill(_ plan: Plan) throws {
    try connection.execute(
      """
      DROP TABLE IF EXISTS temp.\(plan.table);
      CREATE TEMP TABLE \(plan.table) (owner INTEGER PRIMARY KEY, destination INTEGER UNIQUE)
      """)
    for link in plan.links {
      try connection.execute(
        LinkWriter.replacing(
          in: plan.table, by: link.select, isForward: plan.isForward(link),
          isReflexive: plan.pair.isReflexive))
    }
  }

  /// SELECT of the keys of objects that have something in a relationship; `nil` where that is of no
  /// loose one-to-one.
  func keys(in relationship: String, of declarer: String) -> String? {
    for plan in plans {
      for side in plan.pair.sides where side.name == relationship && side.entity == declarer {
        return "SELECT owner FROM (\(plan.pairs(of: side)))"
      }
    }
    return nil
  }

  /// Links that the later claim of another took away.
  ///
  /// - Parameter elsewhere: SELECTs of owner and destination of links that something else keeps, for a link;
  ///   `nil` where all are kept.
  func lost(unless elsewhere: (LinkProgram) -> [String]? = { _ in [] }) throws -> [Lost] {
    var all: [Lost] = []
    for plan in plans {
      for link in plan.links {
        guard let elsewhere = elsewhere(link) else { continue }
        let (own, other) =
          plan.isForward(link) ? ("owner", "destination") : ("destination", "owner")
        let kept = elsewhere.map {
          """
           AND NOT EXISTS (SELECT 1 FROM (\($0)) k
          WHERE k.owner = c.owner AND k.destination = c.destination)
          """
        }
        let rows = """
          FROM (SELECT DISTINCT owner, destination FROM (\(link.select))) c
          WHERE c.owner IS NOT NULL AND c.destination IS NOT NULL AND NOT EXISTS
          (SELECT 1 FROM temp.\(plan.table) p WHERE p.\(own) = c.owner AND p.\(other) = c.destination)\
          \(kept.joined())
          """
        let count = try connection.number("SELECT count(*) \(rows)")
        guard count > 0 else { continue }
        let first = try connection.rows(
          "SELECT c.owner, c.destination \(rows) ORDER BY 1, 2 LIMIT 5")
        all.append(
          Lost(
            link: link, count: count,
            first: first.compactMap { row in
              guard row.count == 2, let owner = row[0].integer, let destination = row[1].integer
              else { return nil }
              return (owner, destination)
            }))
      }
    }
    return all
  }

  /// What other relationships of the destination keep of the links that one takes over.
  private func keptElsewhere(
    _ link: LinkProgram, _ mapping: MappingModel, from source: Model, to destination: Model
  ) -> [String]? {
    guard let entityMapping = mapping.mapping(named: link.mapping),
      let path = entityMapping.relationship(named: link.relationship)?.source,
      let from = entityMapping.source
    else { return [] }
    var kept: [String] = []
    /// What a relationship keeps; `nil` where that is all.
    func pairs(_ name: String, _ entity: String, isForward: Bool) -> String? {
      let declarer = destination.declaringEntity(of: name, in: entity) ?? entity
      for plan in plans {
        for side in plan.pair.sides where side.name == name && side.entity == declarer {
          let pairs = plan.pairs(of: side)
          return isForward
            ? pairs : "SELECT destination AS owner, owner AS destination FROM (\(pairs))"
        }
      }
      return nil
    }
    for other in entityMapping.relationships
    where other.name != link.relationship && other.source == path {
      guard let to = entityMapping.destination, let pairs = pairs(other.name, to, isForward: true)
      else { return nil }
      kept.append(pairs)
    }
    let own = source.relationship(named: path, of: from)
    for taker in mapping.entityMappings {
      guard let inverse = own?.inverse, let to = taker.destination,
        source.isKind(taker.source ?? "", of: own?.destination ?? "")
      else { continue }
      for other in taker.relationships where other.source == inverse {
        guard let pairs = pairs(other.name, to, isForward: false) else { return nil }
        kept.append(pairs)
      }
    }
    return kept
  }

  /// The same as losses of the source's relationships; links to objects that the mapping makes come
  /// from none.
  func losses(_ mapping: MappingModel, from source: Model, to destination: Model) throws -> [Loss] {
    try lost(unless: { keptElsewhere($0, mapping, from: source, to: destination) }).compactMap {
      lost in
      guard let entityMapping = mapping.mapping(named: lost.link.mapping),
        let from = entityMapping.source, let to = entityMapping.destination,
        let former = entityMapping.relationship(named: lost.link.relationship)?.source?.split(
          separator: "."
        ).first.map(String.init),
        source.relationship(named: former, of: from) != nil,
        let relationship = destination.relationship(named: lost.link.relationship, of: to)
      else { return nil }
      return Loss(
        entity: source.declaringEntity(of: former, in: from) ?? from, property: former,
        values: lost.count,
        samples: lost.first.map {
          "\(ObjectID(entity: to, key: $0.owner)) → \(ObjectID(entity: relationship.destination, key: $0.destination))"
        },
        suggestion:
          "\(to).\(relationship.name) is one-to-one: if several objects reference the same one, the last one keeps it."
      )
    }
  }
}

extension PlannedPairs {
  /// Those of an inferred step, worked out beside the store; `nil` where it has none.
  init?(inferred schemas: StepSchemas) throws {
    let links = schemas.looseLinks
    guard !links.isEmpty else { return nil }
    try self.init(schemas.loose, links: links, connection: .scratch(over: schemas.store))
  }
}
