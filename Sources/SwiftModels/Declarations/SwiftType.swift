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
