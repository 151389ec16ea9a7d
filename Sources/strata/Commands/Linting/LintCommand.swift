import Files
import JSON
import Lint
import ManagedModel

/// `strata lint`: models against what is known to go wrong on devices.
enum LintCommand {
  /// How findings are printed.
  enum Format: String, CaseIterable { case text, json, sarif, github, junit }

  private static let models = Argument(optional: "MODELS", .file)
  private static let gitBase = Option(
    "git-base", "REVISION", "what shipped: a commit, branch or tag of git")
  private static let against = Option(
    "against", "OLD", .file, "what shipped: an older copy of the models")
  private static let stores = Option(
    repeating: "store", "STORE", .store, "a store that shipped: its rows are looked at")
  private static let all = Option(
    "all", "tell warnings about the current version that the base has as well")
  private static let cloudKit = Option(
    "cloudkit", "apply the rules of CloudKit, whatever is found")
  private static let levels = Option(
    repeating: "rule", "RULE=LEVEL", .text, "how grave a rule is here: error, warning or off")
  private static let format = Option(
    "format", "FORMAT", among: Format.allCases, "how to print the findings")
  private static let rules = Option("rules", "list the rules instead")
  private static let explained = Option(
    "explain", "RULE", "tell what a rule means, what a device says, and what to do",
    suggesting: { LintRule.all.map(\.id) })
  static let command = Command(
    "lint", .compare, "finds what a change of a model will break on devices", arguments: [models],
    options: [
      gitBase, against, stores, Option.mapping, all, cloudKit, levels, format, rules, explained,
      Option.jsonFormat,
    ],
    details: help, example: "strata lint Recipes.xcdatamodeld --git-base origin/main",
    statuses: "1 where an error was found, 4 where something could not be read", run: run)

  private static let help = """
    MODELS is a .xcdatamodeld, .momd, .xcdatamodel or .mom, Swift source with @Model classes, or a folder
    with any of these in it, such as an app's: all are looked at, with the mapping models among them.

    The base is what shipped: --git-base names a revision, --against an older copy; without either it is
    the commit that HEAD has in common with origin/main or main, or, where that is HEAD itself, the newest
    tag before it. Without a repository the last step alone is looked at. --store names stores that shipped: their rows decide what fails and what is lost.
    Warnings about the current version that the base has as well are only counted; --all tells them.

    Whatever is meant is silenced where it stands: by user info strata.lint = RULE in a model, by a comment
    // strata:disable RULE in Swift, or in .strata.json5 in the folder or above it, up to the repository's:

      { rules: { "unique-added": "error", "inverse-missing": "off" }, released: ["Recipes"],
        exceptions: [{ rule: "attribute-dropped", entity: "Recipe", property: "legacyCode",
                       reason: "nobody read it" }] }

    --rules lists the rules, --explain RULE tells what one means, what a device says, and what to do.
    """

  @Sendable private static func run(
    _ arguments: Arguments, _ console: Console
  ) throws -> CommandStatus {
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
        .usage, "--git-base and --against both say what shipped", hint: "Give one of them.")
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
    for paragraph in rule.page {
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
    console.paragraph("  " + finding.advice, indent: 2)
  }

  private var summary: String {
    let (errors, warnings) = (run.count(.error), run.count(.warning))
    let silenced =
      (run.silenced.isEmpty ? "" : "; \(run.silenced.count) silenced")
      + (run.known.isEmpty
        ? "" : "; \(NumberText.counted(run.known.count, "warning")) shipped as it is (--all)")
    let models = NumberText.counted(run.models.count, "model")
    if errors + warnings == 0 { return "✓ nothing to tell of \(models)\(silenced)" }
    let counts = [(errors, "error"), (warnings, "warning")].filter { $0.0 > 0 }
      .map { NumberText.counted($0, $1) }
    return "\(counts.joined(separator: ", ")) in \(models)\(silenced)"
  }
}
