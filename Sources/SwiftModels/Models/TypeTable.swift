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
