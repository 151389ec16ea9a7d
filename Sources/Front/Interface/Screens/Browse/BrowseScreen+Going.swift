import ManagedModel
import ManagedStore
import Terminal

extension BrowseScreen {
  /// Goes to a row of the table by its number, counted from 1, wherever it is.
  mutating func goTo(row: Int, in context: inout Context) -> [Effect] {
    guard let table else { return [] }
    let last = total.map { max(0, $0 - 1) } ?? .max
    let ordinal = max(0, min(row - 1, last))
    focus = .rows
    defer { fit(context) }
    if let first = table.window.ordinal, table.window.rows.indices.contains(ordinal - first) {
      self.table?.window.select(ordinal - first)
      return readOn(in: &context) + inspect(in: &context)
    }
    return read(.ordinal(ordinal), in: &context)
  }

  /// Moves the selection by so many rows, past what is loaded too.
  mutating func move(by count: Int, in context: inout Context) -> [Effect] {
    guard let window = table?.window else { return [] }
    let target = window.selected + max(-(1 << 40), min(1 << 40, count))
    let isNear =
      window.rows.indices.contains(target) || abs(count) <= 4 * window.height
      || (target < 0 ? window.hasStart : window.hasEnd)
    if !isNear, let ordinal = window.ordinal {
      return goTo(row: max(0, ordinal + target) + 1, in: &context)
    }
    table?.window.move(by: count)
    return readOn(in: &context) + inspect(in: &context)
  }

  /// Moves in the rows as a key does so many times; `nil` for a key or a pane without such a move.
  mutating func move(_ key: Key, times: Int, in context: inout Context) -> [Effect]? {
    guard focus == .rows else { return nil }
    // As in vim: 12G is the twelfth line.
    if ["g", "G"].contains(key) { return goTo(row: times, in: &context) }
    guard case .lines(let step)? = ListMove(key) else { return nil }
    return move(by: step * times, in: &context)
  }

  /// Begins at a row of the table that is about to be read.
  mutating func begin(at id: ObjectID, in context: inout Context) -> [Effect] {
    guard let table,
      context.store?.model.lineage(of: id.entity).contains(where: { $0.name == table.entity })
        == true
    else { return [] }
    return read(.object(id), in: &context)
  }

  /// Goes to an object: its entity and its row, without the filter if that hides it.
  mutating func goTo(object id: ObjectID, in context: inout Context) -> [Effect] {
    guard let store = storeHolding(id.entity, in: &context) else { return [] }
    defer { fit(context) }
    context.screen = .browse
    if focus == .entities { focus = .rows }
    if let table, table.related == nil,
      store.model.lineage(of: id.entity).contains(where: { $0.name == table.entity })
    {
      return read(.object(id), in: &context)
    }
    return leave(over: nil, for: id, in: &context)
  }

  /// The store, where it has such an entity; else that is said.
  private func storeHolding(_ entity: String, in context: inout Context) -> StoreSummary? {
    if let store = context.store, store.columns[entity] != nil { return store }
    if context.store != nil {
      context.notice = Notice("the store has no entity \(entity)", .warning)
    }
    return nil
  }

  /// Shows the row of an object, over a relationship or from nowhere.
  private mutating func leave(
    over relationship: String?, for id: ObjectID, in context: inout Context
  ) -> [Effect] {
    leave(over: relationship, for: id)
    tree.select(id.entity)
    return show(id.entity, at: .object(id), in: &context)
  }

  /// Shows an entity's rows.
  mutating func goTo(entity: String, in context: inout Context) -> [Effect] {
    guard context.store?.model.entity(named: entity) != nil else { return [] }
    context.screen = .browse
    focus = .rows
    tree.select(entity)
    defer { fit(context) }
    return showEntity(in: &context)
  }

  /// Shows the rows of an entity that a predicate takes, or all of them, whatever was shown of it.
  mutating func goTo(entity: String, filter: String?, in context: inout Context) -> [Effect] {
    guard context.store?.columns[entity] != nil else { return [] }
    defer { fit(context) }
    leave(over: nil)
    context.screen = .browse
    focus = .rows
    var view = self.view.tables[entity] ?? TableView()
    view.filter = filter
    view.related = nil
    if let filter { remember(filter, of: entity) }
    tree.select(entity)
    return show(entity, view, in: &context)
  }

  /// Goes where a relationship of an object leads: to its object, or to the rows of its objects.
  mutating func follow(_ relation: RelationOf, in context: inout Context) -> [Effect] {
    guard context.store != nil else { return [] }
    defer { fit(context) }
    switch relation.destination {
    case .object(let id):
      guard storeHolding(id.entity, in: &context) != nil else { return [] }
      return leave(over: relation.name, for: id, in: &context)
    case .objects(let entity):
      guard storeHolding(entity, in: &context) != nil else { return [] }
      leave(over: relation.name)
      var view = self.view.tables[entity] ?? TableView()
      view.filter = nil
      // An ordered relationship has an order of its own.
      (view.sort, view.isDescending) = (nil, false)
      view.related = Relation(relation.source, relation.name)
      tree.select(entity)
      return show(entity, view, in: &context)
    case .nothing:
      context.notice = Notice("\(relation.source) has no \(relation.name)")
      return []
    }
  }

  /// Goes back over a relationship, or forward again.
  mutating func step(back: Bool, in context: inout Context) -> [Effect] {
    place.flatMap { trail.step(back: back, from: $0) }.map { restore($0, in: &context) } ?? []
  }

  /// Remembers the place that a search for an entity begins at.
  mutating func beginSearch() {
    searchStart = focus == .entities ? place.map { SearchStart(place: $0, trail: trail) } : nil
  }

