import ManagedModel

/// The words behind a subcommand, sorted into arguments and options.
struct Arguments: Sendable, Equatable {
  private(set) var positional: [String] = []
  private var values: [String: [String]] = [:]

  /// Reads the words by what the command says it takes.
  ///
  /// - Throws: ``CoreDataError`` of kind usage that says which word is wrong and what comes nearest.
  init(_ words: [String], for command: Command) throws {
    var words = words[...]
    var endOfOptions = false
    while let word = words.popFirst() {
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
      guard let placeholder = option.value else {
        guard parts.count == 1 else {
          throw Self.wrong("--\(name) takes no value", command)
        }
        values[name] = ["true"]
        continue
      }
      guard let value = parts.count == 2 ? parts[1] : words.popFirst() else {
        throw Self.wrong("--\(name) needs a value: --\(name) \(placeholder)", command)
      }
      guard option.choices.isEmpty || option.choices.contains(value) else {
        throw Self.wrong(
          "--\(name) is one of \(option.choices.joined(separator: ", ")), not “\(value)”", command)
      }
      if values[name] != nil, !option.isRepeatable {
        throw Self.wrong("--\(name) is given twice", command)
      }
      values[name, default: []].append(value)
    }
    guard !flag("help") else { return }
    let required = command.arguments.count - command.optionalArguments
    guard positional.count >= required else {
      throw Self.wrong("\(command.arguments[positional.count]) is missing", command)
    }
    let isOpenEnded = command.arguments.last?.hasSuffix("…") == true
    guard isOpenEnded || positional.count <= command.arguments.count else {
      throw Self.wrong("one argument too many: “\(positional[command.arguments.count])”", command)
    }
  }

  func flag(_ name: String) -> Bool { values[name] != nil }
  func value(_ name: String) -> String? { values[name]?.last }
  func all(_ name: String) -> [String] { values[name] ?? [] }

  /// An argument by its place; empty where an optional one was left out.
  subscript(_ index: Int) -> String { index < positional.count ? positional[index] : "" }

  /// The same with another word in the place of an argument.
  mutating func replace(_ index: Int, with word: String) {
    if positional.indices.contains(index) { positional[index] = word }
  }

  /// The same with another value in the place of an option's.
  mutating func replace(_ name: String, with value: String) {
    if values[name] != nil { values[name] = [value] }
  }

  /// A whole number of at least `minimum`.
  func number(_ name: String, atLeast minimum: Int = 0) throws -> Int? {
    guard let text = value(name) else { return nil }
    guard let number = Int(text), number >= minimum else {
      throw CoreDataError(
        .usage, "--\(name) takes a whole number from \(minimum) on, not “\(text)”")
    }
    return number
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
