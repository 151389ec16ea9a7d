import ManagedModel
import ManagedStore
import Mapping

extension StepSchemas {
  /// The join table of the source that holds the same links.
  func sourceJoin(of join: StoreSchema.JoinTable) -> StoreSchema.JoinTable? {
    func find(_ side: StoreSchema.JoinTable.Side) -> StoreSchema.JoinTable? {
      mapping.origins(of: side.relationship, in: side.entity, destinationModel).lazy
        .compactMap { store.schema.join(of: $0.name, in: $0.entity) }.first
    }
    return find(join.side) ?? find(join.otherSide)
  }

  /// Whether the former table's first column holds keys of the same side.
  func isStraight(_ join: StoreSchema.JoinTable, _ former: StoreSchema.JoinTable) -> Bool {
    if join.isReflexive { return true }
    if let origin = mapping.origins(of: join.relationship, in: join.entity, destinationModel).first
    {
      return former.relationship == origin.name
        && sourceModel.isKind(origin.entity, of: former.entity)
    }
    guard
      let origin = mapping.origins(of: join.inverse, in: join.inverseEntity, destinationModel).first
    else { return true }
    return former.inverse == origin.name
      && sourceModel.isKind(origin.entity, of: former.inverseEntity)
  }

  /// SQL for the links (owner, destination, position, inverse position) of a destination relationship
  /// as the source keeps them; a position is NULL if there is none.
  ///
  /// A relationship that moved up comes from each of the subentities that had it.
  func links(of relationship: String, in entity: String) -> String? {
    var selects: [String] = []
    for origin in mapping.origins(of: relationship, in: entity, destinationModel) {
      guard let select = formerLinks(origin, to: relationship, in: entity),
        !selects.contains(select)
      else { continue }
      selects.append(select)
    }
    return selects.isEmpty ? nil : selects.joined(separator: " UNION ALL ")
  }

  private func formerLinks(
    _ origin: (entity: String, name: String), to relationship: String, in entity: String
  ) -> String? {
    let declarer = sourceModel.declaringEntity(of: origin.name, in: origin.entity) ?? origin.entity
    return store.table(of: origin.entity)?.storage(of: origin.name)?.allLinks(
      in: "src.", of: store.table(of: declarer)?.numbers,
      bothWays: !isReflexive(relationship, of: entity))
  }

  /// Whether a destination relationship is its own inverse, and so keeps each pair once.
  func isReflexive(_ relationship: String, of entity: String) -> Bool {
    destination.storage(of: relationship, in: entity)?.kind == .reflexive
  }
}

extension MappingModel {
  /// Where a destination relationship comes from: the mappings of the entity and of those below it
  /// that carry it, each as a source entity and the relationship's name there.
  func origins(
    of relationship: String, in entity: String, _ model: Model
  ) -> [(entity: String, name: String)] {
    model.subtree(of: entity).compactMap { name in
      guard let entityMapping = mapping(toDestination: name), let from = entityMapping.source,
        let former = entityMapping.relationship(named: relationship)?.source
      else { return nil }
      return (from, former)
    }
  }
}

extension StepSchemas {
  /// Whether a to-one's columns are filled when all objects are there.
  func isLoose(_ relationship: String, of declarer: String) -> Bool {
    loose.contains { $0.contains(relationship, of: declarer) }
  }

  /// Links of an inferred step's loose one-to-ones, in the order in which they are set.
  var looseLinks: [LinkProgram] {
    guard !loose.isEmpty else { return [] }
    return mapping.entityMappings.flatMap { entityMapping -> [LinkProgram] in
      guard let from = entityMapping.source, let to = entityMapping.destination,
        let table = store.table(of: from), store.database.contains(table.table)
      else { return [] }
      return loose.flatMap(\.sides).compactMap { side -> LinkProgram? in
        guard destinationModel.isKind(to, of: side.entity),
          let former = entityMapping.relationship(named: side.name)?.source,
          table.toOneColumn(of: former) != nil,
          let key = key(of: side.name, entityMapping, table),
          let kind = sourceModel.relationship(named: former, of: from)?.destination,
          let other = store.table(of: kind)
        else { return nil }
        return LinkProgram(
          mapping: entityMapping.name, entity: side.entity, relationship: side.name,
          origin: .row(key), table: table.table,
          conditions: [RowCondition("s.Z_ENT = \(table.entityID)", entity: table.entityID)],
          partner: .init(table: other.table, entities: other.numbers))
      }
    }
  }
}

