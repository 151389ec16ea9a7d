import ManagedModel
import ManagedStore
import Terminal

extension BrowseScreen {
  mutating func didAct(_ context: Context) { fit(context) }

  /// Drops the filter, or what the pane is narrowed to; if none exists the rows have the keys.
  mutating func widen(in context: inout Context) -> [Effect] {
    if isFiltered { return setFilter("", in: &context) }
    if focus == .entities, !tree.filter.isEmpty { return filterEntities("", in: &context) }
    if focus == .inspector, !inspector.filter.isEmpty {
      inspector.setFilter("")
    } else {
      focus = .rows
    }
    return []
  }

  mutating func open(in context: inout Context) -> [Effect] {
    switch focus {
    case .entities:
      focus = .rows
    case .rows:
      if let relation = destination { return follow(relation, in: &context) }
      focus = .inspector
      return inspect(in: &context)
    case .inspector:
      guard let line = inspector.selectedLine else { return [] }
      if let relation = relationship(of: line) {
        return follow(relation, in: &context)
      }
      inspector.toggle()
    }
    return []
  }

  /// Ascending, descending, and back to the order of keys.
  mutating func sort(in context: inout Context) -> [Effect] {
    guard let table, let property = table.sortProperty(table.column) else {
      return []
    }
    let sort = table.sort
    if sort.property != property {
      self.table?.sort = .init(property: property)
      if property == nil { self.table?.sort = .init(descending: true) }
    } else if !sort.isDescending {
      self.table?.sort.isDescending = true
    } else {
      self.table?.sort = .init()
    }
    return read(.start, in: &context)
  }

  mutating func turn(right: Bool, in context: inout Context) -> [Effect] {
    switch focus {
    case .entities:
      tree.setFolded(!right)
      return showEntity(in: &context)
    case .inspector: inspector.setFolded(!right)
    case .rows:
      guard let table else { return [] }
      let column = table.selectedColumn + (right ? 1 : -1)
      self.table?.selectedColumn = max(0, min(table.columns.count - 1, column))
    }
    return []
  }

  mutating func move(_ key: Key, in context: inout Context) -> [Effect] {
    switch focus {
    case .entities:
      tree.list.handle(key)
      return showEntity(in: &context)
    case .inspector:
      inspector.list.handle(key)
      return []
    case .rows:
      if let move = ListMove(key), table?.window.move(move) == false {
        return read(move == .end ? .end : .start, in: &context)
      }
      return readOn(in: &context) + inspect(in: &context) + nameRows(in: &context)
    }
  }

  mutating func mouse(
    _ action: Key.MouseAction, _ point: Point, in context: inout Context
  ) -> [Effect]? {
    let layout = BrowseLayout(self, context.known)
    guard let pane = layout.pane(at: point) else { return [] }
    focus = pane
    defer { fit(context) }
    let rect = layout.content(of: pane)
    switch action {
    case .scrollUp, .scrollDown:
      return move(.mouse(action, x: point.x, y: point.y), in: &context)
    case .press, .doubleClick:
      switch pane {
      case .entities:
        if let row = tree.list.row(at: point, in: rect) { tree.list.select(row) }
        return showEntity(in: &context)
      case .rows:
        guard let table, rect.contains(point) else { return [] }
        if let column = table.column(at: point.x, in: rect) {
          self.table?.selectedColumn = column
        }
        guard point.y > rect.y else { return [] }
        self.table?.window.select(table.window.offset + point.y - rect.y - 1)
        let effects = readOn(in: &context) + inspect(in: &context)
        return action == .doubleClick ? effects + open(in: &context) : effects
      case .inspector:
        if let row = inspector.list.row(at: point, in: rect) { inspector.list.select(row) }
        return action == .doubleClick ? open(in: &context) : []
      }
    case .release, .drag: return []
    }
  }

  /// Gives the lists their heights, so that a page is the page that is seen.
  mutating func fit(_ context: Context) {
    let layout = BrowseLayout(self, context.known)
    tree.list.setHeight(layout.content(of: .entities).height)
    let height = layout.content(of: .rows).height - 1 - errorRows
    table?.window.setHeight(height)
    inspector.list.setHeight(layout.content(of: .inspector).height)
  }

  private static let mostFormer = 50

  /// Narrows the tree to entities with such a name.
  mutating func filterEntities(_ text: String, in context: inout Context) -> [Effect] {
    tree.setFilter(text)
    return showEntity(in: &context)
  }

  /// What the pane with the keys is narrowed to.
  var searched: String {
    switch focus {
    case .entities: tree.filter
    case .inspector: inspector.filter
    case .rows: ""
    }
  }

  /// Narrows the pane with the keys.
  mutating func search(_ text: String, in context: inout Context) -> [Effect] {
    if focus == .entities { return filterEntities(text, in: &context) }
    inspector.setFilter(text)
    return []
  }

  /// Shows only the rows that a predicate takes; all of them when the text is empty.
  ///
  /// A predicate that makes no sense is reported in a notice and changes nothing.
  mutating func setFilter(_ text: String, in context: inout Context) -> [Effect] {
    guard let table, let layout = context.store?.layout else { return [] }
    let text = text.trimmed
    do {
      try self.table?.setFilter(text.isEmpty ? nil : text, related: table.related, layout)
    } catch {
      context.notice = Notice(error.clause, .warning)
      return []
    }
    if !text.isEmpty { remember(text, of: table.entity) }
    context.screen = .browse
    focus = .rows
    fit(context)
    // The row that is selected stays so if the filter takes it.
    guard let id = table.window.selectedRow?.id, text.isEmpty else {
      return read(.start, in: &context)
    }
    return read(.object(id), in: &context)
  }

  mutating func remember(_ text: String, of entity: String) {
    var former = formerFilters[entity] ?? []
    former.removeAll { $0 == text }
    former.append(text)
    formerFilters[entity] = former.suffix(Self.mostFormer)
  }
}

/// What is known of how the objects are called that relationships reference.
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

  /// What is known holds until the next answer.
  mutating func askAgain() { asked = [] }

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

  /// Asks how the objects are called that the rows in sight reference, once rows have come.
  mutating func nameRows(in context: inout Context) -> [Effect] {
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
      for (column, value) in zip(table.ownProperties, row.values) {
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
    return context.ask(&namesTask) { .names($0, request) }
  }

  /// Asks how the objects are called that the inspected one references.
  mutating func nameInspected(in context: inout Context) -> [Effect] {
    let targets = inspector.inspection?.targets ?? []
    guard !targets.isEmpty else { return [] }
    let request = LabelRequest(objects: targets, labels: labels)
    return context.ask(&inspectedNamesTask) { .names($0, request) }
  }

  /// Takes in names, where they are still asked for.
  mutating func take(_ names: ObjectNames, _ task: TaskID, in context: inout Context) -> [Effect] {
    switch task {
    case namesTask:
      namesTask = nil
      table?.take(names)
      return nameRows(in: &context)
    case inspectedNamesTask:
      inspectedNamesTask = nil
      inspector.take(names)
      return []
    default: return []
    }
  }

  /// Forgets the names and asks again: another attribute labels them.
  mutating func nameAnew(in context: inout Context) -> [Effect] {
    let old = (namesTask.stop() ?? []) + (inspectedNamesTask.stop() ?? [])
    table?.names = RelationNames()
    if let entity = table?.entity, let store = context.store {
      let label = label(of: entity, store)
      table?.setLabel(label)
    }
    return old + nameRows(in: &context) + load(in: &context)
  }
}
