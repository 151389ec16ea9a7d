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
  static func nameRows(in state: inout State) -> [Effect] {
    guard let table = state.browse.table, state.browse.namesTask == nil else { return [] }
    let window = table.window
    func isNew(_ row: Int) -> Bool { !table.names.asked.contains(window.rows[row].id) }
    guard window.visible.contains(where: isNew) else { return [] }
    // What is in sight comes first, and as much before and after it, so that the next question
    // comes a screenful later.
    let near = window.near.filter { !window.visible.contains($0) }
    let rows = (Array(window.visible) + near).filter(isNew).map { window.rows[$0] }
    var request = LabelRequest(objects: [], labels: state.browse.labels)
    for row in rows {
      var owner = LabelRequest.Owner(id: row.id, relationships: [])
      for (column, value) in zip(table.properties, row.values) {
        switch value {
        case .toOne(let id?): request.objects.append(id)
        case .toMany(let many) where many.count > 0 && many.count <= mostRelated:
          owner.relationships.append(column.name)
        default: break
        }
      }
      if !owner.relationships.isEmpty { request.owners.append(owner) }
    }
    state.browse.table?.names.ask(rows.map(\.id))
    guard !request.objects.isEmpty || !request.owners.isEmpty else { return [] }
    let task = state.newTask()
    state.browse.namesTask = task
    return [.names(task, request)]
  }

  /// Asks how the objects are called that the inspected one leads to.
  static func nameInspected(in state: inout State) -> [Effect] {
    let targets = state.browse.inspector.inspection?.targets ?? []
    guard !targets.isEmpty else { return [] }
    let task = state.newTask()
    state.browse.inspectedNamesTask = task
    return [.names(task, LabelRequest(objects: targets, labels: state.browse.labels))]
  }

  /// Takes in names; `nil` where they were not asked for.
  static func take(_ names: ObjectNames, _ task: TaskID, in state: inout State) -> [Effect]? {
    switch task {
    case state.browse.namesTask:
      state.browse.namesTask = nil
      state.browse.table?.take(names)
      return nameRows(in: &state)
    case state.browse.inspectedNamesTask:
      state.browse.inspectedNamesTask = nil
      state.browse.inspector.take(names)
      return []
    default: return nil
    }
  }

  /// Forgets the names and asks anew: another attribute is to tell them.
  static func nameAnew(in state: inout State) -> [Effect] {
    let old = [state.browse.namesTask, state.browse.inspectedNamesTask].compactMap { $0 }
    state.browse.namesTask = nil
    state.browse.inspectedNamesTask = nil
    state.browse.table?.names = RelationNames()
    return old.map { .cancel($0) } + nameRows(in: &state) + load(in: &state)
  }
}