/// What of the source's structure a step leaves as it is, and what it makes as a fresh store has it.
extension StepSchemas {
  /// CREATE TABLE of a hierarchy: the source's own text where nothing about the table changes.
  func sql(of table: StoreSchema.Table) -> String { keptSQL(of: table) ?? table.sql }

  /// CREATE TABLE of a join table: the source's own text where nothing about the table changes.
  func sql(of join: StoreSchema.JoinTable) -> String { keptSQL(of: join) ?? join.sql }

  /// The text in sqlite_master of a table whose columns both models ask for alike; `nil` for one that
  /// is new, or changes.
  ///
  /// Apps, and programs of others that read the store, know these tables by their text.
  func keptSQL(of table: StoreSchema.Table) -> String? {
    guard let former = store.schema.tables.first(where: { $0.name == table.name }),
      let actual = store.database.tables[table.name]
    else { return nil }
    let present = Dictionary(first: actual.map { ($0.name, $0.type.uppercased()) })
    let wanted = Set(table.columns.map(\.name))
    // A damaged text can have lost the key: such a table is made as a fresh store has it.
    guard actual.contains(where: { $0.name == "Z_PK" && $0.isPrimaryKey }),
      ["Z_PK", "Z_ENT", "Z_OPT"].allSatisfy({ present[$0] == "INTEGER" }),
      table.columns.allSatisfy({ present[$0.name] == $0.type }),
      !present.keys.contains(where: DeferredColumn.isName),
      former.columns.allSatisfy({ wanted.contains($0.name) || present[$0.name] == nil }),
      let sql = store.database.sql[table.name]
    else { return nil }
    // Frameworks up to 851 wrote a uniqueness constraint into the table.
    guard
      !Self.hasConstraint(sql)
        || constraints(on: table.name) == Self.constraints(of: store.schema, on: table.name)
    else { return nil }
    return sql
  }

  func keptSQL(of join: StoreSchema.JoinTable) -> String? {
    // Another relationship's table can have had the name.
    guard sourceJoin(of: join)?.name == join.name,
      store.schema.joins.contains(where: {
        $0.name == join.name && Set($0.columns) == Set(join.columns)
      }),
      Set(join.columns) == store.database.columns(of: join.name)
    else { return nil }
    return store.database.sql[join.name]
  }

  /// Columns of a kept table that neither model knows: an app's own.
  func unknownColumns(of table: StoreSchema.Table) -> [String] {
    guard keptSQL(of: table) != nil else { return [] }
    let known = Set(table.columns.map(\.name)).union(["Z_PK", "Z_ENT", "Z_OPT"])
    return store.database.columns(of: table.name).subtracting(known).sorted()
  }

  /// Whether a column that the source's model does not know goes on with its values.
  func keepsUnknown(
    _ column: String, of table: String, _ strategy: MigrationPlan.Strategy
  ) -> Bool {
    guard let kept = destination.tables.first(where: { $0.name == table }) else { return false }
    if unknownColumns(of: kept).contains(column) { return true }
    guard strategy == .inPlace, case .alter = work(for: kept, rows(for: kept)) else { return false }
    return true
  }

  /// Names of the destination's tables that stay as they are in the source.
  var keptTables: Set<String> {
    Set(
      destination.tables.filter { keptSQL(of: $0) != nil }.map(\.name)
        + destination.joins.filter { keptSQL(of: $0) != nil }.map(\.name))
  }

  /// Whether a table's text holds a uniqueness constraint.
  static func hasConstraint(_ sql: String) -> Bool { sql.contains(" UNIQUE") }

  private func constraints(on table: String) -> Set<String> {
    Self.constraints(of: destination, on: table)
  }

  private static func constraints(of schema: StoreSchema, on table: String) -> Set<String> {
    Set(
      schema.indexStatements().map(\.sql).filter {
        $0.hasPrefix("CREATE UNIQUE INDEX") && $0.contains(" ON \(StoreSchema.name(table)) (")
      })
  }
}

