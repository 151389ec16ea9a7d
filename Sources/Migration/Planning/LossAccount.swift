import ManagedModel
import ManagedStore
import SQLite

/// What a step, or several inferred ones, would drop from a store: objects, values and links that nothing takes
/// over, each once.
struct LossAccount {
  let data: SourceData
  let source: Model
  let destination: Model
  let mapping: MappingModel
  let schemas: StepSchemas
  /// What the links of one-to-ones that are set in the end come to.
  let planned: PlannedPairs?
  /// How a mapping that is not inferred is laid out, and the connection that it is: the source is attached there
  /// as `src`.
  var layout: (mapped: MappingLayout, connection: Connection)?

  private var connection: Connection { layout?.connection ?? data.store.connection }
  private var prefix: String { layout == nil ? "" : "src." }

  func losses() throws -> [Loss] { try layout == nil ? data.store.reading(all) : all() }

  private func all() throws -> [Loss] {
    var losses: [Loss] = []
    let guess = layout == nil ? RenameGuess(mapping, from: source, to: destination) : nil
    for entity in source.entities.map(\.name) {
      if var loss = try objectLoss(entity) {
        loss.suggestion = guess?.newEntity(like: entity).map {
          "If \($0) is the former “\(entity)”, give it the renaming identifier “\(entity)” in the model: its objects are kept then."
        }
        losses.append(loss)
      }
      let takers = takers(of: entity)
      guard !takers.isEmpty, !isKnownEmpty(entity) else { continue }
      for taker in takers where !isPolicy(taker) { losses += try cutNumbers(taker, of: entity) }
      // What code takes of an object nobody can tell.
      guard !takers.contains(where: isPolicy) else { continue }
      losses += try valueLosses(entity, guess) + linkLosses(entity, guess)
    }
    losses += try schemas.crowdedLinks()
    for loss in try planned?.losses(mapping, from: source, to: destination) ?? []
    where !isReplaced(loss) { losses.append(loss) }
    return joined(losses)
  }

  private func isKnownEmpty(_ entity: String) -> Bool {
    data.store.table(of: entity).flatMap { data.store.facts?.rows(of: $0) } == 0
  }

  /// Subentities lose an inherited property together, where it is declared. Objects come first, then properties
  /// by name.
  private func joined(_ losses: [Loss]) -> [Loss] {
    var all: [Loss] = []
    var places: [String: Int] = [:]
    for var loss in losses {
      if let property = loss.property {
        loss.entity = source.declaringEntity(of: property, in: loss.entity) ?? loss.entity
      }
      let key = "\(loss.name) \(loss.misfit.map { "\($0)" } ?? "")"
      guard let index = places[key] else {
        places[key] = all.count
        all.append(loss)
        continue
      }
      all[index].values += loss.values
      all[index].suggestion = all[index].suggestion ?? loss.suggestion
      if all[index].samples.isEmpty { all[index].samples = loss.samples }
    }
    return all.filter { $0.property == nil }
      + all.filter { $0.property != nil }.sorted {
        ($0.name, $0.misfit?.kind.rawValue ?? "") < ($1.name, $1.misfit?.kind.rawValue ?? "")
      }
  }

  // MARK: Which objects go on

  private func isPolicy(_ taker: EntityMapping) -> Bool { layout?.mapped.isPolicy(taker) ?? false }

  private func takers(of entity: String) -> [EntityMapping] {
    mapping.mappings(fromSource: entity).filter { $0.destination != nil }
  }

  /// SQL that is true of the source rows that a mapping takes; `nil`: it takes all of its entity, or a
  /// policy says which.
  func taken(by taker: EntityMapping, of entity: String, row: String) throws -> String? {
    guard let mapped = layout?.mapped, !mapped.isPolicy(taker) else { return nil }
    var conditions: [String] = []
    // One that makes an object of each different value keeps only the first of each.
    if let groups = mapped.groups[taker.name] {
      conditions.append("\(row).Z_PK IN (SELECT source FROM temp.\(groups))")
    }
    if let own = taker.condition {
      let scope = ExpressionScope(store: data.store, entity: entity, row: row)
      conditions.append(
        "ifnull((\(try own.compiled(in: scope, mapping: taker.name, property: nil).sql)), 0)")
    }
    return conditions.isEmpty ? nil : conditions.allTrue
  }

