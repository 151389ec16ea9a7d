import ManagedModel
import Migration
import Texts

/// Something that is known to go wrong with a change of a model: the list of rules, their pages and
/// every finding's words come from it. The article on the rules is the table of them.
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

    /// Reads `134140, “Its sentence.”`, or one of the two.
    init(_ text: String) {
      let number = text.prefix { $0.isNumber }
      code = Int(number).map { CoreDataError.Code(rawValue: $0) }
      let words = text.dropFirst(number.count).drop { $0 != "“" }
      sentence = words.isEmpty ? nil : String(words.dropFirst().prefix { $0 != "”" })
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
  /// What it looks at: versions, a step, one version, CloudKit.
  package let about: String
  /// When it fires, in a sentence.
  public let title: String
  /// Why that matters, and what is left out of it.
  public let explanation: String
  /// What happens on a device, in a sentence.
  public let consequence: String
  /// What the app's log says then; `nil` where it says nothing.
  public let device: DeviceError?
  /// What to do, in a sentence or two.
  public let advice: Advice

  /// Every rule, in the order of the article.
  public static let all = MessageTable.rules.rows.compactMap(LintRule.init)

  private static let byID = Dictionary(
    all.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })

  /// The rule of that name.
  public static func named(_ id: String) -> LintRule? { byID[id] }

  /// A rule that a check reports; one without a page has no words.
  static func the(_ id: String) -> LintRule {
    byID[id]
      ?? LintRule(
        id: id, severity: .warning, about: "", title: id, explanation: "", consequence: "",
        device: nil,
        advice: "")
  }

  /// All that is known of the rule, a paragraph each, below its name.
  ///
  /// - Parameter words: what becomes of what the advice names; its Swift names where it is left out.
  public func page(naming words: (Advice) -> String = { $0.text }) -> [String] {
    [
      title, explanation,
      "On a device: " + consequence + (device.map { " Core Data: \($0.text)." } ?? ""),
      "What to do: " + words(advice),
    ]
  }

  /// The refusal of a name that no rule has, with the nearest.
  package static func unknown(_ id: String) -> CoreDataError {
    CoreDataError(
      .usage, "there is no rule “\(id)”",
      advice: Nearest.question(id, in: all.map(\.id)).map { "\($0)" }
        ?? "\(.deed("rules")) lists them.")
  }
}

extension LintRule {
  /// - Returns: `nil` for a row that lacks a field.
  init?(_ row: MessageTable.Row) {
    guard let severity = row["by default"].flatMap(Severity.init), let about = row["about"],
      let title = row["fires when"], let explanation = row["why"],
      let consequence = row["on a device"],
      let advice = row["what to do"].map(Advice.init(marked:))
    else { return nil }
    self.init(
      id: row.name, severity: severity, about: about, title: title, explanation: explanation,
      consequence: consequence, device: row["Core Data"].map { DeviceError($0) }, advice: advice)
  }
}

extension LintRule.DeviceError {
  /// What a relationship without objects ends in; the rules' pages have the one of attributes.
  static let missingLinks = Self(
    .migration,
    "Cannot migrate store in-place: Validation error missing relationship values on mandatory destination relationship"
  )
}
