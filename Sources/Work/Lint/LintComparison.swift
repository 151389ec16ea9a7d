import Files
import ManagedModel

/// What the rules say of two versions that somebody compares, whichever they are.
///
/// The step from the one to the other is looked at whether or not it is the last one; with it goes
/// what a run over everything around them finds, what is about other versions apart.
package struct LintComparison: Sendable, Equatable {
  /// One of the two.
  package struct Side: Sendable, Equatable {
    /// What it is called.
    package var name: String
    /// Where it lies, as ``ModelReference`` takes it; empty for what is in no file.
    package var path: String
    /// The model that was read from there.
    package var model: Model

    /// A version as it was read.
    package init(name: String, path: String, model: Model) {
      (self.name, self.path, self.model) = (name, path, model)
    }
  }

  /// What the findings call the two versions.
  package let names: [String]
  /// What is about the two versions or the step between them.
  package private(set) var findings: [LintFinding]
  /// Warnings about the second version by itself that the first has as well.
  package private(set) var known: [LintFinding]
  /// What is about other versions and steps of the same models.
  package private(set) var others: [LintFinding] = []
  /// How many somebody said are meant.
  package private(set) var silenced: Int
  /// How many rules looked: those that are not turned off.
  package private(set) var rules: Int
  /// What counts as shipped, as a clause; `nil` where nothing was known.
  package private(set) var base: String?
  /// What else there is to know, as sentences.
  package private(set) var notes: [String] = []

  /// Looks at the step from one version to the other, and at everything around them.
  ///
  /// - Parameter mappings: mapping models and recipes besides those that lie beside the models.
  /// - Throws: ``CoreDataError`` of kind usage for a mistake in the project's configuration,
  ///   unreadable for a mapping that was named and cannot be read.
  package init(from: Side, to: Side, mappings: [String] = []) throws {
    let after = LintedPlace(to)
    let before = LintedPlace(from, known: after.target)
    var options = LintOptions()
    options.mappings = mappings
    let target = after.target ?? before.target
    let configuration =
      try target.flatMap { LintConfiguration.file(for: $0.path) }
      .map(LintConfiguration.init(path:)) ?? LintConfiguration()
    let isOfOne =
      before.target?.path == after.target?.path && before.model?.path == after.model?.path
    let step = try LintRun(
      from: before.version, to: after.version, in: target ?? LintTarget(path: "", models: []),
      plan: isOfOne ? after.model?.plan : nil, options, configuration)
    names = [before.version.name, after.version.name]
    findings = step.findings.gravestFirst
    known = step.known
    silenced = step.silenced.count
    rules = LintRule.all.count { step.levels[$0.id].map { $0 != nil } ?? true }
    // What a revision had is looked at as it was compared, and not against what shipped.
    guard let target, after.revision == nil, after.target != nil || before.revision == nil else {
      return
    }
    try add(Self.whole(target, before, options, configuration), to: step)
  }

  /// Everything around the versions against what shipped: the first version's revision or its older
  /// copy of the same name, else what the branch began with.
  private static func whole(
    _ target: LintTarget, _ before: LintedPlace, _ options: LintOptions,
    _ configuration: LintConfiguration
  ) throws -> LintRun {
    var options = options
    if let former = before.target {
      if let revision = before.revision, former.path == target.path {
        options.gitBase = revision
      } else if former.path != target.path,
        FileSystem.name(of: former.path) == FileSystem.name(of: target.path)
      {
        options.against = former.path
      }
    }
    do {
      return try LintRun(
        target, base: LintRun.base(of: target, options), options, configuration)
    } catch let error as CoreDataError {
      var run = try LintRun(target, base: nil, options, configuration)
      run.notes.append("What shipped is not known: \(error.message).")
      return run
    }
  }

  /// Takes what a run over everything found besides the step.
  private mutating func add(_ whole: LintRun, to step: LintRun) {
    base = whole.base
    notes =
      whole.unreadable.map { "\($0.path.map { $0 + ": " } ?? "")\($0.message)" }
      + whole.notes.filter { $0 != LintRun.noBase }
    let told = step.findings + step.known + step.silenced
    let rest = whole.findings.filter { finding in !told.contains { $0.isAbout(the: finding) } }
    // What a run reports about steps and the current version was asked of these two themselves.
    let names = names
    let isOwn = { (finding: LintFinding) in
      finding.rule.about.hasPrefix("versions") && finding.version.map(names.contains) ?? false
    }
    findings = (findings + rest.filter(isOwn)).gravestFirst
    others = rest.filter { !isOwn($0) }.gravestFirst
  }
}

extension [LintFinding] {
  /// Errors first, otherwise in the order that they have.
  fileprivate var gravestFirst: [LintFinding] {
    filter { $0.severity == .error } + filter { $0.severity != .error }
  }
}

extension LintFinding {
  /// Whether both say the same of the same thing.
  fileprivate func isAbout(the other: LintFinding) -> Bool {
    rule == other.rule && version == other.version && entity == other.entity
      && property == other.property
  }
}
