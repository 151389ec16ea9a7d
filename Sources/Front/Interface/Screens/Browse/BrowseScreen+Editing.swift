import ManagedModel
import ManagedStore
import Terminal

/// What prepares changes of the objects in sight.
extension BrowseScreen {
  func editingBindings(_ context: Context) -> [Binding] {
    let edited = edited(context)
    let object = selectedObject
    let subject = object?.description ?? "REF"
    let reason = reasonNotToEdit(context)
    let fate = object.flatMap { context.prepared.fates[$0] }
    return [
      Binding(
        ["E"], "edit", does("edit") { $0.edit(in: &$1) },
        unless: reason ?? edited.reason,
        command: context.known.command(
          "edit", "\(subject) \(edited.name ?? "PROPERTY")=VALUE"),
        footer: reason == nil && edited.reason == nil, words: "change set value correct fix type"),
      Binding(
        ["X"], fate == .deleted ? "keep the object" : "mark for deletion",
        does("deleteObject") { $0.turnDeletion(in: &$1) },
        unless: reason ?? (object == nil ? "select a row first" : nil) ?? fate?.reason,
        command: context.known.command("edit", "--delete \(subject)"), footer: false,
        words: "delete remove object"),
    ]
  }

  /// Why nothing of the store can be changed.
  private func reasonNotToEdit(_ context: Context) -> String? {
    guard let store = context.store else { return "no store is open" }
    if context.remains.isShown { return "these rows are not in the store: D goes back to it" }
    if let copy = context.copy { return copy.refusal }
    if store.isRaw || !store.modelMatches { return "the model that made the store is unknown" }
    if store.gap != nil { return "the store is damaged: 5 shows it" }
    return context.work.map { "\($0) is running" }
  }

  /// What the chosen cell or line has to be changed.
  private enum Edited {
    case property(RowColumn)
    /// A composite attribute by its path, with its elements.
    case composite([String], [RowColumn])
    /// Why there is nothing to be changed.
    case none(String)

    var reason: String? { if case .none(let reason) = self { reason } else { nil } }

    /// What is set, as a command line names it; of a composite attribute the first element.
    var name: String? {
      switch self {
      case .property(let column): column.name
      case .composite(_, let elements): elements.first?.name
      case .none: nil
      }
    }
  }

  private func edited(_ context: Context) -> Edited {
    guard let object = selectedObject, let store = context.store else {
      return .none("choose a value first")
    }
    if focus != .entities, let fate = context.prepared.fates[object] {
      return .none(fate.reason ?? "the object is marked for deletion: X keeps it")
    }
    let columns = store.columns[object.entity] ?? []
    let column: RowColumn?
    switch focus {
    case .entities: return .none("choose a value first")
    case .rows:
      guard let table, let property = table.property else {
        return .none("→ goes to the column of a property")
      }
      if table.isPath(table.column) { return .none("it belongs to another object: r goes there") }
      column = property
    case .inspector:
      guard let line = inspector.selectedLine else { return .none("choose a property first") }
      if let path = line.compositePath {
        let elements = columns.filter { $0.path.count > path.count && $0.path.starts(with: path) }
        return elements.isEmpty ? .none("it has no elements") : .composite(path, elements)
      }
      let name =
        line.attribute ?? line.column?.name
        ?? line.id.split(separator: "/").first.map(String.init) ?? ""
      column = columns.first { $0.name == name }
    }
    guard let column else { return .none("the object has no such property") }
    if case .attribute(let type) = column.kind {
      let attribute = store.layout.table(of: object.entity)?.attribute(named: column.name)?
        .attribute
      if attribute?.isDerived == true {
        return .none("it is a derived attribute: computed from others")
      }
      guard type != .composite, attribute != nil else { return .none("it cannot be set") }
    }
    return .property(column)
  }

