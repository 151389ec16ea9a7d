import Lint
import ManagedModel
import Terminal

/// What the rules say of the two versions that are compared, as far as it is known.
struct DiffFindings: Sendable, Equatable {
  /// Looks while it is there.
  var task: TaskID?
  /// `nil` until it is known, and where nothing can be asked.
  var result: Result<LintComparison, CoreDataError>?
  /// The row of the list that was selected last.
  var selected = 0

  var comparison: LintComparison? { try? result?.get() }

  /// A row of the list.
  enum Row: Sendable, Equatable {
    /// What the findings below have in common, in a few words and in a sentence.
    case heading(String, about: String)
    case finding(LintFinding)
    case note(String)
  }

  /// What is about the two versions, then what is not new, then what is about others.
  var rows: [Row] {
    guard let comparison else { return [] }
    func group(_ findings: [LintFinding], _ title: String, _ about: String) -> [Row] {
      findings.isEmpty ? [] : [.heading(title, about: about)] + findings.map(Row.finding)
    }
    return comparison.findings.map(Row.finding)
      + group(
        comparison.known, "in both versions",
        "Warnings that the version on the left has as well: this change did not cause them.")
      + group(
        comparison.others, "other versions and steps",
        "What else lint finds in the same models; o compares other versions.")
      + (comparison.notes.isEmpty
        ? [] : [.heading("notes", about: "What else there is to know about the models.")])
      + comparison.notes.map(Row.note)
  }

  /// How many findings about the two versions are how grave; none where none is.
  var counts: [(severity: LintRule.Severity, count: Int)] {
    LintRule.Severity.allCases.map { severity in
      (severity, comparison?.findings.count { $0.severity == severity } ?? 0)
    }.filter { $0.count > 0 }
  }

  /// The same for a line that says so; the longest form first.
  func counts(with theme: Theme) -> [[Span]] {
    switch result {
    case nil: return task == nil ? [] : [[Span("… lint", theme[.dim])]]
    case .failure: return [[Span("! lint failed: f", theme[.warning])]]
    case .success:
      if counts.isEmpty { return [[Span("✓ no findings", theme[.success])]] }
      let long = counts.map { severity, count in
        Span(
          "\(severity.sign) \(NumberText.counted(count, severity.rawValue))  ", theme[severity.role]
        )
      }
      let short = counts.map { Span("\($0.sign) \($1)  ", theme[$0.role]) }
      return [long + [Span("f lists")], short + [Span("f")]]
    }
  }
}

extension LintRule.Severity {
  var sign: String { self == .error ? "✗" : "!" }
  var role: Theme.Role { self == .error ? .error : .warning }
}

extension LintFinding {
  /// All that is reported of it, a paragraph each: what was found, what follows, what to do, and what
  /// `lint --explain` says of the rule.
  var sentences: [TextLine] {
    var lines: [TextLine] = [
      (message, severity.role), ("On a device: " + deviceText, .text),
      ("→ " + advice.typed, .success),
    ]
    let known = [message, deviceText]
    for text in [rule.title, rule.explanation] where !known.contains(text) {
      lines.append((text, .dim))
    }
    // What holds for this one may be other than what holds for the rule.
    if advice != rule.advice { lines.append(("Otherwise: " + rule.advice.typed, .dim)) }
    lines.append((place, .dim))
    return lines
  }

  /// The rule and how grave it is here, the version, and the file with its line.
  private var place: String {
    let file = path.isEmpty ? nil : line.map { "\(path):\($0)" } ?? path
    let version = version.map { "“\($0)”" }
    return (["\(rule.id) (\(severity.rawValue))", version, file] as [String?])
      .compactMap { $0 }.joined(separator: "  ")
  }
}

extension DiffScreen {
  /// Has the rules look at what is compared.
  mutating func lint(in context: inout Context) -> [Effect] {
    let sides = [from, to].compactMap { index -> LintComparison.Side? in
      guard let version = context.versions.element(index), let model = version.model,
        // The tables of a store without a model are no version of one.
        !(version.path.isEmpty && context.store?.isRaw == true)
      else { return nil }
      return LintComparison.Side(name: version.name, path: version.path, model: model)
    }
    guard sides.count == 2 else { return [] }
    let mappings = context.planOptions.documents
    return context.ask(&findings.task) {
      .compute($0, .lint(from: sides[0], to: sides[1], mappings: mappings))
    }
  }

  func findingsBinding(_ context: Context) -> Binding {
    let reason: String? =
      findings.result != nil || findings.task != nil
      ? nil : comparison == nil ? "nothing is compared" : "a version has no model to check"
    let path = context.versions.element(to)?.path ?? ""
    let models = path.isEmpty ? "MODELS" : ShellText.quoted(context.known.named(path))
    return Binding(
      ["f"], "findings", shows("findings") { screen, _ in FindingsLayer(screen.findings) },
      unless: reason,
      command: "strata lint \(models)")
  }

  /// Selects the line that a finding is about, or the nearest, and says so where it is not its own.
  mutating func go(to finding: LintFinding, in context: inout Context) -> [Effect] {
    let names = findings.comparison?.names ?? []
    let other = finding.version.flatMap { names.contains($0) ? nil : $0 }
    let index = DiffLine.index(of: finding, in: allLines, context.known.models(from: from, to: to))
    if let line = allLines.element(index) {
      reveal(line)
      let isOwn = line.property != nil || finding.property == nil
      if let other {
        context.notice = Notice(
          "\(finding.rule.id) is about “\(other)”, which is not compared here; o compares it")
      } else if !isOwn, let subject = finding.subject {
        context.notice = Notice("\(subject) has no line of its own; this is its entity")
      }
    } else {
      list.home()
      meaningOffset = 0
      // For one chain of ?? the compiler takes three seconds.
      let what =
        if let entity = finding.entity {
          "\(entity), which neither version has"
        } else if let other {
          "“\(other)”, which is not compared here; o compares it"
        } else if let version = finding.version {
          "“\(version)” as a whole: it has no line of its own"
        } else {
          "the models as a whole: they have no line of their own"
        }
      context.notice = Notice("\(finding.rule.id) is about \(what)")
    }
    list.setHeight(DiffLayout(self, context).list.height)
    return []
  }

  /// Gives the popup the findings that have come in.
  func tellFindings(_ context: inout Context) {
    context.tell(FindingsLayer.self) { [findings] in $0.findings = findings }
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