  /// SQL that is true of the source rows that go on; `nil` where all do.
  private func kept(_ entity: String, row: String) throws -> String? {
    let takers = takers(of: entity)
    guard !takers.isEmpty else {
      return mapping.mappings(fromSource: entity).contains(where: isPolicy) ? nil : "0"
    }
    return try takers.map { try taken(by: $0, of: entity, row: row) }.anyTrue
  }

  /// Objects that no mapping takes.
  private func objectLoss(_ entity: String) throws -> Loss? {
    guard let kept = try kept(entity, row: "t") else { return nil }
    let takers = takers(of: entity)
    let removals = mapping.mappings(fromSource: entity).filter { $0.destination == nil }
    // Conditions may call functions that only a migration's connection has.
    guard let rows = data.rows(of: entity, where: kept == "0" ? [] : ["NOT (\(kept))"], in: prefix)
    else {
      return nil
    }
    func find() throws -> FoundRows {
      try FoundRows(rows, key: "t.Z_PK", of: entity, on: connection)
    }
    let lost = try (takers.first ?? removals.first)?.evaluating(find) ?? find()
    guard lost.count > 0 else { return nil }
    var loss = Loss(
      entity: entity, values: lost.count,
      samples: kept == "0"
        ? try data.samples(ofObjects: entity) : lost.first.map(\.description))
    loss.isIntended =
      !(removals + takers).isEmpty && (removals + takers).allSatisfy(\.isDeletionIntended)
      && (takers.isEmpty || takers.contains { $0.distinct == nil })
    return loss
  }

  // MARK: Values

  /// Values of which nothing is computed, or only NULL: as a function answers what it cannot read.
  private func valueLosses(_ entity: String, _ guess: RenameGuess?) throws -> [Loss] {
    let readers = try readers(of: entity)
    let kept = try kept(entity, row: "t")
    let taken = try takers(of: entity).map { try self.taken(by: $0, of: entity, row: "t") }
    var losses: [Loss] = []
    for entry in data.store.table(of: entity)?.attributes ?? [] where !entry.attribute.isDerived {
      let name = entry.attribute.name
      var conditions = ["t.\(quoted(entry.column)) IS NOT NULL"]
      if let own = readers[name] {
        guard !covers(own, taken), let read = own.anyTrue else { continue }
        conditions.append("NOT (\(read))")
      }
      if let kept { conditions.append(kept) }
      let isPlain = conditions.count == 1
      let lost: (count: Int, samples: [String])
      do {
        lost =
          isPlain
          ? (try data.count(entity, where: conditions), [])
          : try found(name, in: entity, where: conditions)
      } catch let error as SQLiteError where error.isEvaluation {
        // The checks meet it again, and name the property that it is for.
        continue
      }
      guard lost.count > 0 else { continue }
      losses.append(
        Loss(
          entity: entity, property: name, values: lost.count,
          samples: isPlain ? try data.samples(of: name, in: entity) : lost.samples,
          suggestion: guess.flatMap { suggestion(for: entry.attribute, of: entity, $0) }))
    }
    return losses
  }

  /// How many objects of an entity conditions are true of, and some values of an attribute there.
  private func found(
    _ attribute: String, in entity: String, where conditions: [String]
  ) throws -> (count: Int, samples: [String]) {
    guard let rows = data.rows(of: entity, where: conditions, in: prefix) else { return (0, []) }
    let found = try FoundRows(rows, key: "t.Z_PK", of: entity, on: connection)
    guard found.count > 0 else { return (0, []) }
    return (
      found.count,
      try data.samples(of: attribute, in: entity, where: "t.Z_PK IN (\(found.keys.list))")
    )
  }

