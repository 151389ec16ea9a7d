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
