import ManagedModel
import ModelSearch

/// What may stand behind a command's name: an ``Argument`` by its place, or an ``Option`` by its name.
package protocol Parameter: Sendable {
  var declaration: Declaration { get }
}

/// A parameter as usage, help, the manual, completions and ``GivenStores`` see it.
package struct Declaration: Sendable {
  /// What its words stand for: it decides what a shell completes, and what may lie in a container.
  package enum Kind: Sendable {
    case flag, text, store, model, file, folder, entity
  }

  /// `limit`, or of an argument `STORE`.
  package let name: String
  /// What stands for the value in usage.
  package let placeholder: String
  package let kind: Kind
  package var help = ""
  /// The only values it takes, where there are few.
  package var choices: [String] = []
  /// Words that a shell offers.
  var suggestions: @Sendable () -> [String] = { [] }
  package var isRepeatable = false
  /// Whether it must be there.
  package var isRequired = false
  /// Whether it is for programs only, and left out of help.
  var isHidden = false
  /// Why a word is no value, as a sentence; `nil` for one that is.
  var refusal: @Sendable (String) -> String? = { _ in nil }

  package var isFlag: Bool { kind == .flag }

  /// Whether any file may stand for it.
  package var isFile: Bool { [.store, .model, .file].contains(kind) }

  /// `--limit`
  package var word: String { "--" + name }

  /// `--limit N`
  var usage: String { word + (isFlag ? "" : " " + placeholder) }

  /// What a shell offers; empty where that is files, entities, or not known beforehand.
  package var words: [String] { choices.isEmpty ? suggestions() : choices }
}

/// An option such as `--limit N`, or a flag such as `--blobs`, that is read as a `Value`.
///
///     static let limit = Option<Int?>(number: "limit", "most hits for each entity (default 100)")
///     …
///     let limit = arguments[limit] ?? 100
package struct Option<Value: Sendable>: Parameter {
  package private(set) var declaration: Declaration
  fileprivate let read: @Sendable ([String]) -> Value

  /// The words of a command line that give it values: `["--mapping", "a.json5", "--mapping", "b.cdm"]`.
  package func words(_ values: [String]) -> [String] { values.flatMap { [declaration.word, $0] } }
  package func words(_ value: String?) -> [String] { words(value.map { [$0] } ?? []) }

  /// The same with other help, for a command in which it means something else.
  func help(_ text: String) -> Self {
    var option = self
    option.declaration.help = text
    return option
  }
}

extension Option where Value == String? {
  /// The same for a command that does nothing without it.
  var required: Option<String> {
    var declaration = declaration
    declaration.isRequired = true
    return Option<String>(declaration: declaration) { $0.last ?? "" }
  }
}

extension Option where Value == Bool {
  /// A flag.
  package init(_ name: String, _ help: String) {
    declaration = Declaration(name: name, placeholder: "", kind: .flag, help: help)
    read = { !$0.isEmpty }
  }
}

extension Option where Value == String? {
  package init(
    _ name: String, _ placeholder: String, _ kind: Declaration.Kind, _ help: String,
    isHidden: Bool = false
  ) {
    declaration = Declaration(
      name: name, placeholder: placeholder, kind: kind, help: help, isHidden: isHidden)
    read = { $0.last }
  }

  /// Text, with the words that a shell offers.
  package init(
    _ name: String, _ placeholder: String, _ help: String,
    suggesting words: @escaping @Sendable () -> [String] = { [] }
  ) {
    self.init(name, placeholder, .text, help)
    declaration.suggestions = words
  }
}

extension Option where Value == String? {
  /// A model: one that is given several times names the models that an app merges.
  init(merging name: String, _ placeholder: String, _ help: String) {
    declaration = Declaration(
      name: name, placeholder: placeholder, kind: .model, help: help, isRepeatable: true)
    read = { $0.isEmpty ? nil : $0.joined(separator: ModelReference.separator) }
  }
}

extension Option where Value == [String] {
  /// An option that may be given several times.
  init(
    repeating name: String, _ placeholder: String, _ kind: Declaration.Kind, _ help: String
  ) {
    declaration = Declaration(
      name: name, placeholder: placeholder, kind: kind, help: help, isRepeatable: true)
    read = { $0 }
  }
}

extension Option {
  /// A whole number of at least `minimum`.
  ///
  /// - Parameter takesAll: whether the word `all` stands for the greatest number.
  package init<Number: FixedWidthInteger & Sendable>(
    number name: String, as placeholder: String = "N", atLeast minimum: Number = 0,
    takesAll: Bool = false, _ help: String
  ) where Value == Number? {
    let number: @Sendable (String) -> Number? = { word in
      takesAll && word == "all" ? .max : Number(word).flatMap { $0 < minimum ? nil : $0 }
    }
    declaration = Declaration(name: name, placeholder: placeholder, kind: .text, help: help)
    declaration.refusal = { word in
      number(word) == nil
        ? "--\(name) takes a whole number of at least \(minimum), not “\(word)”" : nil
    }
    read = { $0.last.flatMap(number) }
  }

  /// One of a few values.
  init<Choice: RawRepresentable<String> & Sendable>(
    _ name: String, _ placeholder: String, among choices: [Choice], _ help: String
  ) where Value == Choice? {
    declaration = Declaration(name: name, placeholder: placeholder, kind: .text, help: help)
    declaration.choices = choices.map(\.rawValue)
    read = { $0.last.flatMap(Choice.init(rawValue:)) }
  }