/// What CloudKit mirroring has to know about a step.
extension StepSchemas {
  /// Whether the mirroring has to fetch everything again: the store is mirrored, and a table was added, altered or
  /// removed, or entity IDs changed.
  ///
  /// Core Data notes that in the same cases (cloudkit.md).
  var needsZoneFetch: Bool {
    guard store.isMirrored else { return false }
    let kept = keptTables
    let names = Set(destination.tables.map(\.name) + destination.joins.map(\.name))
    let former = store.schema.tables.map(\.name) + store.schema.joins.map(\.name)
    return !keepsNumbers || !names.isSubset(of: kept) || !names.isSuperset(of: former)
  }
}

extension StepSchemas {
  /// The mirroring's tables whose rows name objects by entity ID and key.
  var numberedMirrorTables: [String] {
    store.database.tables.keys.filter {
      $0.hasPrefix("ANSCK") && store.database.columns(of: $0).contains("ZENTITYID")
    }.sorted()
  }

  /// A side of a many-to-many whose links the mirroring keeps by name, and what it is called afterwards.
  struct MirroredLink {
    var entity: String
    var relationship: String
    /// `nil` for a relationship that goes.
    var now: (entity: String, relationship: String)?
  }

  /// The sides of many-to-manys that go or get another name.
  var mirroredLinks: [MirroredLink] {
    guard
      store.database.columns(of: "ANSCKMIRROREDRELATIONSHIP").isSuperset(of: [
        "ZCDENTITYNAME", "ZRELATIONSHIPNAME",
      ])
    else { return [] }
    return store.schema.joins.flatMap { join in
      [(join.entity, join.relationship), (join.inverseEntity, join.inverse)]
    }.compactMap { entity, relationship in
      let to = mapping.mapping(fromSource: entity)
      guard let name = to?.destination,
        let now = to?.relationships.first(where: { $0.source == relationship })?.name
      else { return MirroredLink(entity: entity, relationship: relationship) }
      guard name != entity || now != relationship else { return nil }
      return MirroredLink(entity: entity, relationship: relationship, now: (name, now))
    }
  }
}

/// Something that a step calls by another name.
struct Renaming: Equatable {
  /// `Entity` or `Entity.property` before.
  var from: String
  /// The same afterwards.
  var to: String
}

extension MappingModel {
  /// Entities and properties that get another name, each once, where it is declared.
  func renamings(from source: Model, to destination: Model) -> [Renaming] {
    var found: [Renaming] = []
    func add(_ former: String, _ name: String, _ entityMapping: EntityMapping) {
      guard let from = entityMapping.source, let to = entityMapping.destination, former != name,
        let declared = source.declaringEntity(of: former, in: from),
        let declaring = destination.declaringEntity(of: name, in: to)
      else { return }
      let renaming = Renaming(from: "\(declared).\(former)", to: "\(declaring).\(name)")
      if !found.contains(renaming) { found.append(renaming) }
    }
    for entityMapping in entityMappings {
      guard let from = entityMapping.source, let to = entityMapping.destination else { continue }
      if from != to, destination.entity(named: from) == nil {
        found.append(Renaming(from: from, to: to))
      }
      for attribute in entityMapping.attributes {
        if let former = attribute.source { add(former, attribute.name, entityMapping) }
      }
      for relationship in entityMapping.relationships where relationship.through == nil {
        if let former = relationship.source { add(former, relationship.name, entityMapping) }
      }
    }
    return found
  }
}

/// What renaming means for a store that is mirrored to CloudKit.
enum MirroredRenaming {
  /// A sentence; `nil` where nothing is renamed.
  static func sentence(_ renamings: [Renaming]) -> String? {
    guard !renamings.isEmpty else { return nil }
    let names = renamings.prefix(5).map { "\($0.from) to \($0.to)" }.joined(separator: ", ")
    let rest = renamings.count > 5 ? " and \(renamings.count - 5) more" : ""
    return
      "The app’s own lightweight migration refuses to rename in a store that is mirrored to CloudKit (134110): \(names)\(rest). Records in iCloud keep the old \(renamings.count == 1 ? "name" : "names")."
  }
}