  mutating func giveUpSearch(_ former: String, in context: inout Context) -> [Effect] {
    guard focus == .entities else { return search(former, in: &context) }
    defer { searchStart = nil }
    tree.setFilter(former)
    guard let searchStart, searchStart.place.table.entity != table?.entity else {
      if let entity = table?.entity { tree.select(entity) }
      return []
    }
    trail = searchStart.trail
    return restore(searchStart.place, in: &context)
  }

  /// Shows a place as it was left, without reading its rows again.
  private mutating func restore(_ place: Trail.Place, in context: inout Context) -> [Effect] {
    var effects = stopReading()
    views = keptViews
    table = place.table
    settled = Settled(view: place.table.view, matches: place.table.matches)
    rowsError = nil
    unreadable = nil
    focus = place.focus
    tree.select(place.table.entity)
    inspector = Inspector()
    inspector.show(place.object, line: place.line)
    fit(context)
    if place.table.window.rows.isEmpty { effects += read(.start, in: &context) }
    return effects + load(in: &context) + readOn(in: &context) + count(in: &context)
  }
}

/// A place with the way that led to it.
struct SearchStart: Sendable, Equatable {
  var place: Trail.Place
  var trail: Trail
}

/// A relationship of one object, with where it leads.
struct RelationOf: Sendable, Equatable {
  enum Destination: Sendable, Equatable {
    case object(ObjectID)
    /// Several, of that entity.
    case objects(String)
    case nothing
  }

  var source: ObjectID
  var name: String
  var destination: Destination
}

extension BrowseScreen {
  /// Where Enter on the chosen cell goes; `nil` when it only opens the row.
  var destination: RelationOf? {
    guard let table, !table.isPath(table.column), let row = table.window.selectedRow,
      let property = table.property
    else { return nil }
    switch (property.kind, table.selectedValue) {
    case (.toOne, .toOne(let id)?):
      return RelationOf(
        source: row.id, name: property.name, destination: id.map { .object($0) } ?? .nothing)
    case (.toMany(let entity), .toMany(let many)?):
      return RelationOf(
        source: row.id, name: property.name,
        destination: many.count == 0 ? .nothing : .objects(entity))
    default: return nil
    }
  }

  /// Where Enter on a line of the inspector goes.
  func relationship(of line: Inspection.Line) -> RelationOf? {
    guard let object = inspector.object, let inspection = inspector.inspection else { return nil }
    let name = line.id.split(separator: "/").first.map(String.init) ?? ""
    if let target = line.target {
      return RelationOf(source: object, name: name, destination: .object(target))
    }
    return inspection.manyDestinations[name].map {
      RelationOf(source: object, name: name, destination: .objects($0))
    }
  }

  /// The place as it is, to come back to.
  private var place: Trail.Place? {
    guard var table else { return nil }
    table.window = table.window.trimmed()
    return Trail.Place(
      table: table, focus: focus, object: inspector.object ?? table.window.selectedRow?.id,
      line: inspector.list.selected, relationship: nil)
  }

  /// Notes the place on the trail before another one is shown.
  private mutating func leave(over relationship: String?, for target: ObjectID? = nil) {
    guard var place else { return }
    place.relationship = relationship
    place.target = target
    trail.leave(place)
  }
}

extension Known {
  /// The relationships of an object, as its entity has them.
  func relations(of object: ObjectID) -> [RowColumn] {
    (store?.columns[object.entity] ?? []).filter {
      if case .attribute = $0.kind { false } else { true }
    }
  }
}

/// The places that were left over relationships, to go back to and forward again.
struct Trail: Sendable, Equatable {
  /// A place as it was left: the rows with their arrangement, the row, the pane.
  struct Place: Sendable, Equatable {
    var table: RowTable
    var focus: BrowseScreen.Pane
    var object: ObjectID?
    /// Line of the inspector.
    var line: Int
    /// What it was left over.
    var relationship: String?
    /// The one object that it was left for.
    var target: ObjectID?
  }

  private var places = Past<Place>(limit: 100)

  var isEmpty: Bool { places.past.isEmpty }
  var hasFuture: Bool { !places.future.isEmpty }

  /// A place was left for another one.
  mutating func leave(_ place: Place) { places.left(place) }

  /// The place to go back to, or forward; `present` is kept for the other way.
  mutating func step(back: Bool, from present: Place) -> Place? {
    places.step(back: back) { place in
      var present = present
      (present.relationship, present.target) = (place.relationship, place.target)
      return present
    }
  }

  /// `Recipe/p12`, `author`, `Person/p3`, `recipes`: the way to an object, or to rows without one.
  ///
  /// Where somebody went on from another row than the one that was led to, `…` shows it.
  func steps(to object: ObjectID? = nil) -> [String] {
    var steps: [String] = []
    var target: ObjectID?
    for place in places.past {
      if let target, target != place.object { steps += [target.description, "…"] }
      steps.append(place.object?.description ?? place.table.entity)
      if let relationship = place.relationship { steps.append(relationship) }
      target = place.target
    }
    guard let object else { return steps }
    if let target, target != object { steps += [target.description, "…"] }
    return steps + [object.description]
  }

  /// Steps as a line, cut from the left when there is too little room.
  static func text(_ steps: [String], width: Int) -> String {
    var first = 0
    var text = steps.joined(separator: " › ")
    while TextWidth.of(text) > width, first < steps.count - 1 {
      first += 1
      text = "… › " + steps[first...].joined(separator: " › ")
    }
    return text
  }
}
