import ManagedModel
import Migration

/// Something that is known to go wrong with a change of a model, with everything that is to be told
/// of it: the list of rules, their pages and every finding's words come from here.
public struct LintRule: Sendable, Equatable {
  /// How grave a finding is.
  public enum Severity: String, Sendable, Comparable, CaseIterable {
    /// Stores will not open, or lose values that nobody meant to lose: the check fails.
    case error
    /// Something to look at before it ships.
    case warning

    /// Whether one is graver than the other.
    public static func < (first: Severity, second: Severity) -> Bool {
      first == .error && second == .warning
    }
  }

  /// What an app on a device meets, as its log has it.
  public struct DeviceError: Sendable, Equatable {
    /// The code in NSCocoaErrorDomain; `nil` where the app ends without one.
    public let code: CoreDataError.Code?
    /// The sentence as logs have it, word for word; `nil` where none was seen.
    public let sentence: String?

    init(_ code: CoreDataError.Code?, _ sentence: String? = nil) {
      self.code = code
      self.sentence = sentence
    }

    /// The code with its sentence in quotes, or with what it means.
    public var text: String {
      let meaning = code.flatMap { ErrorCatalogue.meaning(of: $0.rawValue)?.meaning }
      let words = sentence.map { "“\($0)”" } ?? meaning.map { "(\($0))" }
      return [code?.description, words].compactMap { $0 }
        .joined(separator: sentence == nil ? " " : ", ")
    }
  }

  /// Its name: in lists, behind `--rule` and where a finding is silenced.
  public let id: String
  /// How grave it is where nobody says otherwise; a finding may be graver.
  public let severity: Severity
  /// When it fires, in a sentence.
  public let title: String
  /// Why that matters, and what is left out of it.
  public let explanation: String
  /// What happens on a device, in a sentence.
  public let consequence: String
  /// What the app's log says then; `nil` where it says nothing.
  public let device: DeviceError?
  /// What to do, in a sentence or two.
  public let advice: String

  init(
    _ id: String, _ severity: Severity, _ title: String, _ explanation: String,
    on consequence: String, _ device: DeviceError? = nil, do advice: String
  ) {
    self.id = id
    self.severity = severity
    self.title = title
    self.explanation = explanation
    self.consequence = consequence
    self.device = device
    self.advice = advice
  }

  /// Every rule, in the order of lists.
  public static let all = versionRules + stepRules + modelRules + swiftDataRules + cloudKitRules

  /// The rule of that name.
  public static func named(_ id: String) -> LintRule? { all.first { $0.id == id } }

  /// All that is told of the rule, a paragraph each, below its name.
  public var page: [String] {
    [
      title, explanation,
      "On a device: " + consequence + (device.map { " Core Data: \($0.text)." } ?? ""),
      "What to do: " + advice,
    ]
  }

  /// The refusal of a name that no rule has, with the nearest.
  package static func unknown(_ id: String) -> CoreDataError {
    CoreDataError(
      .usage, "there is no rule “\(id)”",
      hint: Nearest.question(id, in: all.map(\.id))
        ?? "strata lint --rules lists them.")
  }
}

extension LintRule.DeviceError {
  static let incompatible = Self(
    .persistentStoreIncompatibleVersionHash,
    "The model used to open the store is incompatible with the one used to create the store")
  static let missingSource = Self(
    .migrationMissingSourceModel,
    "Persistent store migration failed, missing source managed object model.")
  static let missingMapping = Self(
    .migrationMissingMappingModel, "Persistent store migration failed, missing mapping model.")
  static let missingValues = Self(
    .migration,
    "Cannot migrate store in-place: Validation error missing attribute values on mandatory destination attribute"
  )
  static let missingLinks = Self(
    .migration,
    "Cannot migrate store in-place: Validation error missing relationship values on mandatory destination relationship"
  )
  static let constraint = Self(
    .migrationConstraintViolation,
    "Cannot migrate store in-place: constraint violation during attempted migration")
  static let migrationFailed = Self(
    .migration, "An error occurred during persistent store migration.")
  static let unknownVersion = Self(
    .managedObjectModelReferenceNotFound,
    "Cannot use staged migration with an unknown model version.")
  static let duplicateChecksums = Self(nil, "Duplicate version checksums across stages detected.")
}
