import ManagedModel
import ManagedStore
import Migration
import Rescue

/// The rows of the store that a check, a loss or a change is about, for going there.
struct ConcernedRows: Sendable, Equatable {
  private var entity: String
  /// The property that they are concerned by; its column is chosen.
  private var property: String?
  /// Takes exactly them; `nil` where no predicate is known to, or all rows are meant.
  private var filter: String?
  /// The first of them, where the filter does not say which they are.
  private var first: ObjectID?
  private var count: Int
  private var screen: Screen

  /// - Returns: `nil` where no row is known, or none of this store.
  init?(_ check: DataCheck, _ context: Context) {
    guard let first = check.first.first else { return nil }
    // Mappings of one's own are checked by what they make, under the new entity's name.
    let mapping = context.planned.plan?.steps.first?.mapping.mapping(toDestination: first.entity)
    let former = mapping?.source
    let name = context.store?.columns[first.entity] == nil ? former ?? first.entity : first.entity
    let property = check.property.map { property in
      mapping?.attributes.first { $0.name == property }?.source
        ?? mapping?.relationships.first { $0.name == property }?.source ?? property
    }
    self.init(
      entity: name, property, filter: check.predicate,
      first: ObjectID(entity: name, key: first.key),
      count: check.rows, screen: .mapping, context)
  }

  init?(_ loss: Loss, _ context: Context) {
    guard let model = context.store?.model else { return nil }
    self.init(
      entity: loss.entity, loss.property, filter: loss.predicate(in: model), first: nil,
      count: loss.values,
      screen: .mapping, context)
  }

  init?(_ impact: ChangeImpact, _ context: Context) {
    guard let first = impact.objects.first else {
      guard impact.property == nil || impact.predicate != nil else { return nil }
      self.init(
        entity: impact.entity, impact.property, filter: impact.predicate, first: nil,
        count: impact.rows,
        screen: .diff, context)
      return
    }
    // The objects of all subentities that the change is about.
    let lineage = context.store?.model.lineage(of: first.entity).map(\.name) ?? []
    let common = lineage.first { ancestor in
      impact.objects.allSatisfy { context.store?.model.isKind($0.entity, of: ancestor) == true }
    }
    self.init(
      entity: common ?? first.entity, impact.property, filter: impact.predicate, first: first,
      count: impact.rows, screen: .diff, context)
  }

  init?(_ finding: Finding, _ context: Context) {
    guard let store = context.store else { return nil }
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
      entity: entity, finding.property,
      filter: finding.predicate ?? (isWhole ? "SELF IN {\(names)}" : nil),
      first: objects.first, count: finding.count ?? objects.count, screen: .rescue, context)
  }

  private init?(
    entity: String, _ property: String?, filter: String?, first: ObjectID?, count: Int,
    screen: Screen, _ context: Context
  ) {
    guard let store = context.store, store.columns[entity] != nil else { return nil }
    if let filter, (try? RowFilter(filter, entity: entity, layout: store.layout)) == nil {
      // Of a version that the store is not of: its names mean nothing here.
      guard let first, store.columns[first.entity] != nil else { return nil }
      self.filter = nil
    } else {
      self.filter = filter
    }
    (self.entity, self.property) = (entity, property)
    (self.first, self.count, self.screen) = (first, count, screen)
  }

  /// What the key that goes there does.
  var title: String {
    filter == nil && first != nil || count == 1 ? "go to the row" : "go to the rows"
  }

  /// Shows them in Browse, and says how to come back.
  func show(in context: inout Context) -> [Effect] {
    context.on(BrowseScreen.self) { browse, context in
      let effects: [Effect]
      let what: String
      if filter == nil, let first {
        effects = browse.goTo(object: first, in: &context)
        what = "\(first)" + (count > 1 ? ", the first of \(NumberText.grouped(count)) rows" : "")
      } else {
        effects = browse.goTo(entity: entity, filter: filter, in: &context)
        what = filter.map { "\(entity) where \($0)" } ?? "all of \(entity)"
      }
      if let property { browse.table?.reveal(property) }
      if context.notice == nil {
        context.notice = Notice("\(what); \(screen.rawValue) goes back to \(screen.title)")
      }
      return effects
    }
  }
}
