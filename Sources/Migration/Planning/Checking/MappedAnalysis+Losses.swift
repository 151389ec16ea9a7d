import ManagedModel
import ManagedStore
import SQLite

extension MappedAnalysis {
  func losses() throws -> [Loss] {
    var losses: [Loss] = []
    for entity in step.source.entities where !entity.isAbstract {
      if let loss = try objectLoss(entity.name) { losses.append(loss) }
      let takers = takers(of: entity.name)
      guard !takers.isEmpty, !takers.contains(where: mapped.isPolicy) else { continue }
      losses += try valueLosses(entity.name) + linkLosses(entity.name)
    }
    for row in mapped.rows {
      losses += try step.mapping.evaluating(row, schemas.destination, on: connection) {
        try cutNumbers(of: row)
      }
    }
    losses += try schemas.crowdedLinks()
    for loss in try planned?.losses(step.mapping, from: step.source, to: step.destination) ?? []
    where !isReplaced(loss) { losses.append(loss) }
    return Self.joined(losses, step.source)
  }

  // MARK: Which objects go on

  private func takers(of entity: String) -> [EntityMapping] {
    step.mapping.mappings(fromSource: entity).filter { $0.destination != nil }
  }

  /// SQL that is true of the source rows that a mapping takes; `nil`: it takes all of its entity, or a
  /// policy says which.
  private func taken(by taker: EntityMapping, of entity: String, row: String) throws -> String? {
    guard !mapped.isPolicy(taker) else { return nil }
    var conditions: [String] = []
    // One that makes an object of each different value keeps only the first of each.
    if let groups = mapped.groups[taker.name] {
      conditions.append("\(row).Z_PK IN (SELECT source FROM temp.\(groups))")
    }
    if let own = taker.condition {
      let scope = ExpressionScope(store: store, entity: entity, row: row)
      conditions.append(
        "ifnull((\(try own.compiled(in: scope, mapping: taker.name, property: nil).sql)), 0)")
    }
    return conditions.isEmpty ? nil : conditions.allTrue
  }

  /// SQL that is true of the source rows that go on; `nil` where all do.
  private func kept(_ entity: String, row: String) throws -> String? {
    let takers = takers(of: entity)
    guard !takers.isEmpty else {
      return step.mapping.mappings(fromSource: entity).contains(where: mapped.isPolicy) ? nil : "0"
    }
    return try takers.map { try taken(by: $0, of: entity, row: row) }.anyTrue
  }