  /// Who reads each attribute of an entity: SQL of a row `t` that is true where something comes of it; `nil`
  /// where something always does.
  private func readers(of entity: String) throws -> [String: [String?]] {
    var readers: [String: [String?]] = [:]
    for taker in takers(of: entity) {
      let taken = try taken(by: taker, of: entity, row: "t")
      // What one object is made for is the same in all that it is made of.
      let shared: String? =
        if case .listed(let sources)? = layout?.mapped.keys[taker.name] {
          "t.Z_PK IN (SELECT source FROM temp.\(sources))"
        } else { nil }
      for name in layout?.mapped.treeUses[taker.name] ?? [] {
        readers[name, default: []].append(taken)
      }
      let scope = ExpressionScope(store: data.store, entity: entity, row: "t")
      for attributeMapping in taker.attributes {
        if let copied = attributeMapping.source {
          let isShared = shared != nil && taker.distinct?.text == copied
          readers[copied, default: []].append(isShared ? shared : taken)
        }
        guard let expression = attributeMapping.expression else { continue }
        let compiled = try expression.compiled(
          in: scope, mapping: taker.name, property: attributeMapping.name,
          attribute: taker.destination.flatMap {
            destination.storedAttribute(named: attributeMapping.name, of: $0)
          })
        let something =
          attributeMapping.defaultValue == nil ? "(\(compiled.sql)) IS NOT NULL" : nil
        let isShared = shared != nil && taker.distinct == expression
        let both = [isShared ? shared : taken, something].compactMap { $0 }
        for name in compiled.properties {
          readers[name, default: []].append(both.isEmpty ? nil : both.allTrue)
        }
      }
    }
    return readers
  }

  /// Numbers that a mapping copies into a column of a type which cannot hold them as they are.
  private func cutNumbers(_ taker: EntityMapping, of entity: String) throws -> [Loss] {
    guard let to = taker.destination else { return [] }
    let changes = taker.attributes.compactMap {
      attributeMapping -> (former: String, column: String, change: TypeChange)? in
      guard let former = attributeMapping.source,
        let before = source.storedAttribute(named: former, of: entity),
        let attribute = destination.storedAttribute(named: attributeMapping.name, of: to),
        !attribute.isDerived, let column = data.column(of: former, in: entity),
        let change = TypeChange(from: before.type, to: attribute.type)
      else { return nil }
      return (former, column, change)
    }
    guard !changes.isEmpty else { return [] }
    let taken = try [taken(by: taker, of: entity, row: "t")].compactMap { $0 }
    return try changes.flatMap { former, column, change in
      try change.misfits(column).compactMap { misfit, condition -> Loss? in
        let found = try taker.evaluating {
          try self.found(former, in: entity, where: taken + [condition])
        }
        guard found.count > 0 else { return nil }
        var loss = Loss(
          entity: entity, property: former, values: found.count, samples: found.samples)
        loss.misfit = misfit
        return loss
      }
    }
  }

  // MARK: Links

  /// Links between objects that both go on, which neither the relationship nor its inverse carries.
  private func linkLosses(_ entity: String, _ guess: RenameGuess?) throws -> [Loss] {
    try source.relationships(of: entity).compactMap { relationship in
      guard !relationship.isTransient else { return nil }
      if isReplaced(relationship, of: entity) {
        let count = try data.links(relationship.name, of: entity)
        return count > 0
          ? Loss(entity: entity, property: relationship.name, values: count) : nil
      }
      guard let lost = try lostLinks(relationship, of: entity) else { return nil }
      let count = try connection.number("SELECT count(*) \(lost)")
      guard count > 0 else { return nil }
      let samples = try connection.rows(
        "SELECT e.owner, e.destination, d.Z_ENT \(lost) ORDER BY 1, 2 LIMIT 5")
      return Loss(
        entity: entity, property: relationship.name, values: count,
        samples: samples.compactMap { row in
          guard row.count == 3, let owner = row[0].integer, let key = row[1].integer else {
            return nil
          }
          let other =
            row[2].integer.flatMap { data.store.entityNames[$0] } ?? relationship.destination
          return "\(ObjectID(entity: entity, key: owner)) → \(ObjectID(entity: other, key: key))"
        }, suggestion: guess.flatMap { suggestion(for: relationship, of: entity, $0) })
    }
  }

