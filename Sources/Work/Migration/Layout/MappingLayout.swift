import ManagedModel
import ManagedStore
import Mapping
import SQLite

/// A mapping model laid out as SQL: which rows and links each mapping gives the new store.
///
/// Everything is a SELECT over the source, attached as `src`, and over temporary tables that are
/// made of it alone; so it can be asked for in any order, and asked again to compare.
struct MappingLayout {
  private let schemas: StepSchemas
  let store: Store
  let mapping: MappingModel
  let model: Model
  let schema: StoreSchema
  /// The key that each mapping (by name) gives what it makes.
  private(set) var keys: [String: KeyRule] = [:]
  private(set) var rows: [RowProgram] = []
  /// The place of each mapping's own rows, by its name.
  private var places: [String: Int] = [:]
  private(set) var links: [LinkProgram] = []
  /// Links to objects that are made along with others.
  private var treeLinks: [LinkProgram] = []
  /// Mappings that policies carry out: their rows are made one by one.
  let policyMappings: Set<String>
  /// Where policies may begin to give out keys, by root entity.
  private(set) var bounds: [String: Int64] = [:]
  /// Source properties that the mapping reads, by source entity.
  private(set) var used: [String: Set<String>] = [:]
  /// Those of them that expressions, conditions and groups read, by name of the mapping.
  private(set) var computedFrom: [String: Set<String>] = [:]
  /// Source properties that objects made along with others are computed from, by name of the mapping.
  private(set) var treeUses: [String: Set<String>] = [:]
  /// To-manys whose links only the inverse writes, by mapping and name.
  var toldByInverse: Set<String> = []
  /// Mappings (by name) whose objects get other keys than their sources have.
  var renumbered: Set<String> { Set(keys.filter { $0.value.distance != 0 }.keys) }
  var groups: [String: String] = [:]

  /// - Parameters:
  ///   - connection: has the source attached as `src`; temporary tables are made in it.
  ///   - policies: names of mappings that run object by object.
  /// - Throws: ``CoreDataError`` for an expression that cannot be compiled, with its place.
  init(_ schemas: StepSchemas, connection: Connection, policies: Set<String> = []) throws {
    self.schemas = schemas
    store = schemas.store
    mapping = schemas.mapping
    model = schemas.destinationModel
    schema = schemas.destination
    policyMappings = policies
    let (store, mapping) = (store, mapping)
    var planning = try KeyPlanning(store: store)
    // The entity's own objects first: those that join them come after the last of their keys.
    let own = mapping.entityMappings.filter { isOfOneEntity($0) }
    for entityMapping in own + mapping.entityMappings.filter({ !isOfOneEntity($0) }) {
      try assignKeys(to: entityMapping, &planning, connection)
    }
    for entityMapping in mapping.entityMappings where !policies.contains(entityMapping.name) {
      try addRows(of: entityMapping, planning: &planning, connection)
    }
    for entityMapping in mapping.entityMappings { try addLinks(of: entityMapping) }
    // Objects that are made take the place of those that a to-one referenced.
    links += treeLinks
    bounds = Dictionary(first: schema.tables.map { ($0.root, planning.bound(of: $0.root)) })
  }

  /// Whether source and destination are the same entity, by its name or its renaming identifier.
  private func isOfOneEntity(_ entityMapping: EntityMapping) -> Bool {
    guard let from = entityMapping.source, let to = entityMapping.destination else { return false }
    return from == to || from == model.entity(named: to)?.canonicalName
      || store.model.entity(named: from)?.canonicalName == model.entity(named: to)?.canonicalName
  }

  func isPolicy(_ entityMapping: EntityMapping) -> Bool {
    policyMappings.contains(entityMapping.name)
  }

  /// The name of the temporary table that remembers what a policy made of what.
  func associations(of mappingName: String) -> String {
    "made_\(mapping.entityMappings.firstIndex { $0.name == mappingName } ?? 0)"
  }

