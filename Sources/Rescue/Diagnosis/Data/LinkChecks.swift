import ManagedModel
import ManagedStore
import SQLite

/// Links that are kept outside of their owners' rows, and the two sides of one-to-ones.
struct LinkChecks {
  let place: StorePlace
  let store: Store

  func findings() throws -> [Finding] { try joins() + misplaced() + ownerless() + oneToOnes() }

  private func oneToOnes() throws -> [Finding] {
    try store.oneSidedLinks().map { links in
      Finding(
        .oneToOne,
        "\(links.objects) objects of \(links.entity).\(links.relationship) lead to one that does not lead back.",
        entity: links.entity, property: links.relationship, count: links.objects,
        first: links.first.map(\.description), in: place)
    }
  }

  /// Rows of join tables of which one end is not there.
  private func joins() throws -> [Finding] {
    try store.schema.joins.compactMap { join in
      guard Set([join.first, join.second]).isSubset(of: store.database.columns(of: join.name)),
        let own = store.table(of: join.entity)?.table, store.database.contains(own),
        let other = store.table(of: join.inverseEntity)?.table, store.database.contains(other)
      else { return nil }
      let (first, second) = ("t." + quoted(join.first), "t." + quoted(join.second))
      let rows = """
        FROM \(quoted(join.name)) t
        WHERE NOT EXISTS (SELECT 1 FROM \(quoted(own)) o WHERE o.Z_PK = \(first))
        OR NOT EXISTS (SELECT 1 FROM \(quoted(other)) o WHERE o.Z_PK = \(second))
        """
      let (count, pairs) = try store.counted(
        "SELECT count(*) \(rows)", "SELECT \(first), \(second) \(rows) ORDER BY 1, 2 LIMIT 5")
      guard count > 0 else { return nil }
      return Finding(
        .joinDangling,
        "\(count) links of \(join.entity).\(join.relationship) lead from or to objects that are not there.",
        entity: join.entity, property: join.relationship, count: Int(count),
        first: pairs.map { pair in
          "\(join.entity)/p\(pair.first?.integer ?? 0) – \(join.inverseEntity)/p\(pair.last?.integer ?? 0)"
        }, in: place)
    }
  }

  /// Rows of join tables of which one end is of an entity that has no such relationship.
  private func misplaced() throws -> [Finding] {
    try store.schema.joins.flatMap { join in
      try [(join.first, join.entity), (join.second, join.inverseEntity)].compactMap {
        column, name in
        guard store.database.columns(of: join.name).contains(column),
          let table = store.table(of: name), store.database.contains(table.table),
          let own = table.kindRows("o")
        else { return nil }
        let rows = """
          FROM \(quoted(table.table)) o
          WHERE NOT (\(own)) AND o.Z_PK IN (SELECT \(quoted(column)) FROM \(quoted(join.name)))
          """
        let (count, first) = try store.counted(
          "SELECT count(*) \(rows)", "SELECT o.Z_PK, o.Z_ENT \(rows) ORDER BY 1 LIMIT 5")
        guard count > 0 else { return nil }
        let root = store.model.root(of: name)
        let objects = first.compactMap { store.id($0, else: root) }
        return Finding(
          .entityWrong,
          "\(count) objects have links in \(join.name) as a \(name) has them, and are none.",
          entity: name, count: Int(count), first: objects.map(\.description), in: place,
          remedy: .objects(objects, of: root))
      }
    }
  }

  /// Rows that name an owner which is not there, in a to-many without an inverse.
  private func ownerless() throws -> [Finding] {
    var found: [Finding] = []
    var told: Set<String> = []
    for table in store.entityTables where store.database.contains(table.table) {
      for entry in table.relationships {
        guard let storage = entry.storage, storage.kind == .withoutInverse,
          told.insert(storage.table + "." + storage.owner).inserted
        else { continue }
        let owner = "t." + quoted(storage.owner)
        let rows = """
          FROM \(quoted(storage.table)) t WHERE \(owner) IS NOT NULL AND NOT EXISTS
          (SELECT 1 FROM \(quoted(table.table)) o WHERE o.Z_PK = \(owner))
          """
        let (count, first) = try store.counted(
          "SELECT count(*) \(rows)", "SELECT t.Z_PK \(rows) ORDER BY 1 LIMIT 5")
        guard count > 0 else { continue }
        let entity = entry.relationship.destination
        found.append(
          Finding(
            .toOneDangling,
            "\(count) objects of \(entity) belong to a \(table.entity) (\(entry.relationship.name)) that is not there.",
            entity: entity, property: entry.relationship.name, count: Int(count),
            first: first.compactMap {
              $0.first?.integer.map { ObjectID(entity: entity, key: $0).description }
            }, in: place))
      }
    }
    return found
  }
}
