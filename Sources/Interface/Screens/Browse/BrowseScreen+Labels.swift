import ManagedModel
import ManagedStore

/// What is known of how the objects are called that relationships lead to.
struct RelationNames: Sendable, Equatable {
  private static let most = 4_000

  private(set) var found = ObjectNames()
  /// Objects whose relationships were asked about, so that no answer is waited for twice.
  private(set) var asked: Set<ObjectID> = []

  /// Notes what is asked about now. What was known long ago is let go, for flat memory.
  mutating func ask(_ ids: some Sequence<ObjectID>) {
    if asked.count > Self.most { self = RelationNames() }
    asked.formUnion(ids)
  }

  mutating func take(_ names: ObjectNames) { found.merge(names) }

  /// `→ Carrot (p4)`, `(3) vegan, quick …`; `nil` where only keys are known.
  func text(_ value: PropertyValue, of column: RowColumn, owner: ObjectID) -> ValueText? {
    switch value {
    case .toOne(let id?):
      guard let name = found.names[id] else { return nil }
      var key = id.description
      if case .toOne(destination: id.entity) = column.kind { key = "p\(id.key)" }
      return ValueText("→ \(name) (\(key))", .relationship)
    case .toMany(let many) where many.count > 0:
      guard let first = found.firsts[owner]?[column.name] else { return nil }
      let names = first.compactMap { found.names[$0] }
      guard !names.isEmpty, names.count == first.count else { return nil }
      return ValueText(
        "(\(NumberText.grouped(many.count))) " + names.joined(separator: ", ")
          + (many.count > first.count ? " …" : ""), .relationship)
    default: return nil
    }
  }

  func text(_ id: ObjectID) -> String {
    found.names[id].map { "\($0) (\(id))" } ?? id.description
  }
}

extension BrowseScreen {
  /// The most objects of a to-many relationship among which the first ones are looked for.
  private static let mostRelated = 5_000

  /// Asks how the objects are called that the rows in sight lead to, once rows have come.
  mutating func nameRows(in state: inout State) -> [Effect] {
    guard let table, namesTask == nil else { return [] }
    let window = table.window
    func isNew(_ row: Int) -> Bool { !table.names.asked.contains(window.rows[row].id) }
    guard window.visible.contains(where: isNew) else { return [] }
    // What is in sight comes first, and as much before and after it, so that the next question
    // comes a screenful later.
    let near = window.near.filter { !window.visible.contains($0) }
    let rows = (Array(window.visible) + near).filter(isNew).map { window.rows[$0] }
    var request = LabelRequest(objects: [], labels: labels)
    for row in rows {
      var owner = LabelRequest.Owner(id: row.id, relationships: [])
      for (column, value) in zip(table.properties, row.values) {
        switch value {
        case .toOne(let id?): request.objects.append(id)
        case .toMany(let many) where many.count > 0 && many.count <= Self.mostRelated:
          owner.relationships.append(column.name)
        default: break
        }
      }
      if !owner.relationships.isEmpty { request.owners.append(owner) }
    }
    self.table?.names.ask(rows.map(\.id))
    guard !request.objects.isEmpty || !request.owners.isEmpty else { return [] }
    return state.ask(&namesTask) { .names($0, request) }
  }

  /// Asks how the objects are called that the inspected one leads to.
  mutating func nameInspected(in state: inout State) -> [Effect] {
    let targets = inspector.inspection?.targets ?? []
    guard !targets.isEmpty else { return [] }
    let request = LabelRequest(objects: targets, labels: labels)
    return state.ask(&inspectedNamesTask) { .names($0, request) }
  }

  /// Takes in names, where they are still asked for.
  mutating func take(_ names: ObjectNames, _ task: TaskID, in state: inout State) -> [Effect] {
    switch task {
    case namesTask:
      namesTask = nil
      table?.take(names)
      return nameRows(in: &state)
    case inspectedNamesTask:
      inspectedNamesTask = nil
      inspector.take(names)
      return []
    default: return []
    }
  }

  /// Forgets the names and asks anew: another attribute is to tell them.
  mutating func nameAnew(in state: inout State) -> [Effect] {
    let old = (namesTask.stop() ?? []) + (inspectedNamesTask.stop() ?? [])
    table?.names = RelationNames()
    return old + nameRows(in: &state) + load(in: &state)
  }
}
