import ManagedModel
import Migration
import ModelSearch
import SwiftModels

/// What a check of models uses.
public struct LintOptions: Sendable {
  /// A git revision that counts as what shipped.
  public var gitBase: String?
  /// An older copy that counts as what shipped.
  public var against: String?
  /// Whether the repository is asked for what shipped where neither is named: the merge base with the
  /// main branch, or the newest tag before HEAD where that is HEAD.
  public var takesMergeBase = true
  /// Stores that shipped: their rows are looked at.
  public var stores: [String] = []
  /// Mapping models and recipes besides those that lie beside the models.
  public var mappings: [String] = []
  /// Whether CloudKit's rules apply, whatever is found.
  public var cloudKit = false
  /// Whether warnings about the current version are reported that the base has as well.
  public var tellsKnown = false
  /// Levels by the rules' names, before those of the configuration.
  public var levels: [String: LintConfiguration.Level] = [:]
  /// What the project says; `nil` looks for its file beside the models.
  public var configuration: LintConfiguration?

  /// The options of a plain `strata lint MODELS`.
  public init() {}
}

/// A check of models against what is known to go wrong on devices.
///
///     let run = try LintRun(of: "App.xcdatamodeld")
///     for finding in run.findings { print(finding.path, finding.message) }
///
/// It reads only: no model, store or repository is changed.
public struct LintRun: Sendable {
  /// What was found, by file and line; silenced findings are not among them.
  public internal(set) var findings: [LintFinding] = []
  /// What somebody said is meant.
  public internal(set) var silenced: [LintFinding] = []
  /// Warnings about a version by itself that shipped as they are.
  public internal(set) var known: [LintFinding] = []
  /// Paths of the models that were looked at.
  public internal(set) var models: [String] = []
  /// The current version of each of them, with where it is.
  public internal(set) var destinations: [String] = []
  /// What counts as shipped, as a clause; `nil` where nothing was known.
  public internal(set) var base: String?
  /// What could not be read, and hid nothing else.
  public internal(set) var unreadable: [CoreDataError] = []
  /// What else there is to know, as sentences.
  public internal(set) var notes: [String] = []
  /// What the rules are here; `nil` for one that is off.
  public let levels: [String: LintConfiguration.Level]

  /// How many findings are that grave.
  public func count(_ severity: LintRule.Severity) -> Int {
    findings.count { $0.severity == severity }
  }

  /// Looks at the models at a path, as ``ModelReference`` takes it, or in a folder.
  ///
  /// - Throws: ``CoreDataError``: unreadable where no model is there, usage for a base that is none
  ///   or a mistake in the configuration.
  public init(of reference: String, _ options: LintOptions = LintOptions()) throws {
    let target = try LintTarget(reference)
    let configuration =
      try options.configuration
      ?? LintConfiguration.file(for: target.path).map(LintConfiguration.init(path:))
      ?? LintConfiguration()
    try self.init(target, base: Self.base(of: target, options), options, configuration)
  }

  /// - Parameter base: what shipped, where that is known.
  init(
    _ target: LintTarget, base: LintBase?, _ options: LintOptions = LintOptions(),
    _ configuration: LintConfiguration = LintConfiguration()
  ) throws {
    var base = base
    levels = configuration.levels.merging(options.levels) { $1 }
    models = target.models.map(\.path)
    destinations = target.models.compactMap { model in
      model.currentName.map { "“\($0)” of \(model.path)" }
    }
    unreadable = target.models.flatMap(\.unreadable)
    notes =
      target.notes + target.models.flatMap(\.notes)
      + target.models.filter { $0.currentName == nil }.compactMap(\.undecided)
    self.base = base?.origin
    if let note = base?.note { notes.append(note) }
    if base == nil, options.stores.isEmpty {
      notes.append(Self.noBase)
    }
    let documents = try documents(beside: target, options)
    var found: [LintFinding] = []
    var shipped: [LintFinding] = []
    var bases: [LintedModel] = []
    let stores = try options.stores.map { try LintStore(path: $0, models: target.models) }
    for model in target.models where !model.versions.isEmpty {
      let own = stores.filter { $0.isOf(model, among: target.models) }
      let former = base?.take(for: model, of: target)
      if let former { bases.append(former) }
      let subject = LintSubject(
        now: model, base: former, baseName: base?.name, released: configuration.released,
        documents: documents,
        cloudKit: Self.cloudKit(model, target, options, configuration, own),
        stores: own.map(\.hashes))
      found += Self.findings(of: subject, looksAtRows: !own.isEmpty)
      if let before = former?.current ?? former?.sequence.last {
        shipped += Self.findings(of: before, mirrored: subject.cloudKit != nil)
      }
      found += try rows(of: own, subject)
    }
    found += Self.gone(base, target, configuration)
    found += MappingChecks(
      models: target.models, bases: bases, documents: documents.models
    ).findings()
    notes += Self.unknownVersions(configuration, target.models + bases)
    sort(found, Silences(target.models), configuration)
    if !options.tellsKnown { setAside(shipped) }
  }

