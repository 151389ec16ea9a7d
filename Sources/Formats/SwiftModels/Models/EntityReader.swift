import ManagedModel

/// What one class with `@Model` says of its entity, before inverses are known.
struct EntityReader {
  /// A relationship with what its declaration says of the inverse.
  struct Link {
    var name: String
    /// The destination's place in the table.
    var destination: Int
    /// The path behind `inverse:`, as names: `["Other", "property"]`.
    var inverse: [String]?
    var line: Int
  }

  let table: TypeTable
  let resolver: TypeResolver
  let entry: TypeTable.Entry
  var entity: Entity
  private(set) var links: [Link] = []
  var remarks: [SourceRemark] = []
  /// Lines of properties by name.
  private(set) var lines: [String: Int] = [:]
  /// Properties whose default only a running program knows.
  private(set) var computedDefaults: [String] = []
  /// The class above, by its place in the table.
  private(set) var parent: Int?

  init(_ place: Int, _ table: TypeTable) {
    self.table = table
    resolver = TypeResolver(table: table)
    entry = table.entries[place]
    entity = Entity(entry.ownName)
    let type = entry.declaration
    for inherited in type.inherits {
      guard let names = inherited.names,
        case .entry(let other) = table.meaning(of: names, in: Array(entry.path.dropLast())),
        other != place, table.entries[other].declaration.isModel
      else { continue }
      parent = other
      entity.parent = table.entries[other].ownName
      break
    }
    if !type.parameters.isEmpty {
      remark(type.line, "\(entry.name) is generic, which no SwiftData class can be")
    }
    for property in type.properties { read(property) }
    for macro in type.macros { read(macro) }
    var seen: [[String]] = []
    for constraint in entity.uniquenessConstraints where !seen.contains(constraint) {
      seen.append(constraint)
    }
    entity.uniquenessConstraints = seen
  }

  mutating func remark(_ line: Int, _ message: String) {
    remarks.append(SourceRemark(entry.place(line), message))
  }

  /// Says that a property is not in the model, and what comes of it.
  private mutating func leaveOut(_ property: PropertyDeclaration, _ reason: String) {
    remark(
      property.line,
      "\(entry.ownName).\(property.name) was left out: \(reason). The version hash of"
        + " \(entry.ownName) is not the app's")
  }

  // MARK: Properties

  private static let quiet: Set<String> = [
    "Attribute", "Relationship", "available", "objc", "MainActor", "ObservationIgnored",
    "usableFromInline", "_spi", "preconcurrency", "inlinable", "IBInspectable", "GKInspectable",
  ]

  private mutating func read(_ property: PropertyDeclaration) {
    guard !property.isStatic, !property.isComputed, property.attribute("Transient") == nil else {
      return
    }
    let name = "\(entry.ownName).\(property.name)"
    guard !property.isTuple, !property.isLazy else {
      return leaveOut(property, property.isLazy ? "it is lazy" : "a tuple declares it")
    }
    guard lines[property.name] == nil else {
      return remark(property.line, "\(name) is declared again; the first one was taken")
    }
    for attribute in property.attributes where !Self.quiet.contains(attribute.name) {
      remark(attribute.line, "\(name): what @\(attribute.name) does to it was not seen")
    }
    if property.conditions > entry.declaration.conditions {
      remark(property.line, "\(name) exists under #if only; it was taken")
    }
    guard let type = property.type ?? resolver.type(of: property.initializer, in: entry.path) else {
      return leaveOut(property, "its type is not written, and its value does not show it")
    }
    let (kind, isOptional) = resolver.resolve(
      type, in: entry.path, parameters: entry.declaration.parameters)
    switch kind {
    case .model(let place): relationship(property, place, isOptional, toMany: false)
    case .models(let place): relationship(property, place, isOptional, toMany: true)
    default: attribute(property, type, kind, isOptional, name)
    }
  }

