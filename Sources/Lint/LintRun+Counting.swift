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
        "\(configuration.path):\(exception.line): the exception for \(exception.rule) matches no finding."
      )
    }
    // What looks renamed is not reported again as removed.
    let renamed = Set(
      counted.filter { $0.rule.id == LintRule.looksLikeRename.id }.map { rename in
        Names(rename.version, rename.property == nil ? nil : rename.entity, rename.former)
      })
    findings = counted.filter { finding in
      guard finding.rule.isDrop else { return true }
      let former = finding.property ?? finding.entity
      // A property is looked for in its entity; an entity wherever it was.
      return !renamed.contains(Names(finding.version, finding.entity, former))
        && !renamed.contains(Names(finding.version, nil, former))
    }
    findings = Self.inOrder(findings)
    silenced = Self.inOrder(silenced)
    var told: Set<String> = []
    notes = notes.filter { told.insert($0).inserted }
  }

  /// Names that distinguish findings.
  private struct Names: Hashable {
    let names: [String?]

    init(_ names: String?...) { self.names = names }
  }

  /// Takes out the warnings that a version before has as well.
  mutating func setAside(_ shipped: [LintFinding]) {
    func names(_ finding: LintFinding) -> Names {
      Names(finding.rule.id, finding.entity, finding.property)
    }
    let before = Set(shipped.map(names))
    let isKnown = { (finding: LintFinding) in
      finding.severity == .warning && before.contains(names(finding))
    }
    known = findings.filter(isKnown)
    findings.removeAll(where: isKnown)
  }

  /// Sorted by file and line, each once.
  private static func inOrder(_ findings: [LintFinding]) -> [LintFinding] {
    let sorted = findings.enumerated().sorted { one, other in
      let (a, b) = (one.element, other.element)
      if a.path != b.path { return a.path < b.path }
      if a.line != b.line { return (a.line ?? 0) < (b.line ?? 0) }
      return one.offset < other.offset
    }.map(\.element)
    // Few have the same names and sentence: those alone are compared as a whole.
    var seen: [Names: [LintFinding]] = [:]
    return sorted.filter { finding in
      let names = Names(
        finding.rule.id, finding.version, finding.entity, finding.property, finding.message)
      guard seen[names]?.contains(finding) != true else { return false }
      seen[names, default: []].append(finding)
      return true
    }
  }
}

extension LintRule {
  /// Whether it reports that something was removed.
  fileprivate var isDrop: Bool {
    [Self.attributeDropped, .entityDropped, .relationshipDropped].contains { $0.id == id }
  }
}
