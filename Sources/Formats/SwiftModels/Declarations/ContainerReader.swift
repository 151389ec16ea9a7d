/// What a container or a `Schema(…)` is given.
enum ContainerContent: Sendable, Equatable {
  /// Names of classes.
  case types([[String]])
  /// The name of a VersionedSchema.
  case version([String])
  /// The name of a variable that holds a schema.
  case variable(String)
}

/// A place where a program makes a `ModelContainer`.
struct ContainerUse: Sendable {
  var content: ContainerContent
  /// The name behind `migrationPlan:`.
  var plan: [String]?
  /// Whether nothing of it is kept: its store is in memory only.
  var isInMemory: Bool
  var line: Int
}

/// A `Schema(…)`, with the variable that holds it.
struct SchemaUse: Sendable {
  var content: ContainerContent
  var variable: String?
  var line: Int
}

/// Finds the containers that a program makes, and the schemas that it writes down for them.
///
/// Those of previews and of tests are left out: no user has a store of them.
struct ContainerReader: Sendable {
  private(set) var containers: [ContainerUse] = []
  private(set) var schemas: [SchemaUse] = []

  /// Most tokens that are looked at within calls: calls within each other must not add up.
  private static let callLimit = 200_000
  /// Most containers and schemas of one file, and variables that are looked up for one container.
  private static let useLimit = 200
  private static let lookupLimit = 20
  /// How far behind its name the body of a preview is looked for.
  private static let previewReach = 100
  /// How far before a call its variable is looked for.
  private static let variableReach = 10

  /// Looks through all tokens of a file.
  init(_ reader: DeclarationReader) {
    let (tokens, brackets) = (reader.tokens, reader.brackets)
    guard !Self.isTest(tokens) else { return }
    let variables = Variables(tokens)
    var left = Self.callLimit
    /// Where the outermost preview ends.
    var end = 0
    for (index, token) in tokens.enumerated() where token.kind == .word || token.kind == .pound {
      if index >= end { end = Self.previewEnd(index, tokens, brackets) ?? end }
      guard index >= end, containers.count + schemas.count < Self.useLimit else { continue }
      guard token.text == "Schema" || token.text.hasSuffix("odelContainer"),
        index + 1 < tokens.count, tokens[index + 1].isMark("("),
        brackets.ends[index + 1] - index < left
      else { continue }
      left -= brackets.ends[index + 1] - index
      var call = reader
      (call.at, call.end) = (index + 1, tokens.count)
      let arguments = call.arguments()
      if token.text == "Schema" {
        guard let content = Self.content(ofSchema: arguments) else { continue }
        schemas.append(
          SchemaUse(
            content: content, variable: Self.variable(before: index, tokens), line: token.line))
      } else if arguments.first?.label == "for",
        let content = Self.content(ofContainer: arguments)
      {
        containers.append(
          ContainerUse(
            content: content,
            plan: arguments.first { $0.label == "migrationPlan" }?.tokens.metatypes.first,
            isInMemory: Self.isInMemory(arguments, at: index, variables, reader), line: token.line))
      }
    }
  }

  /// Whether a file is one of tests.
  private static func isTest(_ tokens: [SwiftToken]) -> Bool {
    zip(tokens, tokens.dropFirst()).contains {
      $0.isWord("import") && ($1.isWord("XCTest") || $1.isWord("Testing"))
    }
  }

  /// Where the body ends that a `#Preview`, a PreviewProvider or a PreviewModifier has; `nil` for any
  /// other token.
  private static func previewEnd(
    _ index: Int, _ tokens: [SwiftToken], _ brackets: Brackets
  ) -> Int? {
    let token = tokens[index]
    guard
      token.kind == .pound && token.text == "Preview"
        || token.isWord("PreviewProvider") || token.isWord("PreviewModifier")
    else { return nil }
    var place = index + 1
    for _ in 0..<previewReach {
      guard place < tokens.count, !tokens[place].isMark("}") else { return nil }
      if tokens[place].isMark("{") { return brackets.ends[place] }
      place = tokens[place].isMark("(") ? max(place + 1, brackets.afters[place]) : place + 1
    }
    return nil
  }