  private mutating func assignKeys(
    to entityMapping: EntityMapping, _ planning: inout KeyPlanning, _ connection: Connection
  ) throws {
    guard let from = entityMapping.source, let to = entityMapping.destination else { return }
    let root = model.root(of: to)
    guard model.entity(named: to) != nil, store.model.entity(named: from) != nil else {
      throw CoreDataError(
        .refused, code: .migrationMissingMappingModel,
        "the mapping “\(entityMapping.name)” is not for these models",
        entity: model.entity(named: to) == nil ? to : from)
    }
    if isPolicy(entityMapping) {
      guard entityMapping.children.isEmpty, entityMapping.distinct == nil else {
        throw CoreDataError(
          .usage,
          "a Swift policy carries out “\(entityMapping.name)”, so its “\(entityMapping.distinct == nil ? "create" : "distinct")” has no effect",
          entity: to, hint: "Leave one of them out.")
      }
      // Room for the keys of the sources; what a policy makes beyond that comes after.
      keys[entityMapping.name] = .associated(
        associations(of: entityMapping.name),
        entities: model.subtree(of: root).compactMap { schema.numbers[$0] },
        moved: try planning.offset(from: from, into: root))
    } else if let distinct = entityMapping.distinct {
      try group(entityMapping, from: from, by: distinct, root: root, &planning, connection)
    } else {
      keys[entityMapping.name] = .moved(try planning.offset(from: from, into: root))
    }
  }

  /// The same where each object that these mappings take became one object, under its own key moved.
  func knowingKeys(of mappings: Set<String>) -> MappingLayout {
    var copy = self
    for name in mappings {
      copy.keys[name] = keys[name].map { $0.distance.map { .moved($0) } ?? $0 }
    }
    return copy
  }

  /// Makes a row of each different value, and remembers which source went to which.
  private mutating func group(
    _ entityMapping: EntityMapping, from: String, by distinct: ValueExpression, root: String,
    _ planning: inout KeyPlanning, _ connection: Connection
  ) throws {
    let index = keys.count
    let (groups, sources) = ("groups_\(index)", "sources_\(index)")
    let value = try compile(distinct, of: from, in: entityMapping).sql
    let rows = try sourceRows(of: entityMapping, from: from)
    let filter = (rows.conditions + [RowCondition("\(value) IS NOT NULL")]).allTrue
    let base = planning.bound(of: root)
    // What mappings before this one made of equal values is what these become, too.
    let earlier = mapping.entityMappings.filter {
      $0.destination == entityMapping.destination && $0.distinct == distinct
    }.compactMap { self.groups[$0.name] }
    let isNew = earlier.map { " AND \(value) NOT IN (SELECT value FROM temp.\($0))" }.joined()
    try entityMapping.evaluating {
      try connection.execute(
        """
        CREATE TEMP TABLE \(groups) (key INTEGER PRIMARY KEY, source INTEGER, value);
        INSERT INTO temp.\(groups) SELECT \(base) + row_number() OVER (ORDER BY min(s.Z_PK)),
          min(s.Z_PK), \(value) FROM \(rows.from) WHERE \(filter)\(isNew) GROUP BY \(value);
        CREATE UNIQUE INDEX temp.\(groups)_value ON \(groups) (value);
        CREATE TEMP TABLE \(sources) (source INTEGER PRIMARY KEY, destination INTEGER);
        """)
      for groups in earlier + [groups] {
        try connection.execute(
          """
          INSERT INTO temp.\(sources) SELECT s.Z_PK, g.key FROM \(rows.from)
          JOIN temp.\(groups) g ON g.value = \(value) WHERE \(filter)
          """)
      }
    }
    let last = try connection.value("SELECT max(key) FROM temp.\(groups)")?.integer ?? base
    planning.take(upTo: last, of: root)
    keys[entityMapping.name] = .listed(sources)
    self.groups[entityMapping.name] = groups
  }

  private mutating func addRows(
    of entityMapping: EntityMapping, planning: inout KeyPlanning, _ connection: Connection
  ) throws {
    guard let from = entityMapping.source, let to = entityMapping.destination,
      let table = schema.table(of: to), let number = schema.numbers[to],
      let key = keys[entityMapping.name], let sourceTable = store.table(of: from)
    else { return }
    guard model.entity(named: to)?.isAbstract == false || entityMapping.source == nil else {
      return
    }
    if entityMapping.condition == nil, entityMapping.children.isEmpty,
      !store.database.contains(sourceTable.table)
    {
      return
    }
    let entity = ColumnProgram("Z_ENT", .constant(.integer(number)))
    let fresh = ColumnProgram("Z_OPT", .constant(.integer(1)))
    var row: RowProgram
    if let groups = groups[entityMapping.name] {
      row = RowProgram(
        mapping: entityMapping.name, entity: to, table: table.name,
        source: .groups(groups, of: sourceTable.table),
        columns: [ColumnProgram("Z_PK", .lookup("g.key", reading: [])), entity, fresh])
    } else {
      row = RowProgram(
        mapping: entityMapping.name, entity: to, table: table.name,
        source: .objects(of: sourceTable.table),
        conditions: try conditions(of: entityMapping, from: from, row: "s"),
        columns: [
          ColumnProgram("Z_PK", key.destination(of: .column("Z_PK"))), entity,
          key == .moved(0) ? ColumnProgram("Z_OPT", .column("Z_OPT")) : fresh,
        ])
    }
    for column in table.columns {
      let derived = schemas.derivedFilling(for: column, in: entityMapping, row: "d")
      let value =
        try derived.map { .derived($0, former: .empty) }
        ?? value(of: column.content, in: entityMapping, from: from, to: to)
      row.columns.append(ColumnProgram(column.name, value))
    }
    // What an app added to a table that stays as it is.
    if groups[entityMapping.name] == nil, sourceTable.table == table.name {
      row.columns += schemas.unknownColumns(of: table).map { ColumnProgram($0, .column($0)) }
    }
    if let condition = entityMapping.condition {
      let scope = ExpressionScope(store: store, entity: from)
      computedFrom[entityMapping.name, default: []].formUnion(
        try condition.compiled(in: scope, mapping: entityMapping.name, property: nil).properties)
    }
    places[entityMapping.name] = places[entityMapping.name] ?? rows.count
    rows.append(row)
    let before = used[from]
    used[from] = nil
    for child in entityMapping.children {
      try addTree(
        child, of: entityMapping, parent: row, parentEntity: to, planning: &planning, connection)
    }
    treeUses[entityMapping.name] = used[from]
    use(before ?? [], of: from)
  }