  /// The mapping models beside a target, and those that are named; one that lies there and cannot be
  /// read hides no other.
  mutating func documents(
    beside target: LintTarget, _ options: LintOptions
  ) throws -> MappingDocuments {
    var documents = MappingDocuments()
    for path in target.distinctMappings + options.mappings {
      do {
        let one = try MappingDocuments(paths: [path])
        one.models.forEach { documents.add($0) }
        one.recipes.forEach { documents.add($0) }
      } catch let error as CoreDataError {
        guard target.mappings.contains(path) else { throw error }
        unreadable.append(error)
      }
    }
    return documents
  }

  /// What is reported where nothing says what shipped.
  static let noBase =
    "It is not known what shipped: only the last step is checked. Name it with --git-base REF or --against SHIPPED."

  /// What is said to be released, and is no version.
  private static func unknownVersions(
    _ configuration: LintConfiguration, _ models: [LintedModel]
  ) -> [String] {
    let names = Set(models.flatMap(\.versions).map(\.name))
    return (configuration.released ?? []).subtracting(names).sorted().map {
      "\(configuration.path): “\($0)” is listed as released, but no version has that name."
    }
  }

  static func base(of target: LintTarget, _ options: LintOptions) throws -> LintBase? {
    if let path = options.against { return try LintBase(copy: path) }
    if let revision = options.gitBase { return try LintBase(of: target, revision: revision) }
    return options.takesMergeBase ? try LintBase.found(for: target) : nil
  }

  static func cloudKit(
    _ model: LintedModel, _ target: LintTarget, _ options: LintOptions,
    _ configuration: LintConfiguration, _ stores: [LintStore]
  ) -> String? {
    if options.cloudKit { return "--cloudkit" }
    if let says = configuration.cloudKit { return says ? configuration.path : nil }
    if model.current?.lines?.cloudKit.isEmpty == false { return "the model is marked for CloudKit" }
    if let store = stores.first(where: { (try? $0.store.cloudKit()) ?? nil != nil }) {
      return "\(store.name) is mirrored to CloudKit"
    }
    return target.cloudKit
  }

  /// What the rows of stores make of a model's steps; what several say alike is reported once.
  private mutating func rows(
    of stores: [LintStore], _ subject: LintSubject
  ) throws -> [LintFinding] {
    var found: [LintFinding] = []
    for (index, store) in stores.enumerated() {
      let others = stores.enumerated().filter { $0.offset != index }.map(\.element)
      let (own, told) = try StoreChecks(subject: subject, store: store, others: others).findings()
      notes += told + store.store.gaps.map { "\(store.path): \($0)" }
      for finding in own {
        guard
          let known = found.firstIndex(where: { known in
            known.rule == finding.rule && known.version == finding.version
              && known.entity == finding.entity && known.property == finding.property
          })
        else {
          found.append(finding)
          continue
        }
        found[known].rows = (found[known].rows ?? 0) + (finding.rows ?? 0)
      }
    }
    return found
  }

  private static func findings(of subject: LintSubject, looksAtRows: Bool) -> [LintFinding] {
    var found = VersionChecks(subject: subject).findings()
    found += subject.newSteps.flatMap {
      StepChecks(step: $0, looksAtRows: looksAtRows).findings()
    }
    found += SwiftDataChecks(subject: subject).findings()
    // Of a bundle that names no current version it is the last one.
    guard let current = subject.now.current ?? subject.now.sequence.last else { return found }
    found += Self.findings(
      of: current, mirrored: subject.cloudKit != nil, deployed: subject.base?.current)
    return found
  }

  /// What is odd about a version by itself.
  static func findings(
    of version: LintedModel.Version, mirrored: Bool, deployed: LintedModel.Version? = nil
  ) -> [LintFinding] {
    ModelChecks(version: version).findings()
      + (mirrored ? CloudKitChecks(version: version, deployed: deployed).findings() : [])
  }

  /// Models of which nothing is left.
  private static func gone(
    _ base: LintBase?, _ target: LintTarget, _ configuration: LintConfiguration
  ) -> [LintFinding] {
    (base?.rest ?? []).filter { $0.form != .source }.flatMap { model in
      model.versions.filter { version in
        configuration.released.map { $0.contains(version.name) } ?? true
          && !target.models.contains { $0.version(making: version.hashes) != nil }
      }.map { version in
        LintFinding(
          .versionDeleted, at: LintPlace(path: model.path), version: version.name,
          "The model shipped with “\(version.name)” at \(base?.name ?? "the base"), and was removed."
        )
      }
    }
  }
}

extension LintRun {
  /// Looks at one step, be its versions neighbours or not, and at the version that it leads to.
  ///
  /// - Parameters:
  ///   - target: what the versions lie in, for silences and for mappings beside them.
  ///   - plan: the plan that both are of.
  init(
    from: LintedModel.Version, to: LintedModel.Version, in target: LintTarget, plan: SourcePlan?,
    _ options: LintOptions, _ configuration: LintConfiguration
  ) throws {
    levels = configuration.levels.merging(options.levels) { $1 }
    models = target.models.map(\.path)
    let documents = try documents(beside: target, options)
    let step = LintStep(from: from, to: to, plan: plan, documents: documents)
    let model = LintedModel(path: to.file, form: .single, versions: [to], currentName: to.name)
    let mirrored = Self.cloudKit(model, target, options, configuration, []) != nil
    sort(
      StepChecks(step: step, looksAtRows: false).findings()
        + Self.findings(of: to, mirrored: mirrored, deployed: from),
      Silences(target.models), configuration)
    setAside(Self.findings(of: from, mirrored: mirrored))
  }
}

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
