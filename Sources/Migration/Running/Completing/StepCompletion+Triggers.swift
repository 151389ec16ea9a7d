import ManagedModel
import ManagedStore
import SQLite

extension StepCompletion {
  /// Defines what SQL of this migration calls: functions for derived values, and stand-ins for those
  /// of triggers, which only Core Data has.
  ///
  /// Before anything runs: SQLite defines no function anew while an R-tree has a node open.
  func defineFunctions() throws {
    try history?.define(on: connection)
    try connection.defineTriggerFunctions(
      in: source.triggerStatements + destination.triggerStatements)
  }

  /// Makes the triggers that the destination model asks for. Those that only the source model asked
  /// for are gone; the app's own, of which neither knows, come back.
  func makeTriggers() throws {
    let former = source.triggerStatements
    let database = try DatabaseTables(connection)
    let before = source.schema.triggerGroups
    var made: [SchemaStatement] = []
    var claimed: Set<String> = []
    for group in destination.triggerGroups {
      let own = former.filter { group.owns($0.name, on: $0.table) }
      claimed.formUnion(own.map(\.name))
      let same = before.first { $0.entity == group.entity && $0.attribute == group.attribute }
      // Where nothing that they depend on changes, those that Core Data wrote are better than ours.
      let stays =
        !own.isEmpty
        && own.allSatisfy { SchemaText.fits($0.sql, database, writtenFor: source.database) }
      made += stays && isUnchanged(group, since: same) ? own : group.statements
    }
    let trees = destination.rtreeIndexes
    let formerTrees = source.schema.rtreeIndexes
    // Without R-trees in this SQLite their tables are as they were, and so are their triggers.
    if connection.hasRTrees {
      for tree in trees {
        let own = former.filter { tree.triggers.map(\.name).contains($0.name) }
        let stays = formerTrees.contains(tree) && own.count == tree.triggers.count
        made += stays ? own : tree.triggers
      }
      claimed.formUnion((trees + formerTrees).flatMap(\.triggers).map(\.name))
    }
    for trigger in former where !claimed.contains(trigger.name) {
      guard !before.contains(where: { $0.owns(trigger.name, on: trigger.table) }) else { continue }
      // SQLite looks at a trigger's columns only when it runs: one over a column that is gone would
      // make every later write fail, so it is not put back.
      if database.contains(trigger.table),
        SchemaText.fits(trigger.sql, database, writtenFor: source.database)
      {
        made.append(trigger)
      }
    }
    for trigger in made { try connection.create(.trigger, trigger.sql) }
  }

  /// Whether an attribute is kept up just as before: by the same statements, or where none are
  /// known, by the same expression over the same entity numbers.
  private func isUnchanged(_ group: TriggerGroup, since former: TriggerGroup?) -> Bool {
    guard let former, former.statements == group.statements else { return false }
    guard group.statements.isEmpty else { return true }
    func derivation(_ model: Model) -> Attribute.Derivation? {
      model.entity(named: group.entity)?.attribute(named: group.attribute)?.derivation
    }
    return derivation(source.model) == derivation(step.destination)
      && schemas.renumbering.allSatisfy { $0.old == $0.new }
  }
}

extension Store {
  /// The triggers that are in the store, by name.
  package var triggerStatements: [SchemaStatement] {
    database.triggers.sorted(by: { $0.key < $1.key }).compactMap { name, table in
      database.sql[name].map { SchemaStatement(name: name, table: table, sql: $0) }
    }
  }
}

extension Connection {
  /// Stand-ins for the functions that triggers call and only Core Data has: they give NULL.
  package func defineTriggerFunctions(in triggers: [SchemaStatement]) throws {
    // Functions that only Core Data has.
    let words = Set(triggers.flatMap { SchemaText.words(of: $0.sql) })
    for name in words where name.hasPrefix("NSCoreData") {
      try defineNullFunction(name)
    }
  }
}
