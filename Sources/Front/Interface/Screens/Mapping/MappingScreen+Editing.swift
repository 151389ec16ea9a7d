import ManagedModel
import Migration

/// Changing a mapping by hand: each change makes a recipe and a new plan.
extension MappingScreen {
  /// What `r` would offer for what is selected.
  enum Target {
    case suggestions(String, [MappingSuggestion])
    case fixes([MappingEdits.Edit])
    case value(place: String, expression: String)
  }

  func target(_ context: Context) -> Target? {
    switch activePane {
    case .mappings:
      guard let entry = selectedEntry else { return nil }
      switch (entry.mapping.kind, entry.mapping.source, entry.mapping.destination) {
      case (.remove, let source?, _):
        return .suggestions(
          "What becomes of \(source)",
          MappingSuggestion.forLoss(entity: source, property: nil, in: entry.step))
      case (.add, _, let destination?):
        let all = MappingSuggestion.forNewEntity(destination, in: entry.step)
        return all.isEmpty ? nil : .suggestions("\(destination) is the former…", all)
      default: return nil
      }
    case .losses:
      switch selectedProblem {
      case .loss(let loss):
        guard let step = step(of: loss) else { return nil }
        let all = MappingSuggestion.forLoss(entity: loss.entity, property: loss.property, in: step)
        return all.isEmpty ? nil : .suggestions("\(loss.name) becomes…", all)
      case .check: return valueTarget.map { .value(place: $0.place, expression: $0.expression) }
      case .refusal(let refusal):
        let fixes = fixes(for: refusal, context)
        return fixes.isEmpty ? nil : .fixes(fixes)
      default: return nil
      }
    }
  }

  /// Whether something could take what would be lost and is not accepted.
  func canMapLosses(_ context: Context) -> Bool {
    guard let plan, context.planOptions.documents.isEmpty, !isThroughVersions else { return false }
    return plan.unallowedLosses(allowedLosses).contains { loss in
      step(of: loss).map {
        !MappingSuggestion.forLoss(entity: loss.entity, property: loss.property, in: $0).isEmpty
      } ?? false
    }
  }

  /// What would let a refused change pass.
  func fixes(for refusal: CoreDataError, _ context: Context) -> [MappingEdits.Edit] {
    guard refusal.code == .inferredMappingModel,
      let (source, destination) = context.known.models(from: context.versions.storesIndex, to: to)
    else { return [] }
    return MappingSuggestion.fixes(for: refusal, from: source, to: destination)
  }

  private func step(of loss: Loss) -> MigrationStep? {
    plan?.steps.first { $0.source.entity(named: loss.entity) != nil }
  }

  /// The attribute whose value can be computed, with an expression to begin with.
  var valueTarget: (place: String, expression: String)? {
    guard activePane == .losses else { return nil }
    switch selectedProblem {
    case .check(let check):
      guard let property = check.property, let step = plan?.steps.last,
        let value = MappingSuggestion.value(for: property, of: check.entity, in: step)
      else { return nil }
      let place = value.place.text
      return (place, currentEdits.values[place] ?? value.expression)
    case .edit(.value(let place, let expression)): return (place, expression)
    default: return nil
    }
  }

  /// The entity whose objects can be deleted on purpose.
  var deletable: String? {
    switch activePane {
    case .mappings:
      guard let mapping = selectedEntry?.mapping, mapping.kind == .remove,
        !mapping.isDeletionIntended
      else { return nil }
      return mapping.source
    case .losses:
      guard let loss = selectedLoss, loss.property == nil, !loss.isIntended else { return nil }
      return loss.entity
    }
  }

  /// How many objects of an entity that goes there are in this store.
  func objects(of entity: String) -> Int {
    plan?.losses.first { $0.entity == entity && $0.property == nil }?.values
      ?? entries.first { $0.mapping.kind == .remove && $0.mapping.source == entity }
      .flatMap { $0.step.rows[$0.mapping.name] } ?? 0
  }