  /// `FROM … WHERE …` of the links `e` that are lost, counted where the plan counts them; `nil` where none
  /// can be.
  private func lostLinks(_ relationship: Relationship, of entity: String) throws -> String? {
    let inverse = relationship.inverse.flatMap {
      source.relationship(named: $0, of: relationship.destination)
    }
    let isCounted = isCounted(relationship, of: entity, inverse)
    guard isCounted || layout?.mapped.policyMappings.isEmpty == false else { return nil }
    let others = source.subtree(of: relationship.destination).filter {
      let takers = takers(of: $0)
      // Of what a policy takes nothing is counted: these links are counted from here.
      return !takers.isEmpty && (isCounted || takers.contains(where: isPolicy))
    }
    let places = data.sides(of: relationship, of: entity, inverse)
    let taken = try takers(of: entity).map { try self.taken(by: $0, of: entity, row: "o") }
    var lost: [String] = []
    var carried: [String: [String]] = [:]
    for other in others {
      guard let number = data.store.table(of: other)?.entityID else { continue }
      let isOther = "d.Z_ENT = \(number)"
      let here = try ways(relationship, inverse, of: entity, "o", to: other, "d")
      let there =
        try inverse.map { try ways($0, relationship, of: other, "d", to: entity, "o") } ?? []
      // What one side takes whole, of links that all count as its own, is not asked for.
      let otherTaken = try takers(of: other).map { try self.taken(by: $0, of: other, row: "d") }
      let isHereWhole = isWhole(here, from: taken, to: otherTaken)
      let isThereWhole = isWhole(there, from: otherTaken, to: taken)
      if isHereWhole && (places.isAlwaysHere || isThereWhole)
        || isThereWhole && places.isAlwaysThere
      {
        continue
      }
      lost.append([isOther, try kept(other, row: "d")].compactMap { $0 }.allTrue)
      for (side, ways) in [("here", here.map(\.sql)), ("there", there.map(\.sql))]
      where !ways.isEmpty {
        carried[side, default: []].append([isOther, ways.anyTrue].compactMap { $0 }.allTrue)
      }
    }
    guard !lost.isEmpty else { return nil }
    var conditions = [lost.map { "(\($0))" }.joined(separator: " OR ")]
    for (side, ways) in carried.sorted(by: { $0.key < $1.key }) {
      let any = ways.map { "(\($0))" }.joined(separator: " OR ")
      conditions.append("NOT (e.\(side) AND (\(any)))")
    }
    if let kept = try kept(entity, row: "o") { conditions.append(kept) }
    return data.links(
      relationship, of: entity, inverse, to: others, in: prefix, where: conditions)
  }

  /// Whether conditions hold wherever one of others does, as can be told from their text: each of these is
  /// among them. Then no row needs to be asked.
  private func covers(_ conditions: [String?], _ others: [String?]) -> Bool {
    !others.isEmpty && Set(others).isSubset(of: conditions)
  }

  /// Whether ways carry each link between objects that both go on.
  private func isWhole(_ ways: [LinkWay], from taken: [String?], to other: [String?]) -> Bool {
    ways.contains { $0.sql == nil }
      || covers(ways.filter { $0.ends.map { covers($0, other) } ?? true }.map(\.own), taken)
  }

  /// How links of a relationship from an entity to another are carried.
  private func ways(
    _ relationship: Relationship, _ inverse: Relationship?, of entity: String, _ row: String,
    to other: String, _ otherRow: String
  ) throws -> [LinkWay] {
    var ways: [LinkWay] = []
    for taker in takers(of: entity) {
      guard let to = taker.destination else { continue }
      let taken = try taken(by: taker, of: entity, row: row)
      if let mapped = layout?.mapped {
        let uses = try expressionUses(of: taker, entity).union(mapped.treeUses[taker.name] ?? [])
        if uses.contains(relationship.name) { ways.append(LinkWay(own: taken)) }
      }
      for mapping in taker.relationships {
        // Only what a person wrote goes on from a relationship to another.
        guard let path = mapping.source,
          path == relationship.name
            || layout != nil && path.hasPrefix(relationship.name + "."),
          let now = destination.relationship(named: mapping.name, of: to)
        else { continue }
        let end = takers(of: other, through: mapping.through, in: now)
        guard !isToldByInverse(now, inverse, by: taker, to: end) else { continue }
        // What another relationship goes on from is not where the link leads.
        guard path == relationship.name else {
          ways.append(LinkWay(own: taken))
          continue
        }
        guard let end else { continue }
        ways.append(
          LinkWay(own: taken, ends: [try self.taken(by: end, of: other, row: otherRow)]))
      }
    }
    return ways
  }

