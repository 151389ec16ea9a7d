/// A class, struct, enum or extension with what matters of its members.
struct TypeDeclaration: Sendable {
  /// What it is declared as.
  enum Kind: Sendable {
    case `class`, structure, enumeration, actor, `protocol`, `extension`
    /// A whole file, around the declarations that are in no type.
    case file
  }

  var kind: Kind
  /// Its name; that of an extension may have several parts.
  var name: [String]
  /// Names of its generic parameters.
  var parameters: [String] = []
  /// The superclass, the raw type, and protocols.
  var inherits: [SwiftType] = []
  var attributes: [SwiftAttribute] = []
  var properties: [PropertyDeclaration] = []
  var cases: [EnumCase] = []
  var aliases: [TypeAlias] = []
  var macros: [MacroUse] = []
  var nested: [TypeDeclaration] = []
  var line: Int
  /// How many `#if` it stands in.
  var conditions = 0

  /// Whether it says that it is of that protocol, by its last name.
  func inherits(_ name: String) -> Bool { inherits.contains { $0.names?.last == name } }

  /// Whether it is a class that SwiftData keeps.
  var isModel: Bool { kind == .class && attributes.contains { $0.name == "Model" } }
}

/// A `var` or `let`.
struct PropertyDeclaration: Sendable {
  var name: String
  var type: SwiftType?
  /// The expression behind `=`, as far as it may show a type or a value.
  var initializer: [SwiftToken] = []
  /// What is between the braces of a static property.
  var body: [SwiftToken] = []
  var attributes: [SwiftAttribute] = []
  var isStatic = false
  /// Whether it has a getter and nothing stored.
  var isComputed = false
  var isLazy = false
  /// Whether it is one of several that a tuple declares.
  var isTuple = false
  var line: Int
  var conditions = 0

  /// The attribute of that name.
  func attribute(_ name: String) -> SwiftAttribute? { attributes.first { $0.name == name } }
}

/// A case of an enum.
struct EnumCase: Sendable {
  var name: String
  var hasPayload: Bool
}

/// A `typealias`.
struct TypeAlias: Sendable {
  var name: String
  var type: SwiftType
}

/// `@Name(arguments)`.
struct SwiftAttribute: Sendable {
  /// The last part of its name.
  var name: String
  var arguments: [SwiftArgument] = []
  var line: Int

  /// The tokens of the argument with that label.
  func argument(_ label: String) -> [SwiftToken]? {
    arguments.first { $0.label == label }?.tokens
  }

  /// Names behind a dot among the arguments without a label: its options.
  var options: [String] {
    arguments.filter { $0.label == nil }.flatMap { argument in
      zip(argument.tokens, argument.tokens.dropFirst()).compactMap { mark, name in
        mark.isMark(".") && name.isName ? name.text : nil
      }
    }
  }
}

/// `#Name<…>(arguments)` among the members of a type.
struct MacroUse: Sendable {
  var name: String
  var arguments: [SwiftArgument] = []
  var line: Int
}

/// An argument of a call.
struct SwiftArgument: Sendable {
  var label: String?
  var tokens: [SwiftToken]
}

/// A type as source spells it.
indirect enum SwiftType: Sendable, Equatable {
  /// A name, perhaps qualified, with what stands between the angle brackets of each part.
  case named([Component])
  case optional(SwiftType)
  case array(SwiftType)
  case dictionary(SwiftType, SwiftType)
  /// Whatever no property can be of, in words: a closure, a tuple.
  case other(String)

  /// A part of a name between dots.
  struct Component: Sendable, Equatable {
    var name: String
    var arguments: [SwiftType] = []
  }

  /// A name without generic arguments.
  static func named(_ names: [String]) -> SwiftType { .named(names.map { Component(name: $0) }) }

  /// The parts of the name; `nil` for what has none.
  var names: [String]? {
    if case .named(let parts) = self { parts.map(\.name) } else { nil }
  }

  /// Arrays, sets, dictionaries and optionals by their sugar, whichever way they are spelled.
  var desugared: SwiftType {
    guard case .named(let parts) = self, let last = parts.last,
      parts.count == 1 || parts.count == 2 && parts.first?.name == "Swift"
    else { return self }
    switch (last.name, last.arguments.count) {
    case ("Optional", 1): return .optional(last.arguments[0])
    case ("Array", 1), ("ContiguousArray", 1): return .array(last.arguments[0])
    case ("Dictionary", 2): return .dictionary(last.arguments[0], last.arguments[1])
    default: return self
    }
  }
}