  /// Some of a few values.
  init<Choice: RawRepresentable<String> & Sendable>(
    repeating name: String, _ placeholder: String, among choices: [Choice], _ help: String
  ) where Value == [Choice] {
    declaration = Declaration(name: name, placeholder: placeholder, kind: .text, help: help)
    declaration.choices = choices.map(\.rawValue)
    declaration.isRepeatable = true
    read = { $0.compactMap(Choice.init(rawValue:)) }
  }
}

/// What stands in a place behind a command's name.
package struct Argument<Value: Sendable>: Parameter {
  package private(set) var declaration: Declaration
  fileprivate let read: @Sendable ([String]) -> Value
}

extension Argument where Value == String {
  init(_ name: String, _ kind: Declaration.Kind = .text) {
    declaration = Declaration(name: name, placeholder: name, kind: kind, isRequired: true)
    read = { $0.first ?? "" }
  }
}

extension Argument where Value == String? {
  /// One that may be left out, or empty.
  package init(
    optional name: String, _ kind: Declaration.Kind = .text,
    suggesting words: @escaping @Sendable () -> [String] = { [] }
  ) {
    declaration = Declaration(name: name, placeholder: name, kind: kind, suggestions: words)
    read = { $0.first.flatMap { $0.isEmpty ? nil : $0 } }
  }
}

extension Argument where Value == [String] {
  /// All that follows.
  init(list name: String, _ kind: Declaration.Kind, isRequired: Bool = false) {
    declaration = Declaration(
      name: name + "…", placeholder: name, kind: kind, isRepeatable: true, isRequired: isRequired)
    read = { $0 }
  }
}

/// The words behind a subcommand, sorted into arguments and options.
package struct Arguments: Sendable {
  /// By the name of what takes them.
  private var words: [String: [String]] = [:]

  /// Reads the words by what the command says it takes.
  ///
  /// - Throws: ``CoreDataError`` of kind usage that says which word is wrong and what comes nearest.
  package init(_ given: [String], for command: Command) throws {
    var given = given[...]
    var positional: [String] = []
    var endOfOptions = false
    while let word = given.popFirst() {
      guard word.hasPrefix("-"), word != "-", !endOfOptions else {
        positional.append(word)
        continue
      }
      if word == "--" {
        endOfOptions = true
        continue
      }
      let text = word == "-h" ? "--help" : word
      let parts = text.drop { $0 == "-" }.split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false
      ).map(String.init)
      let name = parts.first ?? ""
      guard text.hasPrefix("--"), let option = command.options.first(where: { $0.name == name })
      else {
        throw Self.wrong("unknown option \(word)", command, near: name)
      }
      guard !option.isFlag else {
        guard parts.count == 1 else {
          throw Self.wrong("--\(name) takes no value", command)
        }
        words[name] = [name]
        continue
      }
      guard let value = parts.count == 2 ? parts[1] : given.popFirst() else {
        throw Self.wrong("--\(name) needs a value: \(option.usage)", command)
      }
      guard option.choices.isEmpty || option.choices.contains(value) else {
        throw Self.wrong(
          "--\(name) is one of \(option.choices.joined(separator: ", ")), not “\(value)”", command)
      }
      if words[name] != nil, !option.isRepeatable {
        throw Self.wrong("--\(name) is given twice", command)
      }
      words[name, default: []].append(value)
    }
    guard !self[.help] else { return }
    let arguments = command.arguments
    guard positional.count >= arguments.count(where: \.isRequired) else {
      throw Self.wrong("\(arguments[positional.count].name) is missing", command)
    }
    for (index, word) in positional.enumerated() {
      guard let argument = index < arguments.count ? arguments[index] : arguments.last,
        index < arguments.count || argument.isRepeatable
      else { throw Self.wrong("unexpected argument: “\(word)”", command) }
      words[argument.name, default: []].append(word)
    }
    for option in command.options {
      if option.isRequired, words[option.name] == nil {
        throw CoreDataError(
          .usage, "missing \(option.usage)",
          hint: "\(option.word): \(option.help). For example: \(command.example)")
      }
      if let refusal = words[option.name]?.lazy.compactMap(option.refusal).first {
        throw CoreDataError(.usage, refusal)
      }
    }
  }

  package subscript<Value>(_ option: Option<Value>) -> Value {
    option.read(words[option.declaration.name] ?? [])
  }

  package subscript<Value>(_ argument: Argument<Value>) -> Value {
    argument.read(words[argument.declaration.name] ?? [])
  }

  /// What was given for a parameter, as it stands: for what goes over those of any command.
  package subscript(_ declaration: Declaration) -> [String] {
    get { words[declaration.name] ?? [] }
    set { words[declaration.name] = newValue }
  }

  private static func wrong(
    _ message: String, _ command: Command, near name: String? = nil
  )
    -> CoreDataError
  {
    let question = name.flatMap {
      Nearest.question($0, in: command.options.map(\.name)) { "--\($0)" }
    }
    return CoreDataError(.usage, message, hint: question ?? "usage: \(command.synopsis)")
  }
}
