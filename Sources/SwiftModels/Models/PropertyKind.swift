import ManagedModel

/// What SwiftData makes of the type of a property.
indirect enum PropertyKind: Equatable {
  /// A value with a column of its own.
  case plain(AttributeType)
  /// An enum or struct of the table, by its place.
  case enumeration(Int)
  case structure(Int)
  /// SwiftUI's `Color.Resolved`.
  case color
  /// A collection of values, with the name of its class; where that it is kept so is assumed, with
  /// what is assumed as a clause.
  case collection(String, unproven: String? = nil)
  /// A class that is Codable and no model, by its name: a property only within a collection.
  case codableClass(String)
  /// A class with `@Model`, by its place.
  case model(Int)
  case models(Int)
  /// Nothing that could be a property, with the reason as a clause.
  case none(String)
}

/// Finds what a property's type is.
struct TypeResolver {
  let table: TypeTable

  /// What values of Swift's own and Foundation's types are kept as.
  static let plain: [String: AttributeType] = [
    "String": .string, "Bool": .boolean, "Int": .integer64, "Int64": .integer64,
    "Int32": .integer32, "Int16": .integer16, "Int8": .integer64, "UInt": .integer64,
    "UInt64": .integer64, "UInt32": .integer64, "UInt16": .integer64, "UInt8": .integer64,
    "Double": .double, "TimeInterval": .double, "CGFloat": .double, "Float": .float,
    "Float32": .float, "Float64": .double, "Date": .date, "Data": .binary, "UUID": .uuid,
    "Decimal": .decimal, "URL": .uri,
  ]
  private static let modules: Set<String> = [
    "Swift", "Foundation", "SwiftData", "SwiftUI", "CoreGraphics", "CoreFoundation",
  ]

  /// What a type is to code within a type of that path, and whether it is optional.
  func resolve(
    _ type: SwiftType, in scope: [String], parameters: [String] = [], steps: Int = 0
  ) -> (kind: PropertyKind, isOptional: Bool) {
    guard steps < 12 else { return (.none("a type that is nested too deeply"), false) }
    func inner(_ type: SwiftType) -> (kind: PropertyKind, isOptional: Bool) {
      resolve(type, in: scope, parameters: parameters, steps: steps + 1)
    }
    switch type.desugared {
    case .optional(let wrapped): return (inner(wrapped).kind, true)
    case .array(let element): return (collection(of: inner(element), type), false)
    case .dictionary(let key, let value):
      if case .none(let reason) = inner(key).kind { return (.none(reason), false) }
      let kind = inner(value).kind
      // Only an array of models is a relationship.
      switch kind {
      case .model, .models: return (.collection(type.desugared.description), false)
      default: return (collection(of: (kind, false), type), false)
      }
    case .other(let words): return (.none("\(words) is not a property"), false)
    case .named(let parts):
      let names = parts.map(\.name)
      if names.count == 1, parameters.contains(names[0]) {
        return (.none("the generic type “\(names[0])” is not a property"), false)
      }
      switch table.meaning(of: names, in: scope) {
      case .entry(let place): return (kind(of: place, parts), false)
      case .alias(let target): return inner(target)
      case .unknown: return (outside(parts, type, inner), false)
      }
    }
  }

  private func kind(of place: Int, _ parts: [SwiftType.Component]) -> PropertyKind {
    let entry = table.entries[place]
    guard parts.allSatisfy(\.arguments.isEmpty), entry.declaration.parameters.isEmpty else {
      return .none("the generic type “\(entry.name)” is not a property")
    }
    switch entry.declaration.kind {
    case .class where entry.declaration.isModel: return .model(place)
    case .enumeration: return .enumeration(place)
    case .structure: return .structure(place)
    case .class where isCodable(place, steps: 0): return .codableClass(entry.name)
    default: return .none("“\(entry.name)” is neither a value nor a class with @Model")
    }
  }

  /// Whether a class says that it is Codable, or one above it does.
  private func isCodable(_ place: Int, steps: Int) -> Bool {
    let entry = table.entries[place]
    return entry.declaration.inherits.contains { inherited in
      guard let names = inherited.names else { return false }
      if ["Codable", "Decodable"].contains(names.last) { return true }
      guard steps < 12,
        case .entry(let other) = table.meaning(of: names, in: Array(entry.path.dropLast())),
        other != place
      else { return false }
      return isCodable(other, steps: steps + 1)
    }
  }

  /// Types of Apple's that are Codable and have no column of their own.
  private static let codable: Set<String> = [
    "AttributedString", "Calendar", "CGAffineTransform", "CGPoint", "CGRect", "CGSize", "CGVector",
    "CharacterSet", "ClosedRange", "DateComponents", "DateInterval", "Duration", "IndexPath",
    "IndexSet", "Locale", "Measurement", "PersonNameComponents", "Range", "TimeZone",
    "URLComponents",
  ]

  /// What a type is that the files do not declare.
  private func outside(
    _ parts: [SwiftType.Component], _ type: SwiftType,
    _ inner: (SwiftType) -> (kind: PropertyKind, isOptional: Bool)
  ) -> PropertyKind {
    var parts = parts
    if parts.count > 1, Self.modules.contains(parts[0].name) { parts.removeFirst() }
    let names = parts.map(\.name)
    if parts.count == 1, parts[0].name == "Set", parts[0].arguments.count == 1 {
      return collection(of: inner(parts[0].arguments[0]), type)
    }
    if parts.count == 1, parts[0].arguments.isEmpty, let plain = Self.plain[parts[0].name] {
      return .plain(plain)
    }
    if names == ["Color", "Resolved"] { return .color }
    if let last = names.last, Self.codable.contains(last) { return .codableClass(type.description) }
    return .none("the type “\(type.description)” is not in these files")
  }

  private func collection(
    of element: (kind: PropertyKind, isOptional: Bool), _ type: SwiftType
  ) -> PropertyKind {
    switch element.kind {
    case .model(let place): element.isOptional ? .none("an array of optionals") : .models(place)
    case .models: .none("an array of arrays of models")
    case .none(let reason): .none(reason)
    case .codableClass(let name):
      .collection(
        type.desugared.description,
        unproven: "it is assumed that a collection of \(name) is stored like one of structs")
    case .collection(_, let unproven):
      .collection(type.desugared.description, unproven: unproven)
    default: .collection(type.desugared.description)
    }
  }

  /// The type of an enum's raw values; `nil` where it has none.
  func rawType(of place: Int) -> AttributeType? {
    let entry = table.entries[place]
    guard let first = entry.declaration.inherits.first else { return nil }
    if case .plain(let type) = resolve(first, in: entry.path).kind { return type }
    return nil
  }
}
