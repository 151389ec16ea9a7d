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

/// All types of some Swift files, found by the names that source calls them.
struct TypeTable: Sendable {
  /// A type with what its extensions add.
  struct Entry: Sendable {
    /// Its name with those of the types around it.
    var path: [String]
    var declaration: TypeDeclaration
    /// The file's path.
    var file: String

    /// Its whole name.
    var name: String { path.joined(separator: ".") }
    /// Its own name.
    var ownName: String { path.last ?? "" }

    /// A line of its file.
    func place(_ line: Int) -> SourcePlace { SourcePlace(path: file, line: line) }
  }

  /// What a name stands for.
  enum Meaning: Sendable {
    /// One of the entries, by its place.
    case entry(Int)
    /// Another name for a type that the files do not declare.
    case alias(SwiftType)
    case unknown
  }

  private(set) var entries: [Entry] = []
  private(set) var remarks: [SourceRemark] = []
  private var byName: [String: Int] = [:]
  private var aliases: [String: (type: SwiftType, scope: [String])] = [:]

  init(_ files: [SwiftFile]) {
    var extensions: [(scope: [String], declaration: TypeDeclaration, file: String)] = []
    for file in files {
      for alias in file.declarations.aliases { add(alias, []) }
      for type in file.declarations.nested { add(type, [], file.path, &extensions) }
    }
    // An extension may hold others' types, and those their extensions.
    var index = 0
    while index < extensions.count {
      let (scope, declaration, file) = extensions[index]
      let path = extendedPath(declaration.name, scope)
      for alias in declaration.aliases { add(alias, path) }
      for nested in declaration.nested { add(nested, path, file, &extensions) }
      index += 1
    }
    for (scope, declaration, _) in extensions {
      guard case .entry(let place) = meaning(of: declaration.name, in: scope) else { continue }
      entries[place].declaration.inherits += declaration.inherits
      entries[place].declaration.macros += declaration.macros
      entries[place].declaration.properties += declaration.properties.filter {
        $0.isStatic || $0.isComputed
      }
    }
  }

  private mutating func add(_ alias: TypeAlias, _ scope: [String]) {
    let name = Self.key(scope + [alias.name])
    if aliases[name] == nil { aliases[name] = (alias.type, scope) }
  }

  private mutating func add(
    _ type: TypeDeclaration, _ scope: [String], _ file: String,
    _ extensions: inout [(scope: [String], declaration: TypeDeclaration, file: String)]
  ) {
    guard type.kind != .extension else { return extensions.append((scope, type, file)) }
    guard !type.name.isEmpty else { return }
    let path = scope + type.name
    var entry = Entry(path: path, declaration: type, file: file)
    entry.declaration.nested = []
    for alias in type.aliases { add(alias, path) }
    if let former = byName[Self.key(path)] {
      let other = entries[former]
      if type.isModel || other.declaration.isModel {
        remarks.append(
          SourceRemark(
            entry.place(type.line),
            "\(Self.key(path)) is declared twice, also in \(other.place(other.declaration.line));"
              + " \(type.isModel && !other.declaration.isModel ? "this" : "that") one was taken"))
      }
      if type.isModel, !other.declaration.isModel { entries[former] = entry }
    } else {
      byName[Self.key(path)] = entries.count
      entries.append(entry)
    }
    for nested in type.nested { add(nested, path, file, &extensions) }
  }

  private func extendedPath(_ names: [String], _ scope: [String]) -> [String] {
    if case .entry(let place) = meaning(of: names, in: scope) { return entries[place].path }
    return scope + names
  }

  private static func key(_ names: [String]) -> String { names.joined(separator: ".") }

  /// What a name means to code within a type.
  func meaning(of names: [String], in scope: [String]) -> Meaning {
    meaning(of: names, in: scope, steps: 0)
  }

  private func meaning(of names: [String], in scope: [String], steps: Int) -> Meaning {
    guard steps < 16, let first = names.first, names.count <= 64 else { return .unknown }
    for depth in stride(from: scope.count, through: 0, by: -1) {
      let around = Array(scope.prefix(depth))
      if let place = byName[Self.key(around + names)] { return .entry(place) }
      // The longest part of the name that is an alias.
      for length in stride(from: names.count, to: 0, by: -1) {
        guard let alias = aliases[Self.key(around + names.prefix(length))] else { continue }
        let rest = Array(names.dropFirst(length))
        guard let target = alias.type.names, alias.type == .named(target) else {
          return rest.isEmpty ? .alias(alias.type) : .unknown
        }
        let found = meaning(of: target + rest, in: alias.scope, steps: steps + 1)
        if case .unknown = found { return .alias(.named(target + rest)) }
        return found
      }
    }
    // The name of the module may stand before that of a type.
    if names.count > 1, byName[first] == nil, aliases[first] == nil {
      return meaning(of: Array(names.dropFirst()), in: [], steps: steps + 1)
    }
    return .unknown
  }
}
