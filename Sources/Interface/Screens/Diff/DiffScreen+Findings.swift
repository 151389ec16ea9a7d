import Lint
import ManagedModel
import Terminal

extension DiffScreen {
  /// Has the rules look at what is compared.
  mutating func lint(in state: inout State) -> [Effect] {
    let sides = [from, to].compactMap { index -> LintComparison.Side? in
      guard let version = state.versions.element(index), let model = version.model,
        // The tables of a store without a model are no version of one.
        !(version.path.isEmpty && state.store?.isRaw == true)
      else { return nil }
      return LintComparison.Side(name: version.name, path: version.path, model: model)
    }
    guard sides.count == 2 else { return [] }
    let mappings = state.planOptions.documents
    return state.ask(&findings.task) {
      .compute($0, .lint(from: sides[0], to: sides[1], mappings: mappings))
    }
  }

  func findingsBinding(_ state: State) -> Binding {
    let reason: String? =
      findings.result != nil || findings.task != nil
      ? nil : comparison == nil ? "nothing is compared" : "a version has no model to be looked at"
    let path = state.versions.element(to)?.path ?? ""
    let models = path.isEmpty ? "MODELS" : ShellText.quoted(state.named(path))
    return Binding(
      ["f"], "findings", shows("findings") { FindingsLayer($0, $1) }, unless: reason,
      command: "strata lint \(models)")
  }

  /// Selects the line that a finding is about, or the nearest, and says so where it is not its own.
  mutating func go(to finding: LintFinding, in state: inout State) {
    let names = findings.comparison?.names ?? []
    let other = finding.version.flatMap { names.contains($0) ? nil : $0 }
    let index = DiffLine.index(of: finding, in: allLines, state.models(from: from, to: to))
    if let line = allLines.element(index) {
      reveal(line)
      let isOwn = line.property != nil || finding.property == nil
      if let other {
        state.notice = Notice(
          "\(finding.rule.id) is about “\(other)”, which is not compared here; o compares it")
      } else if !isOwn, let subject = finding.subject {
        state.notice = Notice("\(subject) has no line of its own; this is its entity")
      }
    } else {
      list.home()
      meaningOffset = 0
      let what =
        finding.entity.map { "\($0), which neither version has" }
        ?? other.map { "“\($0)”, which is not compared here; o compares it" }
        ?? finding.version.map { "“\($0)” as a whole; no line is its own" }
        ?? "the models as a whole; no line is its own"
      state.notice = Notice("\(finding.rule.id) is about \(what)")
    }
    list.setHeight(DiffLayout(self, state).list.height)
  }

  /// Brings a line in sight, whatever hides it.
  private mutating func reveal(_ line: DiffLine) {
    (searched, focus, meaningOffset) = ("", .lines, 0)
    folded.remove(line.entity)
    refilter()
    if !lines.contains(line) {
      showsOnlyChanges = false
      refilter()
    }
    if let index = lines.firstIndex(of: line) { list.select(index) }
  }
}

extension DiffLine {
  /// The line of what a finding is about: a property's own or the one where it is declared, else that
  /// of its entity.
  static func index(
    of finding: LintFinding, in lines: [DiffLine], _ models: (source: Model, destination: Model)?
  ) -> Int? {
    guard let entity = finding.entity else { return nil }
    let head = lines.firstIndex { $0.property == nil && $0.isCalled(entity) }
    guard let property = finding.property else { return head }
    let declaring = [models?.destination, models?.source].compactMap {
      $0?.declaringEntity(of: property, in: entity)
    }
    for name in [entity] + declaring {
      // Both sides of an entity are one in the lines.
      let holder = lines.first { $0.property == nil && $0.isCalled(name) }?.entity ?? name
      let own = lines.firstIndex { $0.entity == holder && $0.property == property }
      let former = lines.firstIndex {
        $0.entity == holder && $0.property != nil && $0.left?.name == property
      }
      if let index = own ?? former { return index }
    }
    return head
  }

  /// Whether an entity's line is of that name, in either version.
  private func isCalled(_ name: String) -> Bool {
    entity == name || left?.name == name
  }
}