  mutating func append(_ row: RowProgram) { rows.append(row) }

  /// The rows of a mapping's own objects.
  func row(of entityMapping: EntityMapping) -> RowProgram? {
    places[entityMapping.name].map { rows[$0] }
  }

  /// Says of rows that a to-one's columns are filled when all objects are there.
  mutating func setLater(_ relationship: String, of entity: String, in parent: RowProgram) {
    guard
      let index = rows.lastIndex(where: {
        $0.mapping == parent.mapping && $0.entity == entity && $0.source == parent.source
      })
    else { return }
    let declarer = model.declaringEntity(of: relationship, in: entity) ?? entity
    for content: StoreSchema.Content in [
      .toOne(entity: declarer, name: relationship),
      .toOneEntity(entity: declarer, name: relationship),
    ] {
      guard let column = schema.table(of: entity)?.column(content)?.name,
        let place = rows[index].columns.firstIndex(where: { $0.name == column })
      else { continue }
      let value = rows[index].columns[place].value
      if !value.isLater { rows[index].columns[place].value = .later(first: value) }
    }
  }

  mutating func append(_ link: LinkProgram) { links.append(link) }
  mutating func append(tree link: LinkProgram) { treeLinks.append(link) }

  func isLoose(_ relationship: String, of entity: String) -> Bool {
    model.declaringEntity(of: relationship, in: entity).map {
      schemas.isLoose(relationship, of: $0)
    } ?? false
  }
  mutating func use(_ properties: Set<String>, of entity: String) {
    used[entity, default: []].formUnion(properties)
  }

  /// FROM and conditions of the source objects that a mapping takes, as `s`.
  func sourceRows(
    of entityMapping: EntityMapping, from: String
  ) throws -> (from: String, conditions: [RowCondition]) {
    guard let table = store.table(of: from) else {
      throw CoreDataError(
        .refused, code: .migrationMissingMappingModel, "the source has no such entity", entity: from
      )
    }
    return ("src.\(quoted(table.table)) s", try conditions(of: entityMapping, from: from, row: "s"))
  }

  /// What is true of the source rows that a mapping takes.
  func conditions(
    of entityMapping: EntityMapping, from: String, row: String
  ) throws -> [RowCondition] {
    guard let table = store.table(of: from) else { return [RowCondition("0")] }
    var conditions = table.ownCondition(row)
    if let condition = entityMapping.condition {
      let scope = ExpressionScope(store: store, entity: from, row: row)
      conditions.append(
        RowCondition(
          try condition.compiled(in: scope, mapping: entityMapping.name, property: nil).sql))
    }
    return conditions
  }

  /// Compiles an expression over the source row `s`, and notes what it reads.
  mutating func compile(
    _ expression: ValueExpression, of entity: String, in entityMapping: EntityMapping,
    property: String? = nil, attribute: Attribute? = nil, variables: [String: String] = [:]
  ) throws -> CompiledExpression {
    let scope = ExpressionScope(store: store, entity: entity, variables: variables)
    let compiled = try expression.compiled(
      in: scope, mapping: entityMapping.name, property: property ?? attribute?.name,
      attribute: attribute)
    use(compiled.properties, of: entity)
    computedFrom[entityMapping.name, default: []].formUnion(compiled.properties)
    return compiled
  }
}
