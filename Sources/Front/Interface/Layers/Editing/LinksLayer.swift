import ManagedModel
import ManagedStore
import Terminal

/// The objects of a to-many relationship: some are taken out, others come in, and where the relationship is ordered
/// they get other places.
struct LinksLayer: WaitingLayer {
  let owner: ObjectID
  let column: RowColumn
  private let destination: String
  private let labels: ObjectLabels
  private let isOrdered: Bool
  /// What the relationship holds in the store; `nil` before it is read.
  private var old: PropertyValue?
  private var objects: [ObjectID] = []
  /// Those of the store and those that come, as they are listed.
  private var all: [ObjectID] = []
  private var removed: Set<ObjectID> = []
  private var names: [ObjectID: String] = [:]
  private var list = List()
  var task: TaskID?
  private(set) var isDone = false

  init(
    _ owner: ObjectID, _ column: RowColumn, to destination: String, labels: ObjectLabels,
    _ context: Context
  ) {
    (self.owner, self.column, self.destination) = (owner, column, destination)
    self.labels = labels
    isOrdered =
      context.store?.layout.table(of: owner.entity)?.storage(of: column.name)?.position != nil
  }

  /// Reads which objects there are.
  mutating func begin(in context: inout Context) -> [Effect] {
    let (owner, name) = (owner, column.name)
    return context.ask(&task) { .ask($0, .value(owner, property: name)) }
  }

  private var added: [ObjectID] {
    let objects = Set(objects)
    return all.filter { !objects.contains($0) }
  }

  /// What becomes of the relationship.
  private var links: PreparedEdits.Links {
    var links = PreparedEdits.Links(added: added, removed: objects.filter(removed.contains))
    let kept = all.filter { !removed.contains($0) }
    if isOrdered, kept != objects.filter({ !removed.contains($0) }) + links.added {
      links.order = kept
    }
    return links
  }

  /// An object comes in, or stays after all.
  mutating func add(_ id: ObjectID, _ label: String) {
    names[id] = label
    if objects.contains(id) {
      removed.remove(id)
    } else if !all.contains(id) {
      all.append(id)
    }
    list = List(
      count: all.count, selected: all.firstIndex(of: id) ?? 0, height: max(1, list.height))
  }

  // MARK: Keys

  func bindings(_ context: Context) -> [Binding] {
    let reading = old == nil ? "the objects are being read" : nil
    let selected = all.element(list.selected)
    let isGoing = selected.map(removed.contains) == true
    let none = selected == nil ? "there is no object in it" : nil
    var bindings = [
      Binding(
        [.enter], "prepare", does("confirm") { $0.confirm(in: &$1) }, unless: reading),
      Binding(
        ["a", "+"], label: "a", "add…",
        asks("addObject") { $0.choose(in: &$1) }, unless: reading),
      Binding(
        ["x", "-", .delete], label: "x", isGoing ? "keep it" : "remove it",
        changes("removeObject") { $0.turn() }, unless: reading ?? none),
    ]
    let still =
      reading ?? none ?? (isOrdered ? nil : "the relationship has no order")
      ?? (isGoing ? "it is to be removed" : nil)
    bindings += [
      Binding(
        ["<", "K"], "up", changes("objectUp") { $0.move(by: -1) }, unless: still,
        footer: isOrdered, words: "move order place before"),
      Binding(
        [">", "J"], "down", changes("objectDown") { $0.move(by: 1) }, unless: still,
        footer: isOrdered, words: "move order place behind after"),
    ]
    return bindings + [
      scrolling { $0.list.handle($1, count: $0.all.count, height: $0.room($2)) },
      closing([.escape, "q"], "cancel"),
    ]
  }

  private func room(_ context: Context) -> Int { max(1, context.body.height - 5) }

  private mutating func turn() {
    guard let id = all.element(list.selected) else { return }
    if !objects.contains(id) {
      all.remove(at: list.selected)
      list.setCount(all.count)
    } else if removed.remove(id) == nil {
      removed.insert(id)
    }
  }

  /// Moves the selected object past the next one that stays.
  private mutating func move(by step: Int) {
    guard let id = all.element(list.selected) else { return }
    var place = list.selected + step
    while let other = all.element(place), removed.contains(other) { place += step }
    guard all.indices.contains(place) else { return }
    all.remove(at: list.selected)
    all.insert(id, at: place)
    list.select(place)
  }

  private func choose(in context: inout Context) -> [Effect] {
    context.show(
      ObjectChoiceLayer(owner, column, to: destination, adding: true, labels: labels, context)
    ) { $0.begin(in: &$1) }
  }

