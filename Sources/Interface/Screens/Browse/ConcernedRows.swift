import ManagedModel
import ManagedStore
import Migration
import Rescue

/// The rows of the store that a check, a loss or a change tells of, for going there.
struct ConcernedRows: Sendable, Equatable {
  private var entity: String
  /// Takes exactly them; `nil` where no predicate is known to, or all rows are meant.
  private var filter: String?
  /// The first of them, where the filter does not tell which they are.
  private var first: ObjectID?
  private var count: Int
  private var screen: Screen

  /// - Returns: `nil` where no row is known, or none of this store.
  init?(_ check: DataCheck, _ state: State) {
    guard let first = check.first.first else { return nil }
    // Mappings of one's own are checked by what they make, under the new entity's name.
    let former =
      state.mapping.plan?.steps.first?.mapping.mapping(toDestination: first.entity)?.source
    let name = state.store?.columns[first.entity] == nil ? former ?? first.entity : first.entity
    self.init(
      entity: name, filter: check.predicate, first: ObjectID(entity: name, key: first.key),
      count: check.rows, screen: .mapping, state)
  }

  init?(_ loss: Loss, _ state: State) {
    guard let model = state.store?.model else { return nil }
    self.init(
      entity: loss.entity, filter: loss.predicate(in: model), first: nil, count: loss.values,
      screen: .mapping, state)
  }

  init?(_ impact: ChangeImpact, _ state: State) {
    guard let first = impact.objects.first else {
      guard impact.property == nil || impact.predicate != nil else { return nil }
      self.init(
        entity: impact.entity, filter: impact.predicate, first: nil, count: impact.rows,
        screen: .diff, state)
      return
    }
    // The objects of all subentities that the change is about.
    let lineage = state.store?.model.lineage(of: first.entity).map(\.name) ?? []
    let common = lineage.first { ancestor in
      impact.objects.allSatisfy { state.store?.model.isKind($0.entity, of: ancestor) == true }
    }
    self.init(
      entity: common ?? first.entity, filter: impact.predicate, first: first, count: impact.rows,
      screen: .diff, state)
  }

  init?(_ finding: Finding, _ state: State) {
    guard let store = state.store else { return nil }
    let objects = finding.first.compactMap { try? store.layout.objectID($0) }
    guard
      let entity = [finding.entity, objects.first?.entity].compactMap({ $0 }).first(where: {
        store.columns[$0] != nil
      }), finding.predicate != nil || !objects.isEmpty
    else { return nil }
    // Where all of them are known by name, they can be had together.
    let names = objects.map { "\"\($0)\"" }.joined(separator: ", ")
    let isWhole = objects.count > 1 && objects.count == finding.count
    self.init(
      entity: entity, filter: finding.predicate ?? (isWhole ? "SELF IN {\(names)}" : nil),
      first: objects.first, count: finding.count ?? objects.count, screen: .rescue, state)
  }

  private init?(
    entity: String, filter: String?, first: ObjectID?, count: Int, screen: Screen, _ state: State
  ) {
    guard let store = state.store, store.columns[entity] != nil else { return nil }
    if let filter, (try? RowFilter(filter, entity: entity, layout: store.layout)) == nil {
      // Of a version that the store is not of: its names mean nothing here.
      guard let first, store.columns[first.entity] != nil else { return nil }
      self.filter = nil
    } else {
      self.filter = filter
    }
    self.entity = entity
    self.first = first
    self.count = count
    self.screen = screen
  }

  /// What the key that goes there does.
  var title: String {
    filter == nil && first != nil || count == 1 ? "go to the row" : "go to the rows"
  }

  /// Shows them in Browse, and says how to come back.
  func show(in state: inout State) -> [Effect] {
    let effects: [Effect]
    let what: String
    if filter == nil, let first {
      effects = state.on(BrowseScreen.self) { $0.goTo(object: first, in: &$1) }
      what = "\(first)" + (count > 1 ? ", the first of \(NumberText.grouped(count)) rows" : "")
    } else {
      effects = state.on(BrowseScreen.self) {
        $0.goTo(entity: entity, filter: filter, in: &$1)
      }
      what = filter.map { "\(entity) where \($0)" } ?? "all of \(entity)"
    }
    if state.notice == nil {
      state.notice = Notice("\(what); \(screen.rawValue) goes back to \(screen.title)")
    }
    return effects
  }
}