  private static func content(ofSchema arguments: [SwiftArgument]) -> ContainerContent? {
    if let version = arguments.first(where: { $0.label == "versionedSchema" }) {
      return version.tokens.metatypes.first.map { .version($0) }
    }
    guard let first = arguments.first, first.label == nil else { return nil }
    let types = first.tokens.metatypes
    if !types.isEmpty { return .types(types) }
    // `Schema(SchemaV2.models)`.
    return first.tokens.memberPaths("models").first.map { .version($0) }
  }

  private static func content(ofContainer arguments: [SwiftArgument]) -> ContainerContent? {
    let given = arguments.prefix { $0.label == nil || $0.label == "for" }.map(\.tokens)
    guard let first = given.first else { return nil }
    if first.count > 1, first[0].isWord("Schema"), first[1].isMark("(") {
      var call = DeclarationReader(first)
      call.at = 1
      return content(ofSchema: call.arguments())
    }
    let types = given.flatMap(\.metatypes)
    if !types.isEmpty { return .types(types) }
    return first.last.flatMap { $0.isName ? .variable($0.text) : nil }
  }

  /// The variable that a value is given to, or that returns it.
  private static func variable(before index: Int, _ tokens: [SwiftToken]) -> String? {
    for place in stride(from: index - 1, through: max(1, index - variableReach), by: -1)
    where tokens[place].isName
      && (tokens[place - 1].isWord("let") || tokens[place - 1].isWord("var"))
    {
      return tokens[place].text
    }
    return nil
  }

  /// Whether the configuration that is given, in place or by a variable, keeps nothing.
  private static func isInMemory(
    _ arguments: [SwiftArgument], at index: Int, _ variables: Variables, _ reader: DeclarationReader
  ) -> Bool {
    arguments.contains { argument in
      if argument.label == "inMemory" { return argument.tokens.first?.isWord("true") == true }
      guard argument.label == "configurations" || argument.label == nil else { return false }
      if argument.tokens.areInMemory { return true }
      return argument.tokens.filter(\.isName).prefix(lookupLimit).contains { name in
        variables.value(of: name.text, before: index, reader).areInMemory
      }
    }
  }

  /// Where a file declares variables, by their names.
  private struct Variables {
    private var places: [String: [Int]] = [:]

    init(_ tokens: [SwiftToken]) {
      for (index, token) in tokens.enumerated().dropFirst() where token.isName {
        let before = tokens[index - 1]
        guard before.isWord("let") || before.isWord("var") else { continue }
        places[token.text, default: []].append(index)
      }
    }

    /// What the nearest declaration before a place gives a variable.
    func value(of name: String, before index: Int, _ reader: DeclarationReader) -> [SwiftToken] {
      guard let all = places[name], let place = all.last(where: { $0 < index }) ?? all.first else {
        return []
      }
      var value = reader
      (value.at, value.end) = (place + 1, reader.tokens.count)
      if value.isMark(":") {
        value.at += 1
        _ = value.type(depth: 0)
      }
      if value.isMark("=") { value.at += 1 } else if !value.isMark("{") { return [] }
      return value.expression()
    }
  }
}

extension [SwiftToken] {
  /// Whether it has `isStoredInMemoryOnly: true`.
  fileprivate var areInMemory: Bool {
    indices.contains { place in
      self[place].isWord("isStoredInMemoryOnly") && place + 2 < count && self[place + 1].isMark(":")
        && self[place + 2].isWord("true")
    }
  }

  /// Names before `.member`, where no `.self` is.
  func memberPaths(_ member: String) -> [[String]] {
    indices.compactMap { place in
      guard place > 1, self[place].isWord(member), self[place - 1].isMark(".") else { return nil }
      var names: [String] = []
      var at = place - 2
      while at >= 0, self[at].isName {
        names.append(self[at].text)
        guard at > 1, self[at - 1].isMark(".") else { break }
        at -= 2
      }
      return names.isEmpty ? nil : names.reversed()
    }
  }
}
