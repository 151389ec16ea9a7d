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
        "Warnings that the version on the left has as well: nothing that this change brings.")
      + group(
        comparison.others, "other versions and steps",
        "What lint finds besides in the same models; o compares other versions.")
      + (comparison.notes.isEmpty
        ? [] : [.heading("notes", about: "What else there is to know of the models.")])
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
  /// All that is told of it, a paragraph each: what was found, what follows, what to do, and what
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