  /// Objects that no mapping takes.
  private func objectLoss(_ entity: String) throws -> Loss? {
    guard let kept = try kept(entity, row: "t") else { return nil }
    let takers = takers(of: entity)
    let removals = step.mapping.mappings(fromSource: entity).filter { $0.destination == nil }
    // Conditions may call functions that only a migration's connection has.
    guard let rows = data.rows(of: entity, where: kept == "0" ? [] : ["NOT (\(kept))"], in: "src.")
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
  private func valueLosses(_ entity: String) throws -> [Loss] {
    let readers = try readers(of: entity)
    let kept = try kept(entity, row: "t")
    var losses: [Loss] = []
    for entry in store.table(of: entity)?.attributes ?? [] where !entry.attribute.isDerived {
      let name = entry.attribute.name
      var conditions = ["t.\(quoted(entry.column)) IS NOT NULL"]
      if let own = readers[name] {
        guard let read = own.anyTrue else { continue }
        conditions.append("NOT (\(read))")
      }
      if let kept { conditions.append(kept) }
      guard let rows = data.rows(of: entity, where: conditions, in: "src.") else { continue }
      let lost: FoundRows
      do {
        lost = try FoundRows(rows, key: "t.Z_PK", of: entity, on: connection)
      } catch let error as SQLiteError where error.isEvaluation {
        // The checks meet it again, and name the property that it is for.
        continue
      }
      guard lost.count > 0 else { continue }
      losses.append(
        Loss(
          entity: entity, property: name, values: lost.count,
          samples: conditions.count == 1
            ? try data.samples(of: name, in: entity)
            : try data.samples(of: name, in: entity, where: "t.Z_PK IN (\(lost.keys.list))")))
    }
    return losses
  }

  /// Who reads each attribute of an entity: SQL of a row `t` that is true where something comes of it; `nil`
  /// where something always does.
  private func readers(of entity: String) throws -> [String: [String?]] {
    var readers: [String: [String?]] = [:]
    for taker in takers(of: entity) {
      let taken = try taken(by: taker, of: entity, row: "t")
      // What one object is made for is the same in all that it is made of.
      let shared: String? =
        if case .listed(let sources)? = mapped.keys[taker.name] {
          "t.Z_PK IN (SELECT source FROM temp.\(sources))"
        } else { nil }
      for name in mapped.treeUses[taker.name] ?? [] { readers[name, default: []].append(taken) }
      let scope = ExpressionScope(store: store, entity: entity, row: "t")
      for attributeMapping in taker.attributes {
        if let copied = attributeMapping.source {
          let isShared = shared != nil && taker.distinct?.text == copied
          readers[copied, default: []].append(isShared ? shared : taken)
        }
        guard let expression = attributeMapping.expression else { continue }
        let compiled = try expression.compiled(
          in: scope, mapping: taker.name, property: attributeMapping.name,
          attribute: taker.destination.flatMap {
            step.destination.storedAttribute(named: attributeMapping.name, of: $0)
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

  // MARK: Links

  /// Links between objects that both go on, which neither the relationship nor its inverse carries.
  private func linkLosses(_ entity: String) throws -> [Loss] {
    try step.source.relationships(of: entity).compactMap { relationship in
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
          let other = row[2].integer.flatMap { store.entityNames[$0] } ?? relationship.destination
          return "\(ObjectID(entity: entity, key: owner)) → \(ObjectID(entity: other, key: key))"
        })
    }
  }

  /// `FROM … WHERE …` of the links `e` that are lost, counted where the plan counts them; `nil` where none
  /// can be.
  private func lostLinks(_ relationship: Relationship, of entity: String) throws -> String? {
    var others = step.source.subtree(of: relationship.destination).filter {
      !takers(of: $0).isEmpty
    }
    let inverse = relationship.inverse.flatMap {
      step.source.relationship(named: $0, of: relationship.destination)
    }
    if !isCounted(relationship, of: entity, inverse) {
      // Of what a policy takes nothing is counted: these links are counted from here.
      others.removeAll { !takers(of: $0).contains(where: mapped.isPolicy) }
    }
    let places = data.sides(of: relationship, of: entity, inverse)
    var lost: [String] = []
    var carried: [String: [String]] = [:]
    for other in others {
      guard let number = store.table(of: other)?.entityID else { continue }
      let isOther = "d.Z_ENT = \(number)"
      let here = try ways(relationship.name, of: entity, "o", to: other, "d")
      let there = try inverse.map { try ways($0.name, of: other, "d", to: entity, "o") } ?? []
      // What one side takes whole, of links that all count as its own, is not asked for.
      let (isHereWhole, isThereWhole) = (here.anyTrue == nil, there.anyTrue == nil)
      if isHereWhole && (places.isAlwaysHere || isThereWhole)
        || isThereWhole && places.isAlwaysThere
      {
        continue
      }
      lost.append([isOther, try kept(other, row: "d")].compactMap { $0 }.allTrue)
      for (side, ways) in [("here", here), ("there", there)] where !ways.isEmpty {
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
      relationship, of: entity, inverse, to: others, in: "src.", where: conditions)
  }

  /// How links of a relationship from an entity to another are carried: SQL of the rows of both ends each,
  /// `nil` where all are.
  private func ways(
    _ relationship: String, of entity: String, _ row: String, to other: String, _ otherRow: String
  ) throws -> [String?] {
    var ways: [String?] = []
    for taker in takers(of: entity) {
      guard let to = taker.destination else { continue }
      let taken = try taken(by: taker, of: entity, row: row)
      let uses = try expressionUses(of: taker, entity).union(mapped.treeUses[taker.name] ?? [])
      if uses.contains(relationship) { ways.append(taken) }
      for mapping in taker.relationships {
        guard let path = mapping.source?.split(separator: "."),
          path.first.map(String.init) == relationship,
          !mapped.toldByInverse.contains("\(taker.name).\(mapping.name)"),
          let now = step.destination.relationship(named: mapping.name, of: to)
        else { continue }
        // What another relationship goes on from is not where the link leads.
        guard path.count == 1 else {
          ways.append(taken)
          continue
        }
        let ends = try mapped.takers(
          of: other, through: mapping.through, in: now, of: taker
        ).filter { $0.source == other }.map {
          try self.taken(by: $0, of: other, row: otherRow)
        }
        guard !ends.isEmpty else { continue }
        let both = [taken, ends.anyTrue].compactMap { $0 }
        ways.append(both.isEmpty ? nil : both.allTrue)
      }
    }
    return ways
  }

  /// What expressions of a mapping read.
  private func expressionUses(of taker: EntityMapping, _ entity: String) throws -> Set<String> {
    let scope = ExpressionScope(store: store, entity: entity)
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
      step.source.declaringEntity(of: relationship.name, in: entity) ?? entity,
      step.source.declaringEntity(of: inverse.name, in: relationship.destination)
        ?? relationship.destination
    )
    return own <= other
  }

  /// Whether new objects take the place of those that a to-one references.
  private func isReplaced(_ relationship: Relationship, of entity: String) -> Bool {
    step.mapping.mappings(fromSource: entity).contains { entityMapping in
      guard let to = entityMapping.destination else { return false }
      return entityMapping.children.contains { child in
        step.destination.relationship(named: child.relationship, of: to)?.isToMany == false
          && entityMapping.relationships.contains {
            $0.name == child.relationship && $0.source == relationship.name
          }
      }
    }
  }

  /// Whether the lost links are of a to-one that new objects take the place of: those are reported.
  private func isReplaced(_ loss: Loss) -> Bool {
    guard let property = loss.property else { return false }
    return step.source.subtree(of: loss.entity).contains { entity in
      step.source.relationship(named: property, of: entity).map { isReplaced($0, of: entity) }
        ?? false
    }
  }

  /// Subentities lose an inherited property together, where it is declared.
  private static func joined(_ losses: [Loss], _ model: Model) -> [Loss] {
    var all: [Loss] = []
    for var loss in losses {
      if let property = loss.property {
        loss.entity = model.declaringEntity(of: property, in: loss.entity) ?? loss.entity
      }
      if let index = all.firstIndex(where: { $0.isSame(as: loss) }) {
        all[index].values += loss.values
        if all[index].samples.isEmpty { all[index].samples = loss.samples }
      } else {
        all.append(loss)
      }
    }
    return all
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