  private mutating func edit(in context: inout Context) -> [Effect] {
    guard let object = selectedObject else { return [] }
    let column: RowColumn
    switch edited(context) {
    case .none: return []
    case .property(let property): column = property
    case .composite(let path, let elements):
      return context.show(
        ElementsLayer(object, path, elements, label: labelText(of: object, context), context)
      ) { $0.begin(in: &$1) }
    }
    switch column.kind {
    case .attribute:
      return context.show(
        ValueLayer(object, column, label: labelText(of: object, context), context)
      ) {
        $0.read(in: &$1)
      }
    case .toOne(let destination):
      let layer = ObjectChoiceLayer(
        object, column, to: destination, adding: false, labels: labels, context)
      return context.show(layer) { $0.begin(in: &$1) }
    case .toMany(let destination):
      return context.show(LinksLayer(object, column, to: destination, labels: labels, context)) {
        $0.begin(in: &$1)
      }
    }
  }

  /// How an object is called, where its row is read.
  private func labelText(of object: ObjectID, _ context: Context) -> String {
    guard let table, let store = context.store, let label = label(of: table.entity, store),
      let index = table.properties.firstIndex(where: { $0.name == label }),
      let row = table.window.rows.first(where: { $0.id == object }),
      let value = row.values.element(index), case .value(.string(let text)) = value
    else { return "" }
    return Sanitize.text(text, limit: 80)
  }

  /// Marks the selected object for deletion, once it is known what goes along; or keeps it.
  private mutating func turnDeletion(in context: inout Context) -> [Effect] {
    guard let object = selectedObject else { return [] }
    if context.prepared.fates[object] == .deleted {
      var rest = context.prepared
      rest.keep(object)
      context.prepare { $0.keep(object) }
      context.notice = Notice(
        rest.fates[object]?.reason.map { "\(object) is no longer marked itself, but \($0)" }
          ?? "\(object) is kept")
      return []
    }
    // What is asked about it already is not asked twice.
    guard !deletions.values.contains(object) else { return [] }
    let others = Set(context.prepared.fates.keys).union(deletions.values)
    let task = context.newTask()
    deletions[task] = object
    return [.ask(task, .deletion(object, beside: others))]
  }

  /// Takes which objects go with one that is marked.
  mutating func takeDeletion(_ objects: [ObjectID], _ task: TaskID, in context: inout Context) {
    guard let object = deletions.removeValue(forKey: task) else { return }
    let along = objects.filter { $0 != object }
    let gone = Set([object] + along)
    let dropped = context.prepared.changed.keys.count(where: gone.contains)
    let label = labelText(of: object, context)
    context.prepare {
      $0.name([object: label])
      $0.delete(.init(object: object, along: along))
    }
    var text = "\(object) is to be deleted"
    if !along.isEmpty { text += ", and with it \(Self.counted(along))" }
    if dropped > 0 {
      text += "; what was prepared for \(along.isEmpty ? "it" : "them") is discarded"
    }
    context.notice = Notice(text + "; W writes, u undoes it", .warning)
  }

  /// `4 Step, 1 Photo (Photo/p3)`
  private static func counted(_ objects: [ObjectID]) -> String {
    Dictionary(grouping: objects, by: \.entity).sorted { $0.key < $1.key }.map { entity, ids in
      "\(NumberText.grouped(ids.count)) \(entity)"
        + (ids.count == 1 ? " (p\(ids[0].key))" : "")
    }.joined(separator: ", ")
  }
}

extension PreparedEdits.Fate {
  /// Why the object cannot be changed or kept by itself.
  var reason: String? {
    if case .along(let other) = self {
      "it is deleted with \(other); X on that object keeps both"
    } else {
      nil
    }
  }

  /// The sign before the row.
  var sign: String { self == .deleted ? "D" : "d" }

  /// What becomes of the object, in words.
  var words: String {
    switch self {
    case .deleted: "to be deleted"
    case .along(let other): "to be deleted with \(other)"
    }
  }
}
