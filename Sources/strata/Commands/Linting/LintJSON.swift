import JSON
import Lint

extension JSONWriter {
  mutating func lint(_ run: LintRun) {
    fields([
      "models": run.models, "base": run.base, "errors": run.count(.error),
      "warnings": run.count(.warning), "silencedCount": run.silenced.count,
      "knownCount": run.known.count,
    ])
    objects("findings", run.findings) { $0.finding($1) }
    objects("silenced", run.silenced) { json, finding in
      json.finding(finding)
      json.fields(["by": finding.silence?.place.rawValue, "reason": finding.silence?.reason])
    }
    objects("known", run.known) { $0.finding($1) }
    objects("unreadable", run.unreadable) {
      ["path": $0.path, "message": $0.message, "entity": $0.entity, "property": $0.property]
    }
    field("notes", run.notes)
  }

  private mutating func finding(_ finding: LintFinding) {
    fields([
      "rule": finding.rule.id, "severity": finding.severity.rawValue, "path": finding.path,
      "line": finding.line, "version": finding.version, "entity": finding.entity,
      "property": finding.property, "former": finding.former, "message": finding.message,
      "consequence": finding.consequence, "code": finding.device?.code,
      "sentence": finding.device?.sentence, "advice": finding.advice.typed, "rows": finding.rows,
    ])
  }

  mutating func rule(_ rule: LintRule) {
    fields([
      "rule": rule.id, "severity": rule.severity.rawValue, "title": rule.title,
      "explanation": rule.explanation, "consequence": rule.consequence, "code": rule.device?.code,
      "sentence": rule.device?.sentence, "advice": rule.advice.typed,
    ])
  }

  /// SARIF 2.1.0, as code scanners exchange results: one run, every rule, every finding; what is
  /// silenced is a result with a suppression.
  mutating func sarif(_ run: LintRun) {
    fields(["$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0"])
    objects("runs", [run]) { json, run in
      json.object("tool") { json in
        json.object("driver") { json in
          json.fields(["name": "strata", "version": CommandLineTool.version])
          json.objects("rules", LintRule.all) { $0.sarif($1, run) }
        }
      }
      json.objects("results", run.findings + run.silenced) { $0.sarif($1) }
      json.objects("invocations", [run]) { json, run in
        json.field("executionSuccessful", run.unreadable.isEmpty)
        json.objects("toolExecutionNotifications", run.unreadable) { json, error in
          json.field("level", "error")
          json.object("message", ["text": error.description])
        }
      }
      json.field("columnKind", "utf16CodeUnits")
    }
  }

  private mutating func sarif(_ rule: LintRule, _ run: LintRun) {
    field("id", rule.id)
    object("shortDescription", ["text": rule.title])
    object("fullDescription", ["text": rule.explanation])
    object("help", ["text": rule.page(naming: \.typed).joined(separator: "\n\n")])
    object("defaultConfiguration") { json in
      let level = run.levels[rule.id] ?? rule.severity
      json.fields(["enabled": level != nil, "level": (level ?? rule.severity).rawValue])
    }
  }

  private mutating func sarif(_ finding: LintFinding) {
    let index = LintRule.all.firstIndex(of: finding.rule)
    field("ruleId", finding.rule.id)
    if let index { field("ruleIndex", index) }
    field("level", finding.severity.rawValue)
    object("message", ["text": finding.lines.joined(separator: "\n")])
    objects("locations", [finding]) { json, finding in
      json.object("physicalLocation") { json in
        json.object("artifactLocation", ["uri": FileURI.text(finding.path)])
        if let line = finding.line { json.object("region", ["startLine": max(1, line)]) }
      }
      if let subject = finding.subject {
        json.objects("logicalLocations", [subject]) {
          ["fullyQualifiedName": $0, "kind": finding.property == nil ? "type" : "member"]
        }
      }
    }
    object(
      "partialFingerprints",
      [
        "strata/v1": [finding.rule.id, finding.version ?? "", finding.subject ?? ""]
          .joined(separator: "/")
      ])
    guard let silence = finding.silence else { return }
    objects("suppressions", [silence]) { json, silence in
      json.field("kind", silence.place == .configuration ? "external" : "inSource")
      if let reason = silence.reason { json.field("justification", reason) }
    }
  }
}

/// Paths as URIs, which is how SARIF names files.
enum FileURI {
  /// A relative path stays one; what a URI does not hold is written as `%20`.
  static func text(_ path: String) -> String {
    var result = path.hasPrefix("/") ? "file://" : ""
    for byte in path.utf8 {
      let scalar = Unicode.Scalar(byte)
      let isPlain =
        byte < 0x80
        && (scalar.properties.isAlphabetic || (48...57).contains(byte)
          || "/-._~".unicodeScalars
            .contains(scalar))
      if isPlain {
        result.unicodeScalars.append(scalar)
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        result += "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }
    return result
  }
}

extension LintFinding {
  /// What is told of it, in lines.
  var lines: [String] { [message, "On a device: " + deviceText, advice.typed] }
}

extension CheckReport {
  /// A case for each rule that is on, and for each model; what is in no model's folder, such as a
  /// mapping model, is of the first one.
  init(_ run: LintRun) {
    self.init(name: "strata lint", notes: run.notes)
    let rules = LintRule.all.filter { run.levels[$0.id].map { $0 != nil } ?? true }
    let owners = Dictionary(grouping: run.findings) { finding in
      run.models.filter { finding.path == $0 || finding.path.hasPrefix($0 + "/") }
        .max { $0.utf8.count < $1.utf8.count } ?? run.models.first ?? ""
    }
    for model in run.models {
      cases += rules.map { rule in
        Case(
          name: rule.id, group: model,
          problems: (owners[model] ?? []).filter { $0.rule == rule }.map(Problem.init))
      }
    }
    for error in run.unreadable {
      cases.append(
        Case(
          name: "reading", group: run.models.first ?? error.path ?? "",
          problems: [
            Problem(
              level: .error, title: "unreadable", message: error.description, path: error.path)
          ]))
    }
  }
}

extension CheckReport.Problem {
  init(_ finding: LintFinding) {
    self.init(
      level: finding.severity == .error ? .error : .warning,
      title: finding.subject.map { "\(finding.rule.id): \($0)" } ?? finding.rule.id,
      message: finding.lines.joined(separator: "\n"), path: finding.path, line: finding.line)
  }
}