  private mutating func confirm(in context: inout Context) -> LayerOutcome {
    guard let old else { return .stay() }
    let value = PreparedEdits.Value(object: owner, column: column, old: old, change: .toMany(links))
    let names = names
    context.prepare {
      $0.name(names)
      $0.set(value)
    }
    return .close()
  }

  // MARK: Answers

  mutating func take(_ answer: Answer, in context: inout Context) -> [Effect] {
    switch answer {
    case .value(.toMany(let many)?):
      guard many.count <= StoreRequest.mostRelated else {
        context.notice = Notice(
          "\(NumberText.grouped(many.count)) objects are too many for a list: strata edit changes them",
          .warning)
        isDone = true
        return []
      }
      (old, objects, all) = (.toMany(many), many.first, many.first)
      if case .toMany(let links)? = context.prepared.value(of: owner, column.name)?.change {
        take(links)
      }
      list = List(count: all.count, height: room(context))
      let request = LabelRequest(objects: all, labels: labels)
      return all.isEmpty ? [] : context.ask(&task) { .names($0, request) }
    case .value:
      context.notice = Notice("\(owner) is not in the store any more", .warning)
      isDone = true
    case .names(let found): names.merge(found.names) { $1 }
    default: break
    }
    return []
  }

  /// Goes on from what is prepared; another program may have saved some of it since.
  private mutating func take(_ links: PreparedEdits.Links) {
    let there = Set(objects)
    removed = there.intersection(links.removed)
    let coming = links.added.filter { !there.contains($0) }
    guard let order = links.order else {
      all = objects + coming
      return
    }
    let known = there.union(coming)
    all = order.filter(known.contains)
    // What is not in the order stands behind what it stood behind.
    let placed = Set(all)
    var former: ObjectID?
    for id in objects {
      if !placed.contains(id) {
        let place = former.flatMap { all.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
        all.insert(id, at: place)
      }
      former = id
    }
  }

  mutating func fail(_ error: CoreDataError, in context: inout Context) -> [Effect] {
    // Keys are there all the same.
    guard old == nil else { return [] }
    context.show(MessageLayer(error))
    isDone = true
    return []
  }

  // MARK: Drawing

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ body: Rect) {
    let title = "\(owner) \(column.name): ⇉ \(destination)" + (isOrdered ? ", in this order" : "")
    let inside = Popup(title, size: body.size).draw(in: &grid, body, theme: theme)
    guard inside.height > 2 else { return }
    let links = links
    let words =
      [NumberText.counted(objects.count, "object")] + (old.map { [links.words($0)] } ?? [])
    grid.write(
      old == nil ? "…" : words.filter { !$0.isEmpty }.joined(separator: "  "),
      at: inside.row(0).origin, style: theme[.dim], within: inside.width)
    let (added, removed, names) = (Set(links.added), removed, names)
    let places = isOrdered ? places(links) : [:]
    let digits = String(all.count).count
    list.draw(all, in: &grid, inside.droppingRows(1), theme: theme) { id, isSelected in
      let (sign, role): (String, Theme.Role) =
        added.contains(id)
        ? ("+", .added)
        : removed.contains(id)
          ? ("−", .removed) : places[id]?.former != nil ? ("~", .changed) : (" ", .dim)
      var spans = [theme.span(isSelected, sign + " ", role)]
      if isOrdered {
        let place = (places[id]?.now).map { "\($0)" } ?? ""
        let room = max(0, digits - place.count)
        spans.append(
          theme.span(isSelected, String(repeating: " ", count: room) + place + "  ", .dim))
      }
      spans += [
        theme.span(isSelected, "\(id)  ", .dim), Span(Sanitize.text(names[id] ?? "", limit: 80)),
      ]
      if let former = places[id]?.former {
        spans.append(theme.span(isSelected, "  was \(former)", .dim))
      }
      return spans
    }
  }

  /// Where each object stands; of those that are to stand in another order also where they do in the store.
  private func places(_ links: PreparedEdits.Links) -> [ObjectID: (now: Int, former: Int?)] {
    let added = Set(links.added)
    var formerly: [ObjectID: (place: Int, rank: Int)] = [:]
    var rank = 0
    for (index, id) in objects.enumerated() where !removed.contains(id) {
      rank += 1
      formerly[id] = (index + 1, rank)
    }
    var places: [ObjectID: (now: Int, former: Int?)] = [:]
    rank = 0
    for (index, id) in all.filter({ !removed.contains($0) }).enumerated() {
      if !added.contains(id) { rank += 1 }
      let former = formerly[id]
      places[id] = (index + 1, former?.rank == rank ? nil : former?.place)
    }
    return places
  }
}
