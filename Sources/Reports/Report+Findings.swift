import Lint
import ManagedModel
import Migration
import Rescue

extension Finding {
  /// What was found, and the first of it.
  package var found: [Report.Line] {
    guard !first.isEmpty else { return [Report.Line(Report.Mark(severity), "\(sentence)")] }
    // Five are named at most.
    let more = first.count >= 5 && (count ?? .max) > 5 ? " …" : ""
    return [
      Report.Line(Report.Mark(severity), "\(sentence)"),
      Report.Line("first: \(first.joined(separator: ", "))\(more)", as: .detail, depth: 1),
    ]
  }

  /// What Core Data reports; empty where it reports nothing.
  package var reported: [Report.Line] {
    consequence.map { [Report.Line("Core Data: \($0.text)", depth: 1)] } ?? []
  }

  /// What helps.
  package var help: [Report.Line] {
    [Report.Line(advice, depth: 1)]
      + (command.map { [Report.Line($0, as: .code, depth: 2)] } ?? [])
  }
}

extension Report {
  /// Everything that is wrong with a store, the gravest first.
  package init(_ diagnosis: Diagnosis) {
    var lines: [Line] = []
    var rest = diagnosis.findings[...]
    while let finding = rest.first {
      // What follows from them, and what helps, is said once for all that agree in it.
      let group = rest.prefix {
        ($0.kind, $0.severity, $0.advice, $0.command)
          == (finding.kind, finding.severity, finding.advice, finding.command)
      }
      for finding in group {
        var found = finding.found
        found[0].text = "\(found[0].text) [\(finding.kind.rawValue)]"
        lines += found
      }
      lines += finding.reported + finding.help
      rest = rest.dropFirst(group.count)
    }
    var summary: [Line] = []
    // Of another program's database nothing is wrong: it is no store.
    if diagnosis.refusal?.code != .persistentStoreInvalidType || diagnosis.isReadable {
      summary.append(Self.summary(diagnosis))
    }
    if let check = diagnosis.migrationChecks.first {
      let place = [check.entity, check.property].compactMap { $0 }.joined(separator: ".")
      let more = diagnosis.migrationChecks.count - 1
      summary.append(
        Line(
          .warning,
          "A migration of the store as it is would be refused: \(place): \(check.summary)\(more > 0 ? ", and \(more) more" : "")"
        ))
    }
    self.init([Section(lines), Section(summary)])
  }

  /// How many findings there are of each severity.
  private static func summary(_ diagnosis: Diagnosis) -> Line {
    guard diagnosis.isReadable else { return Line(.error, "nothing of the store can be read") }
    let counts = Finding.Severity.allCases.filter { diagnosis.count($0) > 0 }.map {
      NumberText.counted(diagnosis.count($0), $0.rawValue)
    }.joined(separator: ", ")
    guard diagnosis.isComplete else {
      let head = counts.isEmpty ? "" : counts + "; "
      return Line("\(head)the store does not open, so its objects were not checked")
    }
    guard diagnosis.count(.error) + diagnosis.count(.warning) == 0 else { return Line("\(counts)") }
    return Line(.success, "nothing is wrong\(counts.isEmpty ? "" : " (\(counts))")")
  }
}

extension Advice.Choice {
  /// Whether findings are listed that shipped as they are.
  package static let known = Advice.Choice("known", "LintOptions.tellsKnown")
}

extension LintFinding {
  /// What was found, what happens on a device, and what to do.
  ///
  /// - Parameter place: whether the file is named.
  package func lines(withPlace place: Bool) -> [Report.Line] {
    let file = place ? (line.map { "\(path):\($0)" } ?? path) + ": " : ""
    return [
      Report.Line(
        severity == .error ? .error : .warning, "\(file)[\(rule.id)] \(subject ?? "")", as: .code),
      Report.Line("\(message)", depth: 1), Report.Line("on a device: \(deviceText)", depth: 1),
      Report.Line(advice, depth: 1),
    ]
  }
}

extension Report {
  /// What the rules found in models.
  package init(_ run: LintRun) {
    let (errors, warnings) = (run.count(.error), run.count(.warning))
    let silenced = run.silenced.isEmpty ? "" : "; \(run.silenced.count) silenced"
    let known: Advice =
      run.known.isEmpty
      ? ""
      : "; \(NumberText.counted(run.known.count, "warning")) shipped as it is (\(.known))"
    let models: Advice = "\(NumberText.counted(run.models.count, "model"))\(silenced)\(known)"
    let counts = [(errors, "error"), (warnings, "warning")].filter { $0.0 > 0 }
      .map { NumberText.counted($0, $1) }.joined(separator: ", ")
    self.init([
      Section(run.findings.flatMap { $0.lines(withPlace: true) }),
      Section(
        [
          counts.isEmpty
            ? Line(.success, "no findings in \(models)") : Line("\(counts) in \(models)")
        ] + (run.base.map { [Line("shipped: \($0)")] } ?? [])),
    ])
  }
}
