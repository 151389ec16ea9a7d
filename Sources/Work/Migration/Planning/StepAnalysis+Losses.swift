import ManagedModel
import ManagedStore
import Mapping
import SQLite

/// Objects, values and links that nothing takes over, each once.
extension StepAnalysis {
  /// What is asked of rows goes to this connection, with the source's tables under a prefix.
  var connection: Connection { layout?.connection ?? store.connection }
  var prefix: String { layout == nil ? "" : "src." }

  /// What it would drop.
  func losses() throws -> [Loss] { try asking(allLosses) }

  private func allLosses() throws -> [Loss] {
    var losses: [Loss] = []
    let guess = layout == nil ? RenameGuess(mapping, from: source, to: destination) : nil
    for entity in source.entities.map(\.name) {
      if var loss = try objectLoss(entity) {
        loss.suggestion = guess?.newEntity(like: entity).flatMap {
          // One of the same name, which nothing can follow, is no renaming.
          $0 == entity
            ? nil
            : "If \($0) is the former “\(entity)”, give it the renaming identifier “\(entity)” in the model: its objects are kept then."
        }
        losses.append(loss)
      }
      let takers = takers(of: entity)
      guard !takers.isEmpty, !isKnownEmpty(entity) else { continue }
      for taker in takers where !isPolicy(taker) { losses += try cutNumbers(taker, of: entity) }
      // What code takes of an object is not known.
      guard !takers.contains(where: isPolicy) else { continue }
      losses += try valueLosses(entity, guess) + linkLosses(entity, guess)
    }
    losses += try schemas.crowdedLinks()
    for loss in try planned?.losses(mapping, from: source, to: destination) ?? []
    where !isReplaced(loss) { losses.append(loss) }
    return joined(losses)
  }

  private func isKnownEmpty(_ entity: String) -> Bool {
    store.table(of: entity).flatMap { store.facts?.rows(of: $0) } == 0
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

  func takers(of entity: String) -> [EntityMapping] {
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
      let scope = ExpressionScope(store: store, entity: entity, row: row)
      conditions.append(
        "ifnull((\(try own.compiled(in: scope, mapping: taker.name, property: nil).sql)), 0)")
    }
    return conditions.isEmpty ? nil : conditions.allTrue
  }

  /// SQL that is true of the source rows that go on; `nil` where all do.
  func kept(_ entity: String, row: String) throws -> String? {
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
    for entry in store.table(of: entity)?.attributes ?? [] where !entry.attribute.isDerived {
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
}

extension [String?] {
  /// SQL that is true where one of them is; `nil` where one of them always is.
  var anyTrue: String? {
    let all = compactMap { $0 }
    guard all.count == count else { return nil }
    return all.isEmpty ? "0" : all.map { "(\($0))" }.joined(separator: " OR ")
  }
}