  /// The changes that the selected line is, or comes from.
  var selectedEdits: [MappingEdits.Edit] {
    switch activePane {
    case .losses:
      switch selectedProblem {
      case .edit(let edit): return [edit]
      case .loss(let loss) where loss.isIntended:
        return currentEdits.all.filter { $0 == .delete(loss.entity) }
      default: return []
      }
    case .mappings:
      guard let mapping = selectedEntry?.mapping else { return [] }
      return edits(of: mapping)
    }
  }

  /// The changes that have to do with an entity mapping.
  func edits(of mapping: EntityMapping) -> [MappingEdits.Edit] {
    currentEdits.all.filter { edit in
      let (source, destination) = edit.entities
      return (source == nil || source == mapping.source)
        && (destination == nil || destination == mapping.destination)
    }
  }

  mutating func suggest(in context: inout Context) -> [Effect] {
    switch target(context) {
    case .suggestions(let title, let suggestions):
      context.show(SuggestionsLayer(title, suggestions))
    case .fixes(let edits): return apply(edits, in: &context)
    case .value(let place, let expression):
      context.show(ExpressionLayer(place, expression, context))
    case nil: break
    }
    return []
  }

  /// Adds changes and plans again.
  mutating func apply(_ edits: [MappingEdits.Edit], in context: inout Context) -> [Effect] {
    change(edits, in: &context, "✎ ", "; x undoes it") { $0.add($1) }
  }

  mutating func removeEdits(in context: inout Context) -> [Effect] {
    change(selectedEdits, in: &context, "undone: ", "") { $0.remove($1) }
  }

  private mutating func change(
    _ edits: [MappingEdits.Edit], in context: inout Context, _ start: String, _ end: String,
    _ work: (inout MappingEdits, MappingEdits.Edit) -> Void
  ) -> [Effect] {
    guard let to else { return [] }
    var all = currentEdits
    for edit in edits { work(&all, edit) }
    self.edits[editsKey] = all.isEmpty ? nil : all
    recipePath = nil
    context.notice = Notice(start + edits.map(\.text).joined(separator: ", ") + end)
    return plan(to: to, in: &context)
  }

  var view: MappingView { MappingView(edits: edits) }

  /// Restores changes as they were, and plans again where they are another's.
  mutating func arrange(_ view: MappingView, in context: inout Context) -> [Effect] {
    guard view.edits != edits else { return [] }
    let before = currentEdits
    edits = view.edits
    guard currentEdits != before, let to else { return [] }
    recipePath = nil
    let isKnown = plan != nil || refusal != nil || task != nil
    return isKnown ? plan(to: to, in: &context) : []
  }

  mutating func write(_ file: RecipeFile, in context: inout Context) -> [Effect] {
    writing = file
    return context.ask(&writeTask) { .writeRecipe($0, file) }
  }

  /// The mapping as a file to be written, under a name to begin with.
  func recipeFile(_ context: Context) -> RecipeFile? {
    guard let step = plan?.steps.first, plan?.steps.count == 1 else { return nil }
    let hasNames = context.versions.element(context.versions.storesIndex)?.path.isEmpty == false
    return RecipeFile(
      path: recipePath ?? defaultRecipePath(context), step: step, from: hasNames ? step.from : "",
      to: hasNames ? step.to : "", overwrites: false)
  }

  /// A name beside the model; elsewhere when that is beside the store.
  func defaultRecipePath(_ context: Context) -> String {
    guard let version = context.versions.element(to) else { return "recipe.json5" }
    func folder(_ path: String) -> String {
      path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }
    let from = context.storeModelName ?? "this store"
    let name = "\(from) to \(version.name).json5".map { $0 == "/" ? "-" : String($0) }.joined()
    let bundle = context.known.named(version.bundlePath ?? version.path)
    let (place, store) = (folder(bundle), folder(context.storePath))
    guard bundle.isEmpty || place == store else {
      return place == "." ? name : "\(place)/\(name)"
    }
    // Nothing is put beside a store unless somebody types that.
    return store == "." ? "../\(name)" : name
  }
}