  /// The mapping that takes objects of exactly an entity to where a relationship leads.
  private func takers(
    of entity: String, through: String?, in relationship: Relationship
  ) -> EntityMapping? {
    guard let through, !through.hasPrefix("IEM_") else {
      return mapping.mappings(fromSource: entity).first {
        $0.makes(relationship.destination, in: destination)
      }
    }
    return mapping.mapping(named: through).flatMap { $0.source == entity ? $0 : nil }
  }

  /// Whether a to-many adds nothing to the to-one at its other side, which is carried as well: that one's column
  /// holds the links.
  private func isToldByInverse(
    _ now: Relationship, _ inverse: Relationship?, by taker: EntityMapping, to other: EntityMapping?
  ) -> Bool {
    if let mapped = layout?.mapped {
      return mapped.toldByInverse.contains("\(taker.name).\(now.name)")
    }
    guard now.isToMany, let inverse, let back = now.inverse,
      destination.relationship(named: back, of: now.destination)?.isToMany == false
    else { return false }
    return other?.relationship(named: back)?.source == inverse.name
  }

  /// What expressions of a mapping read.
  private func expressionUses(of taker: EntityMapping, _ entity: String) throws -> Set<String> {
    let scope = ExpressionScope(store: data.store, entity: entity)
    return try taker.attributes.compactMap(\.expression).reduce(into: []) {
      $0.formUnion(
        try $1.compiled(in: scope, mapping: taker.name, property: nil).properties)
    }
  }

  /// Whether links are counted from this side: each pair once.
  private func isCounted(
    _ relationship: Relationship, of entity: String, _ inverse: Relationship?
  ) -> Bool {
    guard let inverse else { return true }
    if relationship.isToMany != inverse.isToMany { return !relationship.isToMany }
    guard relationship.name == inverse.name else { return relationship.name < inverse.name }
    let (own, other) = (
      source.declaringEntity(of: relationship.name, in: entity) ?? entity,
      source.declaringEntity(of: inverse.name, in: relationship.destination)
        ?? relationship.destination
    )
    return own <= other
  }

  /// Whether new objects take the place of those that a to-one references.
  private func isReplaced(_ relationship: Relationship, of entity: String) -> Bool {
    mapping.mappings(fromSource: entity).contains { entityMapping in
      guard let to = entityMapping.destination else { return false }
      return entityMapping.children.contains { child in
        destination.relationship(named: child.relationship, of: to)?.isToMany == false
          && entityMapping.relationships.contains {
            $0.name == child.relationship && $0.source == relationship.name
          }
      }
    }
  }

  /// Whether the lost links are of a to-one that new objects take the place of: those are reported.
  private func isReplaced(_ loss: Loss) -> Bool {
    guard let property = loss.property else { return false }
    return source.subtree(of: loss.entity).contains { entity in
      source.relationship(named: property, of: entity).map { isReplaced($0, of: entity) }
        ?? false
    }
  }
}

/// One way in which links are carried: what is true of their owners, and of what they lead to.
private struct LinkWay {
  /// SQL of the owner's row; `nil`: of all.
  var own: String?
  /// SQL of the other end's row, one of which has to hold; `nil`: whatever it is.
  var ends: [String?]?

  /// SQL of both; `nil`: it carries all.
  var sql: String? {
    let both = [own, ends.flatMap(\.anyTrue)].compactMap { $0 }
    return both.isEmpty ? nil : both.allTrue
  }
}

extension [String?] {
  /// SQL that is true where one of them is; `nil` where one of them always is.
  fileprivate var anyTrue: String? {
    let all = compactMap { $0 }
    guard all.count == count else { return nil }
    return all.isEmpty ? "0" : all.map { "(\($0))" }.joined(separator: " OR ")
  }
}
