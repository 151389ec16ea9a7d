import ManagedModel
import ModelSearch

/// One thing that a rule found in a model.
public struct LintFinding: Sendable, Equatable {
  /// Why a finding does not count.
  public struct Silence: Sendable, Equatable {
    /// Where somebody said so.
    public enum Place: String, Sendable {
      /// User info of the model.
      case userInfo
      /// A comment in Swift source.
      case comment
      /// `.strata.json5`.
      case configuration
    }

    /// Where somebody said so.
    public var place: Place
    /// The reason that was given; user info and comments give none.
    public var reason: String?
  }

  /// The rule.
  public var rule: LintRule
  /// How grave it is here.
  public var severity: LintRule.Severity
  /// The file: that of the element in `contents`, or of the declaration in Swift.
  public var path: String
  /// The line in it, from 1; `nil` where the file has none.
  public var line: Int?
  /// Name of the version that it is about.
  public var version: String?
  /// The entity, as that version calls it, or as the one before does where it is gone.
  public var entity: String?
  /// The property.
  public var property: String?
  /// What it was called in the version before, where something looks renamed.
  public var former: String?
  /// What was found, in a sentence.
  public var message: String
  /// What happens on a device, in a sentence.
  public var consequence: String
  /// What the app's log says then.
  public var device: LintRule.DeviceError?
  /// What to do.
  public var advice: Advice
  /// Rows of the stores named that it touches; `nil` where none was asked.
  public var rows: Int?
  /// Why it does not count; `nil` where it does.
  public var silence: Silence?

  init(
    _ rule: LintRule, at place: LintPlace, version: String? = nil, entity: String? = nil,
    property: String? = nil, _ message: String, severity: LintRule.Severity? = nil,
    consequence: String? = nil, device: LintRule.DeviceError?? = .none, advice: Advice? = nil,
    former: String? = nil, rows: Int? = nil
  ) {
    self.rule = rule
    self.severity = severity ?? rule.severity
    path = place.path
    line = place.line
    self.version = version
    self.entity = entity
    self.property = property
    self.former = former
    self.message = message
    self.consequence = consequence ?? rule.consequence
    self.device = device ?? rule.device
    self.advice = advice ?? rule.advice
    self.rows = rows
  }

  /// What it is about: `Entity.property`, `Entity`, or the version.
  public var subject: String? {
    guard let entity else { return version }
    return property.map { "\(entity).\($0)" } ?? entity
  }

  /// What happens on a device, with the code and the sentence that its log shows.
  public var deviceText: String {
    consequence + (device.map { " Core Data: \($0.text)." } ?? "")
  }
}

/// A file, and a line of it where it has lines.
struct LintPlace: Sendable, Equatable {
  var path: String
  var line: Int?
}

/// A version that somebody chose, and what it lies in.
struct LintedPlace {
  let version: LintedModel.Version
  /// Everything around it, as it is now or as a revision has it; `nil` for a model that is in no file
  /// with versions, such as a store's own.
  let target: LintTarget?
  /// The one of the target's models that it is of.
  let model: LintedModel?
  /// The revision that it was read from.
  let revision: String?

  /// Finds where a version lies: that gives its findings a file and a line.
  ///
  /// - Parameter known: what was read already, for a version of the same.
  init(_ side: LintComparison.Side, known: LintTarget? = nil) {
    let reference = ModelReference(side.path)
    // `PATH@VERSION@REVISION` names both.
    let outer = reference.version == nil ? nil : ModelReference(reference.path)
    let path = (outer ?? reference).path.withoutSlash
    if !path.isEmpty {
      let now = known?.path == path ? known : try? LintTarget(path)
      if let now, let found = Self.version(side, in: now) {
        (version, model, target, revision) = (found.0, found.1, now, nil)
        return
      }
      if let name = reference.version, let then = try? LintTarget("\(path)@\(name)"),
        let found = Self.version(side, in: then)
      {
        (version, model, target, revision) = (found.0, found.1, then, name)
        return
      }
    }
    version = LintedModel.Version(
      name: side.name, model: side.model, hashes: side.model.versionHashes, file: side.path)
    (model, target, revision) = (nil, nil, nil)
  }

  /// The very model that is meant: what was edited since it was read is another.
  private static func version(
    _ side: LintComparison.Side, in target: LintTarget
  ) -> (LintedModel.Version, LintedModel)? {
    let same = target.models.flatMap { model in
      model.versions.filter { $0.model == side.model }.map { ($0, model) }
    }
    return same.first { $0.0.name == side.name } ?? same.first
  }
}