extension SwiftType: CustomStringConvertible {
  /// As a running program names it: `Array<String>`.
  var description: String {
    switch self {
    case .named(let parts):
      parts.map { part in
        part.arguments.isEmpty
          ? part.name
          : part.name + "<" + part.arguments.map(\.description).joined(separator: ", ") + ">"
      }.joined(separator: ".")
    case .optional(let type): "Optional<\(type)>"
    case .array(let type): "Array<\(type)>"
    case .dictionary(let key, let value): "Dictionary<\(key), \(value)>"
    case .other(let words): words
    }
  }
}

/// What the declarations of one file of Swift source say.
struct SwiftFile: Sendable {
  /// Its path, as it was given.
  let path: String
  /// All that is declared in it.
  let declarations: TypeDeclaration
  /// The containers that it makes, and the schemas that it writes down for containers.
  let containers: ContainerReader
  /// What could not be read.
  let remarks: [SourceRemark]
  /// What comments that begin with `strata:` say, by line.
  let notes: [(line: Int, text: String)]

  /// Reads source; any bytes give something.
  init(path: String, bytes: [UInt8]) {
    self.path = path
    let lexer = SwiftLexer(bytes)
    notes = lexer.notes
    var reader = DeclarationReader(lexer.tokens)
    var file = TypeDeclaration(kind: .file, name: [], line: 1)
    reader.members(of: &file, depth: 0)
    declarations = file
    containers = ContainerReader(reader)
    var problems = lexer.problems + reader.problems
    let read = Set(reader.modelLines)
    for line in Self.modelLines(lexer.tokens) where !read.contains(line) {
      problems.append((line, "a @Model here could not be read"))
    }
    remarks = problems.sorted { $0.line < $1.line }.map {
      SourceRemark(SourcePlace(path: path, line: $0.line), $0.message)
    }
  }

  /// Lines on which `@Model` stands before a declaration.
  private static func modelLines(_ tokens: [SwiftToken]) -> [Int] {
    zip(tokens, tokens.dropFirst()).compactMap { mark, name in
      mark.isMark("@") && name.isWord("Model") ? mark.line : nil
    }
  }
}

/// Which bracket closes which, determined even where some are missing.
struct Brackets: Sendable {
  /// For each token that opens a bracket, the place of its end: that of the token that closes it, or
  /// of the one where what is around it ends.
  let ends: [Int]
  /// For each token that opens a bracket, the place of what comes after it.
  let afters: [Int]
  /// Lines of brackets that nothing closes.
  let unclosed: [Int]

  /// Brackets within one that are looked through for the one that a parenthesis closes.
  private static let reach = 64

  init(_ tokens: [SwiftToken]) {
    var ends = [Int](repeating: -1, count: tokens.count)
    var afters = ends
    var unclosed: [Int] = []
    var open: [Int] = []
    /// Places of the braces within `open`.
    var braces: [Int] = []
    for (index, token) in tokens.enumerated() where token.kind == .mark {
      var match: Int?
      switch token.text {
      case "{":
        braces.append(open.count)
        open.append(index)
      case "(", "[": open.append(index)
      case "}": match = braces.popLast()
      case ")", "]":
        let opener = token.text == ")" ? "(" : "["
        var place = open.count - 1
        // It closes nothing beyond the braces that it stands in.
        while place >= 0, open.count - place <= Self.reach, tokens[open[place]].text != "{" {
          if tokens[open[place]].text == opener {
            match = place
            break
          }
          place -= 1
        }
      default: break
      }
      guard let match else { continue }
      for skipped in open[(match + 1)...] {
        (ends[skipped], afters[skipped]) = (index, index)
        if unclosed.count < 20 { unclosed.append(tokens[skipped].line) }
      }
      (ends[open[match]], afters[open[match]]) = (index, index + 1)
      open.removeSubrange(match...)
    }
    for index in open {
      (ends[index], afters[index]) = (tokens.count, tokens.count)
      if unclosed.count < 20 { unclosed.append(tokens[index].line) }
    }
    self.ends = ends
    self.afters = afters
    self.unclosed = unclosed
  }
}