  private mutating func attribute(
    _ property: PropertyDeclaration, _ type: SwiftType, _ kind: PropertyKind, _ isOptional: Bool,
    _ name: String
  ) {
    let options = property.attribute("Attribute")
    let transformer = options?.transformer
    var attribute = Attribute(property.name, .undefined, optional: isOptional)
    if let transformer {
      attribute.type = .transformable
      attribute.valueTransformerName = transformer
      attribute.className = type.unwrapped.desugared.description
    } else {
      switch kind {
      case .plain(let plain):
        attribute.type = plain
        if !property.initializer.isEmpty, !property.initializer.isNil {
          attribute.defaultValue = TypeResolver.value(of: property.initializer, as: plain)
        }
      case .collection(let className, let unproven):
        if let unproven {
          remark(
            property.line,
            "\(name): \(unproven). The version hash of \(entry.ownName) is unproven")
        }
        attribute.type = .transformable
        attribute.valueTransformerName = "NSSecureUnarchiveFromData"
        attribute.className = className
      case .color:
        attribute.type = .composite
        attribute.elements = ["linearRed", "linearGreen", "linearBlue", "opacity"].map {
          Attribute($0, .float, optional: isOptional)
        }
      case .enumeration(let place):
        attribute.type = .composite
        attribute.elements = cases(of: place, property)
        attribute.userInfo = ["EnumType": table.entries[place].ownName]
      case .structure(let place):
        attribute.type = .composite
        attribute.elements = elements(of: place, isOptional, property)
      case .none(let reason):
        return leaveOut(property, reason)
      case .codableClass(let type):
        return leaveOut(property, "how SwiftData stores a “\(type)” by itself is not known")
      case .model, .models: return
      }
    }
    if attribute.type == .composite, attribute.elements.isEmpty {
      return leaveOut(property, "its type has no stored property")
    }
    if let options { read(options, into: &attribute, name) }
    if !property.initializer.isEmpty, !property.initializer.isNil, attribute.defaultValue == nil {
      computedDefaults.append(property.name)
      attribute.evaluatedDefault = EvaluatedDefault(property.initializer, as: attribute.type)
    }
    lines[property.name] = property.line
    entity.attributes.append(attribute)
  }

  private mutating func read(
    _ options: SwiftAttribute, into attribute: inout Attribute, _ name: String
  ) {
    for option in options.options {
      switch option {
      case "unique": entity.uniquenessConstraints.append([attribute.name])
      case "externalStorage": attribute.allowsExternalBinaryDataStorage = true
      case "preserveValueOnDeletion", "preserveValueInHistoryOnDeletion":
        attribute.preservesValueInHistoryOnDeletion = true
      case "spotlight": attribute.isIndexedBySpotlight = true
      case "allowsCloudEncryption": attribute.allowsCloudEncryption = true
      case "ephemeral": attribute.isTransient = true
      case "transformable", "self": break
      default:
        remark(options.line, "\(name): the option .\(option) is not known and was ignored")
      }
    }
    attribute.renamingIdentifier = text("originalName", of: options, name)
    attribute.versionHashModifier = text("hashModifier", of: options, name)
  }

  private mutating func relationship(
    _ property: PropertyDeclaration, _ place: Int, _ isOptional: Bool, toMany: Bool
  ) {
    let name = "\(entry.ownName).\(property.name)"
    var relationship = Relationship(
      property.name, to: table.entries[place].ownName, toMany: toMany, optional: isOptional)
    var inverse: [String]?
    if let options = property.attribute("Relationship") {
      if options.options.contains("unique") {
        entity.uniquenessConstraints.append([property.name])
      }
      for option in options.options where option != "unique" && option != "ephemeral" {
        remark(options.line, "\(name): the option .\(option) is not known and was ignored")
      }
      relationship.isTransient = options.options.contains("ephemeral")
      if let rule = options.argument("deleteRule")?.last?.text {
        switch rule {
        case "cascade": relationship.deleteRule = .cascade
        case "deny": relationship.deleteRule = .deny
        case "noAction": relationship.deleteRule = .noAction
        case "nullify": relationship.deleteRule = .nullify
        default: remark(options.line, "\(name): the delete rule .\(rule) is not known")
        }
      }
      if let least = count("minimumModelCount", of: options, name) { relationship.minCount = least }
      if toMany, let most = count("maximumModelCount", of: options, name) {
        relationship.maxCount = most
      }
      relationship.renamingIdentifier = text("originalName", of: options, name)
      relationship.versionHashModifier = text("hashModifier", of: options, name)
      if let path = options.argument("inverse"), !path.isNil {
        inverse = path.filter(\.isName).map(\.text)
        if path.first?.isMark("\\") != true || inverse?.isEmpty != false {
          remark(options.line, "\(name): its inverse is not a key path and was ignored")
          inverse = nil
        }
      }
    }
    lines[property.name] = property.line
    links.append(
      Link(name: property.name, destination: place, inverse: inverse, line: property.line))
    entity.relationships.append(relationship)
  }

