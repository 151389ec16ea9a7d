import ManagedModel
import Migration
import Terminal

extension MappingScreen {
  func bindings(_ context: Context) -> [Binding] {
    let noPlan = plan == nil ? "there is no plan" : nil
    let isAllowed = selectedLoss.map { $0.isAllowed(by: allowedLosses) } ?? false
    let migrate = command(context)
    return [
      Binding(
        [.enter], titleOfOpening(context), does("open") { $0.open(in: &$1) },
        unless: reasonNotToOpen),
      Binding(
        ["r"], "map to…", does("suggest") { $0.suggest(in: &$1) },
        unless: reasonNotToSuggest(context)
      ),
      Binding(
        ["a"], isAllowed ? "refuse loss" : "accept loss",
        does("allowLoss") { $0.toggleLoss(in: &$1) }, unless: reasonNotToAllow, command: migrate),
      Binding(
        [.tab, .backTab], "other pane",
        changes("nextPane") { $0.focus = $0.focus == .mappings ? .losses : .mappings },
        unless: noPlan),
      Binding(["m"], "migrate", .show(.migrate), command: migrate),
      Binding(
        ["R"], "rehearse", does("rehearse") { $0.rehearse(in: &$1) },
        unless: reasonNotToRehearse(context),
        command: command(context, "rehearse")),
      Binding(
        ["o"], "other version", shows("chooseVersion") { $0.versions($1) },
        unless: context.versionsTask == nil ? nil : "still looking for versions",
        command: command(context, "plan")),
      Binding(
        ["S"], "SQL", does("showCode") { $0.collectCode(in: &$1) },
        unless: reasonNotToShowCode(context)),
      Binding(
        ["w"], "write recipe",
        shows("writeRecipe") { $0.recipeFile($1).map { PromptLayer.write($0) } },
        unless: reasonNotToWrite),
      Binding(
        ["A"], "accept all losses",
        shows("allowAll") { screen, _ in
          PromptLayer.accept(screen.plan?.unallowedLosses(screen.allowedLosses) ?? [])
        },
        unless: noPlan
          ?? (plan?.unallowedLosses(allowedLosses).isEmpty == false
            ? nil : "no loss is left to accept"),
        command: migrate, footer: false),
      Binding(
        ["="], "compute a value",
        shows("setValue") { screen, context in
          screen.valueTarget.map { ExpressionLayer($0.place, $0.expression, context) }
        }, unless: reasonNotToSetValue(context), footer: false),
      Binding(
        ["d"], "delete on purpose",
        shows("deleteObjects") { screen, _ in
          screen.deletable.map { PromptLayer.delete($0, objects: screen.objects(of: $0)) }
        }, unless: reasonNotToDelete(context), footer: false),
      Binding(
        ["x"], "undo a change", does("removeEdit") { $0.removeEdits(in: &$1) },
        unless: selectedEdits.isEmpty
          ? (currentEdits.isEmpty ? "nothing was changed" : "select what was changed (marked ✎)")
          : nil, footer: false),
      Binding(
        ["P"], "plan again",
        does("planAgain") { screen, context in
          screen.to.map { screen.plan(to: $0, in: &context) } ?? []
        },
        unless: to == nil ? Self.noVersions : nil,
        command: command(context, "plan"), footer: false),
      CopyLayer.binding(copies(context)),
      scrolling { $0.navigate($1, $2) },
    ]
  }

  private func titleOfOpening(_ context: Context) -> String {
    guard activePane == .losses, case .check(let check)? = selectedProblem else { return "details" }
    return ConcernedRows(check, context)?.title ?? "details"
  }

  private var reasonNotToOpen: String? {
    switch activePane {
    case .mappings: selectedEntry == nil ? "there is no mapping" : nil
    case .losses: selectedProblem == nil && plan == nil ? "there is nothing to show" : nil
    }
  }

  private var reasonNotToAllow: String? {
    guard let plan else { return "there is no plan" }
    guard !plan.losses.isEmpty else { return "nothing would be lost" }
    return selectedLoss == nil ? "select a loss in the lower pane first (Tab)" : nil
  }

  /// Why nothing can be changed by hand; `nil` where it can.
  private func reasonNotToEdit(_ context: Context) -> String? {
    if let document = context.planOptions.documents.first {
      return "\(document) says what is mapped: change it there"
    }
    if isThroughVersions {
      return "a path through versions is inferred: choose a direct migration (o)"
    }
    return task == nil ? nil : "the plan is still being made"
  }

