/// What to try, as a sentence in which the values that a caller can give are kept apart: a library
/// calls them by their Swift names, a command line by what is typed.
public struct Advice: Sendable, Equatable, ExpressibleByStringInterpolation {
  /// A value that a caller can give.
  public struct Choice: Sendable, Hashable {
    /// What distinguishes it from the others.
    public let id: String
    /// As Swift has it, such as `MigrationOptions.output`.
    public let name: String

    /// Names a value as Swift has it.
    public init(_ id: String, _ name: String) {
      self.id = id
      self.name = name
    }
  }

  fileprivate enum Part: Sendable, Equatable {
    case text(String)
    /// With what it is to be; where that is not known, with what stands for it, such as `MODEL`.
    case choice(Choice, [String], isKnown: Bool)
  }

  private var parts: [Part]

  /// Advice that names no value.
  public init(stringLiteral text: String) { parts = [.text(text)] }

  /// Advice with a text's values kept apart.
  public init(stringInterpolation text: StringInterpolation) { parts = text.parts }

  /// A text in which `{plan}` and its like stand for what a program can do, and `{model}` for a model
  /// that is to be given.
  package init(marked text: String) {
    parts = []
    var rest = Substring(text)
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
      let mark = String(rest[rest.index(after: open)..<close])
      parts.append(.text(String(rest[..<open])))
      parts.append(
        mark == "model"
          ? .choice(.model, ["MODEL"], isKnown: false) : .choice(.deed(mark), [], isKnown: false))
      rest = rest[rest.index(after: close)...]
    }
    parts.append(.text(String(rest)))
  }

  /// The same with further sentences behind it.
  package func and(_ sentences: [String]) -> Advice {
    var all = self
    all.parts += sentences.map { .text(" " + $0) }
    return all
  }

  /// The same with another text in place of one.
  package func replacing(_ text: String, with other: String) -> Advice {
    var all = self
    all.parts = parts.map { part in
      switch part {
      case .text(let words): .text(words.replacing(text, with: other))
      case .choice(let choice, let values, let isKnown):
        .choice(choice, values.map { $0.replacing(text, with: other) }, isKnown: isKnown)
      }
    }
    return all
  }

  /// The same about a store: what a program does with one names its path.
  package func about(_ path: String) -> Advice {
    var all = self
    all.parts = parts.map { part in
      guard case .choice(let choice, let values, false) = part, values.isEmpty, choice.isOfStore
      else { return part }
      return .choice(choice, [path], isKnown: true)
    }
    return all
  }

  /// Whether it asks for a value.
  package func names(_ choice: Choice) -> Bool {
    parts.contains { if case .choice(choice, _, _) = $0 { true } else { false } }
  }

  /// What a value is to be, as far as the sentence says so.
  package func values(of choice: Choice) -> [String] {
    parts.flatMap { part -> [String] in
      if case .choice(choice, let values, true) = part { values } else { [] }
    }
  }

  /// The sentence with the values' Swift names.
  public var text: String {
    parts.map { part in
      switch part {
      case .text(let text): text
      case .choice(let choice, let values, true): "\(choice.name) \(values.joined(separator: ", "))"
      case .choice(let choice, _, false): choice.name
      }
    }.joined()
  }

  /// The sentence with what a caller types for each value.
  package func text(naming name: (Choice, [String]) -> String) -> String {
    parts.map { part in
      switch part {
      case .text(let text): text
      case .choice(let choice, let values, _): name(choice, values)
      }
    }.joined()
  }

  /// Collects the parts of a sentence.
  public struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var parts: [Part] = []

    /// Begins a sentence.
    public init(literalCapacity: Int, interpolationCount: Int) {}

    /// Adds words.
    public mutating func appendLiteral(_ literal: String) { parts.append(.text(literal)) }

    /// Adds other advice, with the values that it names.
    package mutating func appendInterpolation(_ advice: Advice) { parts += advice.parts }

    /// Adds words that are worked out.
    public mutating func appendInterpolation(_ text: String) { parts.append(.text(text)) }

    /// Adds a value, with what stands for it where it is typed.
    public mutating func appendInterpolation(_ choice: Choice, _ placeholder: String? = nil) {
      parts.append(.choice(choice, placeholder.map { [$0] } ?? [], isKnown: false))
    }

    /// Adds a value with what it is to be.
    public mutating func appendInterpolation(_ choice: Choice, of values: [String]) {
      parts.append(.choice(choice, values, isKnown: true))
    }
  }
}

extension Advice.Choice {
  /// The model that a store is read with.
  package static let model = Advice.Choice("model", "Store(path:model:)")

  /// The -wal of a store, from elsewhere.
  package static let log = Advice.Choice("log", "log")
  /// The store without its -wal.
  package static let ignoresLog = Advice.Choice("ignoresLog", "ignoresLog")
  /// The password of an encrypted backup.
  package static let password = Advice.Choice("password", "BackupUnlocking")

  /// Whether it is done with a store, whose path is all that it needs.
  fileprivate var isOfStore: Bool { ["undeletion", "diagnosis", "repair"].contains(id) }

  /// Something that a program can do, such as a `plan`: a command line has a command for it.
  package static func deed(_ name: String) -> Self {
    Advice.Choice(name, name.replacing("-", with: " "))
  }
}
