import Files
import JSON
import ManagedModel
import ModelSearch

/// What a project says of the rules, in `.strata.json5` beside it.
///
///     {
///       rules: { "unique-added": "error", "inverse-missing": "off" },
///       released: ["Recipes", "Recipes 2"],
///       cloudkit: false,
///       exceptions: [
///         { rule: "attribute-dropped", entity: "Recipe", property: "legacyCode",
///           reason: "nobody read it" },
///       ],
///     }
public struct LintConfiguration: Sendable, Equatable {
  /// What a rule is to be: `nil` turns it off.
  public typealias Level = LintRule.Severity?

  /// A finding that is known and meant.
  public struct Exception: Sendable, Equatable {
    /// Name of the rule.
    public var rule: String
    /// Only of this version.
    public var version: String?
    /// Only of this entity.
    public var entity: String?
    /// Only of this property.
    public var property: String?
    /// Why, as a sentence.
    public var reason: String
    /// The line that it stands on.
    var line: Int

    func applies(to finding: LintFinding) -> Bool {
      finding.rule.id == rule && (version == nil || finding.version == version)
        && (entity == nil || finding.entity == entity)
        && (property == nil || finding.property == property || finding.former == property)
    }
  }

  /// The file; empty if there is none.
  public var path = ""
  /// Levels by the rules' names.
  public var levels: [String: Level] = [:]
  /// Names of the versions that shipped; `nil` where all at the base did.
  public var released: Set<String>?
  /// Whether CloudKit's rules apply; `nil` leaves it to what is found.
  public var cloudKit: Bool?
  /// What is known and meant.
  public var exceptions: [Exception] = []

  /// What its file is called.
  public static let fileName = ".strata.json5"
  private static let limit = 1 << 20

  /// None.
  public init() {}

  /// The file that is for a path: in its folder, or in one above it up to the repository's.
  package static func file(for path: String) -> String? {
    var folder = FileSystem.isDirectory(path) ? path : FileSystem.parent(of: path) ?? "."
    let top = GitRevision.repository(around: path).map(FileSystem.canonical)
    // Without a repository only what lies right beside it.
    var left = top == nil ? 2 : 64
    while left > 0 {
      let file = folder == "/" ? "/" + fileName : folder + "/" + fileName
      if FileSystem.isFile(file) { return file }
      let canonical = FileSystem.canonical(folder)
      guard canonical != top, canonical != "/" else { return nil }
      folder = FileSystem.parent(of: canonical) ?? "/"
      left -= 1
    }
    return nil
  }

  /// Reads a file.
  ///
  /// - Throws: ``CoreDataError`` of kind usage for a mistake in it, with the words marked.
  public init(path: String) throws {
    let bytes = try FileSystem.read(path, limit: Self.limit)
    try self.init(text: String(decoding: bytes, as: UTF8.self), path: path)
  }

  /// Reads text; `path` is what errors call it.
  public init(text: String, path: String) throws {
    self.path = path
    let reader = Reader(text: text, path: path)
    let root: JSON5
    do { root = try JSON5.read(Array(text.utf8)) } catch {
      throw reader.wrong(error.message, error.range)
    }
    for member in try reader.members(of: root) {
      switch member.key {
      case "rules":
        for rule in try reader.members(of: member.value) {
          try reader.check(rule.key, rule.keyRange)
          levels[rule.key] = try reader.level(rule.value)
        }
      case "released": released = Set(try reader.texts(member.value))
      case "cloudkit":
        guard case .boolean(let flag) = member.value.kind else {
          throw reader.wrong("“cloudkit” must be true or false", member.value.range)
        }
        cloudKit = flag
      case "exceptions":
        guard case .array(let elements) = member.value.kind else {
          throw reader.wrong("“exceptions” must be a list", member.value.range)
        }
        exceptions = try elements.map { try reader.exception($0) }
      default:
        let known = ["rules", "released", "cloudkit", "exceptions"]
        throw reader.wrong(
          "unknown key “\(member.key)”", member.keyRange,
          hint: Nearest.hint(member.key, in: known))
      }
    }
  }

  /// What a word sets a rule to: error, warning or off.
  package static func level(_ word: String) -> Level? {
    word == "off" ? .some(nil) : LintRule.Severity(rawValue: word).map { .some($0) }
  }
}

/// Reads the members, with the place of every mistake.
private struct Reader {
  let text: String
  let path: String

  func wrong(_ message: String, _ range: Range<Int>, hint: String? = nil) -> CoreDataError {
    let line = line(of: range)
    return CoreDataError(
      .usage, "line \(line): \(message)", path: path, hint: hint, mark: mark(range))
  }

  func line(of range: Range<Int>) -> Int {
    1 + text.utf8.prefix(range.lowerBound).count { $0 == 10 }
  }

  /// The line alone: the rest of the file is not underlined.
  private func mark(_ range: Range<Int>) -> TextMark {
    let bytes = Array(text.utf8)
    let low = min(range.lowerBound, bytes.count)
    let start = bytes[..<low].lastIndex(of: 10).map { $0 + 1 } ?? 0
    let end = bytes[low...].firstIndex(of: 10) ?? bytes.count
    let line = String(decoding: bytes[start..<end], as: UTF8.self)
    return TextMark(line, (low - start)..<max(low - start, min(range.upperBound, end) - start))
  }

  func members(of value: JSON5) throws -> [JSON5.Member] {
    guard case .object(let members) = value.kind else {
      throw wrong("an object is expected here, not \(value.name)", value.range)
    }
    return members
  }

  func string(_ value: JSON5) throws -> String {
    guard case .string(let text, _) = value.kind else {
      throw wrong("text is expected here, not \(value.name)", value.range)
    }
    return text
  }

  func texts(_ value: JSON5) throws -> [String] {
    guard case .array(let elements) = value.kind else {
      throw wrong("a list is expected here, not \(value.name)", value.range)
    }
    return try elements.map(string)
  }

  func check(_ rule: String, _ range: Range<Int>) throws {
    guard LintRule.named(rule) == nil else { return }
    let unknown = LintRule.unknown(rule)
    throw wrong(unknown.message, range, hint: unknown.hint)
  }

  func level(_ value: JSON5) throws -> LintConfiguration.Level {
    guard let level = LintConfiguration.level(try string(value)) else {
      throw wrong("a rule must be “error”, “warning” or “off”", value.range)
    }
    return level
  }

  func exception(_ value: JSON5) throws -> LintConfiguration.Exception {
    var exception = LintConfiguration.Exception(
      rule: "", reason: "", line: line(of: value.range))
    for member in try members(of: value) {
      let text = try string(member.value)
      switch member.key {
      case "rule":
        try check(text, member.value.range)
        exception.rule = text
      case "version": exception.version = text
      case "entity": exception.entity = text
      case "property": exception.property = text
      case "reason": exception.reason = text.trimmed
      default: throw wrong("unknown key “\(member.key)”", member.keyRange)
      }
    }
    guard !exception.rule.isEmpty else {
      throw wrong("the exception names no rule", value.range)
    }
    guard !exception.reason.isEmpty else {
      throw wrong(
        "the exception of \(exception.rule) gives no reason", value.range,
        hint: "Give the reason, for the next person who reads the file: reason: \"…\".")
    }
    return exception
  }

}
