import ManagedModel

/// What of everything that was found counts.
extension LintRun {
  /// Levels, exceptions and silences applied, what is left in order.
  mutating func sort(
    _ found: [LintFinding], _ silences: Silences, _ configuration: LintConfiguration
  ) {
    notes += silences.mistakes
    var used: Set<Int> = []
    var counted: [LintFinding] = []
    for finding in found {
      var finding = finding
      if let level = levels[finding.rule.id] {
        guard let severity = level else { continue }
        finding.severity = severity
      }
      if let index = configuration.exceptions.firstIndex(where: { $0.applies(to: finding) }) {
        used.insert(index)
        finding.silence = .init(
          place: .configuration, reason: configuration.exceptions[index].reason)
      } else {
        finding.silence = silences.silence(of: finding)
      }
      if finding.silence == nil { counted.append(finding) } else { silenced.append(finding) }
    }
    for (index, exception) in configuration.exceptions.enumerated() where !used.contains(index) {
      notes.append(
        "\(configuration.path):\(exception.line): the exception of \(exception.rule) is for nothing that was found."
      )
    }
    // What looks renamed is not told again as gone.
    let renamed = counted.filter { $0.rule == .looksLikeRename }
    findings = counted.filter { finding in
      !finding.rule.isDrop
        || !renamed.contains { rename in
          rename.version == finding.version
            && rename.former == (finding.property ?? finding.entity)
            && (rename.property == nil || rename.entity == finding.entity)
        }
    }
    findings = Self.inOrder(findings)
    silenced = Self.inOrder(silenced)
    notes = notes.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// Takes out the warnings that a version before has as well.
  mutating func setAside(_ shipped: [LintFinding]) {
    let isKnown = { (finding: LintFinding) in
      finding.severity == .warning
        && shipped.contains {
          $0.rule == finding.rule && $0.entity == finding.entity && $0.property == finding.property
        }
    }
    known = findings.filter(isKnown)
    findings.removeAll(where: isKnown)
  }

  private static func inOrder(_ findings: [LintFinding]) -> [LintFinding] {
    var seen: [LintFinding] = []
    let sorted = findings.enumerated().sorted { one, other in
      let (a, b) = (one.element, other.element)
      if a.path != b.path { return a.path < b.path }
      if a.line != b.line { return (a.line ?? 0) < (b.line ?? 0) }
      return one.offset < other.offset
    }.map(\.element)
    for finding in sorted where !seen.contains(finding) { seen.append(finding) }
    return seen
  }
}

extension LintRule {
  /// Whether it tells that something is gone.
  fileprivate var isDrop: Bool {
    [Self.attributeDropped, .entityDropped, .relationshipDropped].contains(self)
  }
}
