import JSON
import Lint
import ManagedModel
import Reports

/// `strata lint`: models against what is known to go wrong on devices.
package enum LintCommand {
  /// How findings are printed.
  enum Format: String, CaseIterable { case text, json, sarif, github, junit }

  private static let models = Argument(optional: "MODELS", .file)
  private static let gitBase = Option(
    "git-base", "REVISION", "what shipped: a commit, branch or tag of git")
  private static let against = Option(
    "against", "SHIPPED", .file, "what shipped: an older copy of the models")
  private static let stores = Option(
    repeating: "store", "STORE", .store, "a store that shipped: its rows are checked")
  private static let all = Option(
    "all", "also list the warnings about the current version that the base has")
  private static let cloudKit = Option(
    "cloudkit", "always apply the rules of CloudKit")
  private static let levels = Option(
    repeating: "rule", "RULE=LEVEL", .text, "the severity of a rule: error, warning or off")
  private static let format = Option(
    "format", "FORMAT", among: Format.allCases, "how to print the findings")
  private static let rules = Option("rules", "list the rules instead")
  private static let explained = Option(
    "explain", "RULE", "explain a rule: what it means, what a device reports, and what to do",
    suggesting: { LintRule.all.map(\.id) })
  package static let command = Command(
    "lint", .compare, "finds what a model change will break on devices", arguments: [models],
    options: [
      gitBase, against, stores, Option.mapping, all, cloudKit, levels, format, rules, explained,
      Option.jsonFormat,
    ],
    details: help, example: "strata lint Recipes.xcdatamodeld --git-base origin/main",
    statuses: "1 if an error was found, 4 if something could not be read", run: run)

  private static let help = """
    MODELS is a .xcdatamodeld, .momd, .xcdatamodel or .mom, Swift source with @Model classes, or a folder
    that contains any of these, such as an app's: all are checked, with the mapping models among them.

    The base is what shipped: --git-base names a revision, --against an older copy. Without either, it is
    the merge base of HEAD with origin/main or main, or, if that is HEAD itself, the newest tag before it.
    Without a repository only the last step is checked. --store names stores that shipped: their rows
    decide what fails and what is lost. Warnings about the current version that the base has as well are
    only counted; --all lists them.

    A finding that is intended is silenced by user info strata.lint = RULE in a model, by a comment
    // strata:disable RULE in Swift, or in .strata.json5 in the folder or above it, up to the repository's:

      { rules: { "unique-added": "error", "inverse-missing": "off" }, released: ["Recipes"],
        exceptions: [{ rule: "attribute-dropped", entity: "Recipe", property: "legacyCode",
                       reason: "nobody read it" }] }

    --rules lists the rules; --explain RULE explains one.
    """

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let format = try self.format(arguments)
    if arguments[rules] { return list(format, console) }
    if let id = arguments[explained] { return try explain(id, format, console) }
    guard let models = arguments[models] else {
      throw CoreDataError(
        .usage, "MODELS is missing", hint: "strata lint App.xcdatamodeld, or strata lint --rules")
    }
    var options = LintOptions()
    options.gitBase = arguments[gitBase]
    options.against = arguments[against]
    if options.gitBase != nil, options.against != nil {
      throw CoreDataError(
        .usage, "--git-base and --against exclude each other: both say what shipped",
        hint: "Give one of them.")
    }
    options.stores = arguments[stores]
    options.mappings = arguments[.mapping]
    options.cloudKit = arguments[cloudKit]
    options.tellsKnown = arguments[all]
    options.levels = try levels(arguments[levels])
    let run = try Waiting.tell("reading the models", on: console) {
      try LintRun(of: models, options)
    }
    print(run, format, console)
    if !run.unreadable.isEmpty { return .unreadable }
    return run.count(.error) == 0 ? .done : .no
  }

  private static func format(_ arguments: Arguments) throws -> Format {
    guard let format = arguments[format] else { return arguments[.json] ? .json : .text }
    guard !arguments[.json] || format == .json else {
      throw CoreDataError(.usage, "--json and --format \(format.rawValue) contradict each other")
    }
    return format
  }

  private static func levels(
    _ words: [String]
  ) throws -> [String: LintConfiguration.Level] {
    var levels: [String: LintConfiguration.Level] = [:]
    for word in words {
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2, let level = LintConfiguration.level(parts[1]) else {
        throw CoreDataError(
          .usage, "--rule takes RULE=error, RULE=warning or RULE=off, not “\(word)”")
      }
      guard LintRule.named(parts[0]) != nil else { throw LintRule.unknown(parts[0]) }
      levels[parts[0]] = level
    }
    return levels
  }

  private static func print(_ run: LintRun, _ format: Format, _ console: Console) {
    if format != .json {
      for error in run.unreadable { console.report(error, asJSON: false) }
      for note in run.notes { console.note("! " + note) }
    }
    switch format {
    case .text: console.report(Report(run))
    case .json: console.json { $0.lint(run) }
    case .sarif: console.json { $0.sarif(run) }
    case .junit, .github:
      let report = CheckReport(run)
      console.write(report.text(format == .junit ? .junit : .github))
    }
  }

  // MARK: The rules themselves

  private static func list(_ format: Format, _ console: Console) -> CommandStatus {
    guard format != .json else {
      console.json { json in json.objects("rules", LintRule.all) { $0.rule($1) } }
      return .done
    }
    console.table(
      [.left, .left, .left],
      [["rule", "by default", "fires when"]]
        + LintRule.all.map { [$0.id, $0.severity.rawValue, $0.title] }, limit: 100)
    return .done
  }

  private static func explain(
    _ id: String, _ format: Format, _ console: Console
  ) throws -> CommandStatus {
    guard let rule = LintRule.named(id) else { throw LintRule.unknown(id) }
    if format == .json {
      console.json { $0.rule(rule) }
      return .done
    }
    console.line("\(rule.id) (\(rule.severity.rawValue))")
    for paragraph in rule.page(naming: \.typed) {
      console.line()
      console.paragraph(paragraph, indent: 0)
    }
    return .done
  }
}

extension JSONWriter {
  mutating func lint(_ run: LintRun) {
    fields([
      "models": run.models, "destinations": run.destinations, "base": run.base,
      "errors": run.count(.error), "warnings": run.count(.warning),
      "silencedCount": run.silenced.count,
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
          json.fields(["name": "strata", "version": ProgramVersion.number])
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
  /// What is reported of it, in lines.
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