  /// The text of an argument; one that is no literal is named.
  private mutating func text(
    _ label: String, of options: SwiftAttribute, _ name: String
  ) -> String? {
    guard let tokens = options.argument(label), !tokens.isNil else { return nil }
    if tokens.count == 1, let only = tokens.first, only.kind == .string {
      return only.text.isEmpty ? nil : only.text
    }
    remark(options.line, "\(name): its \(label) is not a literal and was ignored")
    return nil
  }

  private mutating func count(
    _ label: String, of options: SwiftAttribute, _ name: String
  ) -> UInt32? {
    guard let tokens = options.argument(label), !tokens.isNil else { return nil }
    if tokens.count == 1, let number = UInt32((tokens.first?.text ?? "").filter { $0 != "_" }) {
      return number
    }
    remark(options.line, "\(name): its \(label) is not a number and was ignored")
    return nil
  }
}

extension EntityReader {
  /// What an enum is kept as: its raw value, or an element for each case.
  mutating func cases(of place: Int, _ property: PropertyDeclaration) -> [Attribute] {
    if let raw = resolver.rawType(of: place) {
      return [Attribute(property.name, raw, optional: true)]
    }
    let type = table.entries[place]
    if type.declaration.cases.contains(where: \.hasPayload) {
      remark(
        property.line,
        "\(entry.ownName).\(property.name): how SwiftData stores the payloads of \(type.name) is assumed"
      )
    }
    var seen: Set<String> = []
    return type.declaration.cases.filter { seen.insert($0.name).inserted }.map {
      Attribute($0.name, .string, optional: true)
    }
  }

  /// What a struct is kept as: an element for each stored property.
  mutating func elements(
    of place: Int, _ isOptional: Bool, _ property: PropertyDeclaration
  ) -> [Attribute] {
    let type = table.entries[place]
    let name = "\(entry.ownName).\(property.name)"
    var elements: [Attribute] = []
    var seen: Set<String> = []
    for inner in type.declaration.properties
    where !inner.isStatic && !inner.isComputed && !inner.isLazy && seen.insert(inner.name).inserted
    {
      guard !inner.isTuple,
        let spelled = inner.type ?? resolver.type(of: inner.initializer, in: type.path)
      else {
        remark(
          property.line,
          "\(name): the element \(inner.name) was left out: its type is not written, and its value"
            + " does not show it. The version hash of \(entry.ownName) is not the app's")
        continue
      }
      let (kind, isInnerOptional) = resolver.resolve(
        spelled, in: type.path, parameters: type.declaration.parameters)
      var element = Attribute(inner.name, .binary, optional: isOptional || isInnerOptional)
      switch kind {
      case .plain(let plain): element.type = plain
      case .none(let reason):
        remark(property.line, "\(name): \(type.name).\(inner.name) was taken as Binary: \(reason)")
      case .structure, .enumeration, .color, .codableClass:
        remark(
          property.line,
          "\(name): that \(type.name).\(inner.name) is kept as Binary is assumed")
      default: break
      }
      elements.append(element)
    }
    return elements
  }
}

extension EntityReader {
  /// Takes `#Unique` and `#Index`.
  mutating func read(_ macro: MacroUse) {
    guard macro.name == "Unique" || macro.name == "Index" else { return }
    for argument in macro.arguments where argument.label == nil {
      let lists = argument.tokens.keyPaths
      guard !lists.isEmpty else {
        remark(
          macro.line,
          "\(entry.ownName): #\(macro.name) has something other than a list of key paths")
        continue
      }
      if macro.name == "Unique" {
        entity.uniquenessConstraints.append(lists)
      } else {
        let isTree = argument.tokens.contains { $0.isWord("rtree") }
        let name = "SwiftDataIndexOn\(isTree ? "RTree" : "Binary")" + lists.joined()
        guard !entity.fetchIndexes.contains(where: { $0.name == name }) else { continue }
        entity.fetchIndexes.append(
          FetchIndex(
            name,
            elements: lists.map { .init(property: $0, kind: isTree ? .rtree : .binary) }))
      }
    }
  }
}