  func reasonNotToSuggest(_ context: Context) -> String? {
    if let reason = reasonNotToEdit(context) { return reason }
    guard target(context) == nil else { return nil }
    if let loss = selectedLoss, activePane == .losses {
      return loss.isIntended
        ? "the recipe says so" : "nothing new in the destination fits \(loss.name)"
    }
    return activePane == .mappings
      ? "select a mapping that removes or adds an entity, or a loss (Tab)"
      : plan == nil ? "nothing simple would let this pass" : "select a loss, or a check that fails"
  }

  private func reasonNotToSetValue(_ context: Context) -> String? {
    reasonNotToEdit(context)
      ?? (valueTarget == nil
        ? "select a check of a value that is missing, or a computed value" : nil)
  }

  private func reasonNotToDelete(_ context: Context) -> String? {
    reasonNotToEdit(context)
      ?? (deletable == nil ? "select an entity that goes, or the loss of its objects" : nil)
  }

  private func reasonNotToShowCode(_ context: Context) -> String? {
    if let reason = reasonNotToRead(context) { return reason }
    guard let plan else { return "there is no plan" }
    if plan.isNothingToDo { return "there is nothing to do" }
    return codeTask == nil ? nil : "it is being collected"
  }

  private var reasonNotToWrite: String? {
    guard let plan else { return "there is no plan" }
    if plan.isNothingToDo { return "there is nothing to do" }
    return plan.steps.count == 1
      ? nil : "a recipe is for one pair of versions, and this plan has several"
  }

  /// A copy may lose what the store may not yet.
  private func reasonNotToRehearse(_ context: Context) -> String? {
    var accepted = self
    accepted.allowedLosses.formUnion(plan?.losses.map(\.name) ?? [])
    return reasonNotToRead(context) ?? accepted.reasonNotToRun
  }

  /// Both read the store with a handle of their own, which no cut-over must meet.
  private func reasonNotToRead(_ context: Context) -> String? {
    context.work.map { "\($0) is running" }
  }

  private func versions(_ context: Context) -> VersionsLayer {
    VersionsLayer(
      .migrateTo, count: context.versions.count, selected: to ?? 0,
      isThroughVersions: isThroughVersions)
  }

  private mutating func collectCode(in context: inout Context) -> [Effect] {
    guard let plan else { return [] }
    context.notice = Notice("collecting the statements …")
    return context.ask(&codeTask) { .compute($0, .statements(plan)) }
  }

  private func rehearse(in context: inout Context) -> [Effect] {
    guard let plan else { return [] }
    var options = MigrationOptions()
    let open = plan.unallowedLosses(allowedLosses)
    options.allowedLosses = allowedLosses.union(open.map(\.name))
    options.keepsBackup = false
    if !open.isEmpty {
      context.notice = Notice(
        "rehearsed as if \(NumberText.counted(open.count, "open loss", plural: "open losses")) "
          + "were accepted")
    }
    return context.show(RehearsalLayer(plan)) { layer, context in
      context.ask(&layer.task) { .rehearse($0, plan, options) }
    }
  }

  private mutating func navigate(_ key: Key, _ context: Context) {
    switch activePane {
    case .mappings:
      mappings.handle(key, height: MappingScreenLayout(self, context).mappings.inset(by: 1).height)
    case .losses:
      problems.handle(key, height: 1)
    }
  }

  private mutating func toggleLoss(in context: inout Context) -> [Effect] {
    guard let loss = selectedLoss else { return [] }
    if loss.isIntended {
      context.notice = Notice("the recipe says so; x undoes the change")
    } else if loss.isAllowed(by: allowedLosses) {
      allowedLosses.subtract(loss.allowances)
      context.notice = Notice("the loss of \(loss.name) is refused again")
    } else if loss.property == nil {
      context.show(PromptLayer.accept([loss]))
    } else {
      return allow([loss], in: &context)
    }
    return []
  }

  mutating func allow(_ losses: [Loss], in context: inout Context) -> [Effect] {
    allowedLosses.formUnion(losses.map(\.name))
    selectNextLoss()
    let left = plan?.unallowedLosses(allowedLosses).count ?? 0
    let what =
      losses.count == 1
      ? "the loss of \(losses[0].name) is accepted" : "\(losses.count) losses are accepted"
    context.notice = Notice(left == 0 ? what : "\(what), \(left) left", .success)
    return []
  }
}
