import Files
import JSON
import Lint
import ManagedModel

/// `strata lint`: models against what is known to go wrong on devices.
enum LintCommand {
  /// How findings are printed.
  enum Format: String, CaseIterable { case text, json, sarif, github, junit }

  static let help = """
    MODELS is a .xcdatamodeld, .momd, .xcdatamodel or .mom, Swift source with @Model classes, or a folder
    with any of these in it, such as an app's: all are looked at, with the mapping models among them.

    The base is what shipped: --git-base names a revision, --against an older copy; without either it is
    the commit that HEAD has in common with origin/main or main, or, where that is HEAD itself, the newest
    tag before it. Without a repository the last step alone is looked at. --store names stores that shipped: their rows decide what fails and what is lost.
    Warnings about the current version that the base has as well are only counted; --all lists them.

    Whatever is meant is silenced where it stands: by user info strata.lint = RULE in a model, by a comment
    // strata:disable RULE in Swift, or in .strata.json5 in the folder or above it, up to the repository's:

      { rules: { "unique-added": "error", "inverse-missing": "off" }, released: ["Recipes"],
        exceptions: [{ rule: "attribute-dropped", entity: "Recipe", property: "legacyCode",
                       reason: "nobody read it" }] }

    --rules lists the rules, --explain RULE prints what one means, what a device reports, and what to do.
    """

  @Sendable static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let format = try self.format(arguments)
    if arguments.flag("rules") { return list(format, console) }
    if let id = arguments.value("explain") { return try explain(id, format, console) }
    guard !arguments[0].isEmpty else {
      throw CoreDataError(
        .usage, "MODELS is missing", hint: "strata lint App.xcdatamodeld, or strata lint --rules")
    }
    var options = LintOptions()
    options.gitBase = arguments.value("git-base")
    options.against = arguments.value("against")
    if options.gitBase != nil, options.against != nil {
      throw CoreDataError(
        .usage, "--git-base and --against both say what shipped", hint: "Give one of them.")
    }
    options.stores = arguments.all("store")
    options.mappings = arguments.all("mapping")
    options.cloudKit = arguments.flag("cloudkit")
    options.tellsKnown = arguments.flag("all")
    options.levels = try levels(arguments.all("rule"))
    let run = try Waiting.tell("reading the models", on: console) {
      try LintRun(of: arguments[0], options)
    }
    print(run, format, console)
    if !run.unreadable.isEmpty { return .unreadable }
    return run.count(.error) == 0 ? .done : .no
  }

  private static func format(_ arguments: Arguments) throws -> Format {
    guard let name = arguments.value("format") else {
      return arguments.flag("json") ? .json : .text
    }
    guard let format = Format(rawValue: name), !arguments.flag("json") || format == .json else {
      throw CoreDataError(.usage, "--json and --format \(name) contradict each other")
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
    switch format {
    case .text: LintText(run: run, console: console).print()
    case .json: console.json { $0.lint(run) }
    case .sarif: console.json { $0.sarif(run) }
    case .junit, .github:
      let report = CheckReport(run)
      console.write(report.text(format == .junit ? .junit : .github))
    }
    guard format != .text, format != .json else { return }
    for error in run.unreadable { CommandLineTool.report(error, asJSON: false, console) }
    for note in run.notes { console.note("! " + note) }
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

/// Findings for a person: by file, the words of a rule once.
struct LintText {
  let run: LintRun
  let console: Console

  func print() {
    for finding in run.findings { print(finding) }
    if !run.findings.isEmpty { console.line() }
    for error in run.unreadable { CommandLineTool.report(error, asJSON: false, console) }
    for note in run.notes { console.note("! " + note) }
    console.line(summary)
    if let base = run.base { console.line("shipped: " + base) }
  }

  private func print(_ finding: LintFinding) {
    let sign = finding.severity == .error ? "✗" : "!"
    let place = finding.line.map { "\(finding.path):\($0)" } ?? finding.path
    console.line("\(sign) \(place): [\(finding.rule.id)] \(finding.subject ?? "")")
    console.paragraph("  " + finding.message, indent: 2)
    console.paragraph("  on a device: " + finding.deviceText, indent: 2)
    console.paragraph("  " + finding.advice.typed, indent: 2)
  }

  private var summary: String {
    let (errors, warnings) = (run.count(.error), run.count(.warning))
    let silenced =
      (run.silenced.isEmpty ? "" : "; \(run.silenced.count) silenced")
      + (run.known.isEmpty
        ? "" : "; \(NumberText.counted(run.known.count, "warning")) shipped as it is (--all)")
    let models = NumberText.counted(run.models.count, "model")
    if errors + warnings == 0 { return "✓ no findings in \(models)\(silenced)" }
    let counts = [(errors, "error"), (warnings, "warning")].filter { $0.0 > 0 }
      .map { NumberText.counted($0, $1) }
    return "\(counts.joined(separator: ", ")) in \(models)\(silenced)"
  }
}
