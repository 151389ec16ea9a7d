import ManagedModel

/// Finds the versions and the plan among the types of a table.
struct SchemaReader {
  /// A VersionedSchema.
  struct Schema {
    var name: String
    var path: [String]
    var identifier: String
    var place: SourcePlace
    /// Places of the classes that it lists.
    var listed: [Int]
    var remarks: [SourceRemark]
  }

  let table: TypeTable
  private(set) var remarks: [SourceRemark] = []

  init(table: TypeTable) { self.table = table }

  mutating func remark(_ place: SourcePlace, _ message: String) {
    remarks.append(SourceRemark(place, message))
  }

  private func isSchema(_ entry: TypeTable.Entry) -> Bool {
    entry.declaration.inherits("VersionedSchema")
  }

  /// Every VersionedSchema, the oldest first.
  mutating func schemas() -> [Schema] {
    let entries = table.entries.filter(isSchema)
    let names = entries.map(\.ownName)
    var found: [Schema] = []
    for entry in entries {
      var schema = Schema(
        name: names.count { $0 == entry.ownName } > 1 ? entry.name : entry.ownName,
        path: entry.path, identifier: "1.0.0", place: entry.place(entry.declaration.line),
        listed: [], remarks: [])
      if let property = entry.staticProperty("versionIdentifier") {
        let numbers = property.content.filter { $0.kind == .number }.map(\.text)
        if (1...3).contains(numbers.count) {
          schema.identifier =
            (numbers + ["0", "0"]).prefix(3).joined(separator: ".")
        } else {
          schema.remarks.append(
            SourceRemark(
              entry.place(property.line), "the identifier of \(schema.name) is not written out"))
        }
      }
      var visited: Set<String> = []
      list(entry, &schema, &visited)
      found.append(schema)
    }
    return found.sorted { one, other in
      one.identifier == other.identifier
        ? ModelBundle.naturallyPrecedes(one.name, other.name)
        : ModelBundle.naturallyPrecedes(one.identifier, other.identifier)
    }
  }

  /// Adds what `models` lists, with the lists of others that it names.
  private func list(
    _ entry: TypeTable.Entry, _ schema: inout Schema, _ visited: inout Set<String>
  ) {
    guard visited.insert(entry.name).inserted, visited.count < 1000 else { return }
    guard let property = entry.staticProperty("models") else {
      schema.remarks.append(
        SourceRemark(schema.place, "\(entry.name) has no list of its models that can be read"))
      return
    }
    let tokens = property.content
    for names in tokens.memberPaths("models") {
      if case .entry(let place) = table.meaning(of: names, in: entry.path) {
        list(table.entries[place], &schema, &visited)
      }
    }
    for names in tokens.metatypes {
      let whole = names.joined(separator: ".")
      guard case .entry(let place) = table.meaning(of: names, in: entry.path) else {
        schema.remarks.append(
          SourceRemark(
            entry.place(property.line),
            "\(schema.name) lists \(whole), which is not in these files"))
        continue
      }
      guard table.entries[place].declaration.isModel else {
        schema.remarks.append(
          SourceRemark(
            entry.place(property.line), "\(schema.name) lists \(whole), which has no @Model"))
        continue
      }
      if !schema.listed.contains(place) { schema.listed.append(place) }
    }
    if schema.listed.isEmpty {
      schema.remarks.append(
        SourceRemark(entry.place(property.line), "\(schema.name) lists no class"))
    }
  }

  /// The name of the version that source calls so.
  func name(of names: [String], _ schemas: [Schema], in scope: [String] = []) -> String? {
    guard case .entry(let place) = table.meaning(of: names, in: scope) else { return nil }
    return schemas.first { $0.path == table.entries[place].path }?.name
  }

  /// The plan that a container names; else, of several, the one with the most versions.
  mutating func plan(_ schemas: [Schema], named names: [[String]]) -> SourcePlan? {
    var plans: [SourcePlan] = []
    for entry in table.entries where entry.declaration.inherits("SchemaMigrationPlan") {
      var plan = SourcePlan(
        name: entry.name, place: entry.place(entry.declaration.line), versions: [], stages: [],
        isStaged: true)
      if let property = entry.staticProperty("schemas") {
        for names in property.content.metatypes {
          guard let version = name(of: names, schemas, in: entry.path) else {
            remarks.append(
              SourceRemark(
                entry.place(property.line),
                "\(plan.name) names \(names.joined(separator: ".")), which is not a VersionedSchema of"
                  + " these files"))
            continue
          }
          plan.versions.append(version)
        }
      }
      if let property = entry.staticProperty("stages") {
        plan.isStaged = !property.content.isEmptyList
        plan.stages = stages(property, entry, schemas)
      }
      plans.append(plan)
    }
    let named = names.compactMap { names -> String? in
      guard case .entry(let place) = table.meaning(of: names, in: []) else { return nil }
      return table.entries[place].name
    }
    return plans.first { named.contains($0.name) }
      ?? plans.max { $0.versions.count < $1.versions.count }
  }

  private mutating func stages(
    _ list: PropertyDeclaration, _ entry: TypeTable.Entry, _ schemas: [Schema]
  ) -> [SourcePlan.Stage] {
    var tokens = list.content
    if tokens.first?.isWord("return") == true { tokens.removeFirst() }
    guard tokens.first?.isMark("[") == true else { return [] }
    var reader = DeclarationReader(tokens)
    var stages: [SourcePlan.Stage] = []
    for element in reader.arguments().prefix(10_000) {
      var (content, line) = (element.tokens, list.line)
      // A stage mostly has a name of its own, and is a static property.
      if let last = content.last, last.isName, content.count <= 3,
        let named = entry.staticProperty(last.text)
      {
        (content, line) = (named.content, named.line)
      }
      guard
        let kind = content.firstIndex(where: { $0.isWord("lightweight") || $0.isWord("custom") }),
        let open = content.firstIndex(where: { $0.isMark("(") }), open > kind
      else {
        remarks.append(
          SourceRemark(entry.place(line), "a stage of \(entry.name) could not be read"))
        continue
      }
      var call = DeclarationReader(Array(content[open...]))
      let arguments = call.arguments()
      func version(_ label: String) -> String? {
        arguments.first { $0.label == label }?.tokens.metatypes.first
          .flatMap { name(of: $0, schemas, in: entry.path) }
      }
      guard let from = version("fromVersion"), let to = version("toVersion") else {
        remarks.append(
          SourceRemark(
            entry.place(line), "the versions of a stage of \(entry.name) could not be read"))
        continue
      }
      let isCustom = content[kind].text == "custom"
      let before = arguments.first { $0.label == "willMigrate" }
      stages.append(
        .init(
          // A closure behind the parentheses may be either handler.
          isCustom: isCustom, runsBefore: isCustom && before?.tokens.isNil != true,
          assigned: isCustom ? content.assignedMembers : [], from: from, to: to,
          place: entry.place(line)))
    }
    return stages
  }
}

extension TypeTable.Entry {
  /// The static property of that name.
  fileprivate func staticProperty(_ name: String) -> PropertyDeclaration? {
    declaration.properties.first { $0.isStatic && $0.name == name }
  }
}

extension PropertyDeclaration {
  /// What it is made of, behind `=` or between its braces.
  fileprivate var content: [SwiftToken] {
    if !initializer.isEmpty { return initializer }
    guard let first = body.first, first.isWord("get"), body.count > 1, body[1].isMark("{") else {
      return body
    }
    return Array(body.dropFirst(2).dropLast())
  }
}

extension [SwiftToken] {
  /// Whether it is `[]`, be it returned or not.
  fileprivate var isEmptyList: Bool {
    let list = first?.isWord("return") == true ? self[1...] : self[...]
    return list.count == 2 && list.first?.isMark("[") == true && list.last?.isMark("]") == true
  }

  /// Names behind a dot that a value is assigned to.
  fileprivate var assignedMembers: Set<String> {
    var names: Set<String> = []
    for place in indices.dropFirst() where self[place].isName && self[place - 1].isMark(".") {
      guard place + 1 < count, self[place + 1].isMark("=") else { continue }
      // Two of these compare.
      if place + 2 < count, self[place + 2].isMark("="), !self[place + 2].isAfterSpace { continue }
      names.insert(self[place].text)
    }
    return names
  }
}

/// A container of the program that keeps its store, and the version that its schema is.
public struct SourceContainer: Sendable, Equatable {
  /// Name of the version.
  public var version: String
  /// Where the program makes the container.
  public var place: SourcePlace
}

extension SchemaReader {
  /// What one container, or a schema for one, lists.
  struct Listing {
    /// Places of the classes; empty where it names a version.
    var listed: [Int]
    /// Name of the VersionedSchema.
    var version: String?
    var place: SourcePlace
  }

  /// What the containers list whose stores are kept; without a container in these files, what the
  /// schemas list that they write down.
  mutating func listings(_ files: [SwiftFile], _ schemas: [Schema]) -> [Listing] {
    let kept = files.flatMap { file in
      file.containers.containers.filter { !$0.isInMemory }.map { (use: $0, file: file) }
    }
    let found = kept.compactMap {
      listing(of: $0.use.content, $0.use.line, $0.file, files, schemas)
    }
    let hasContainer = files.contains { !$0.containers.containers.isEmpty }
    guard found.isEmpty, !hasContainer || !kept.isEmpty else { return found }
    return files.flatMap { file in
      file.containers.schemas.compactMap { listing(of: $0.content, $0.line, file, files, schemas) }
    }
  }

  private mutating func listing(
    of content: ContainerContent, _ line: Int, _ file: SwiftFile, _ files: [SwiftFile],
    _ schemas: [Schema]
  ) -> Listing? {
    let place = SourcePlace(path: file.path, line: line)
    switch content {
    case .version(let names):
      return name(of: names, schemas).map { Listing(listed: [], version: $0, place: place) }
    case .variable(let variable):
      // The same file's declaration goes before that of any other.
      let holders = [file] + files.filter { $0.path != file.path }
      for holder in holders {
        let uses = holder.containers.schemas.filter { $0.variable == variable }
        if let use = uses.last(where: { holder.path != file.path || $0.line <= line }) ?? uses.first
        {
          return listing(of: use.content, line, file, [], schemas)
        }
      }
      return nil
    case .types(let types):
      var listed: [Int] = []
      for names in types {
        guard case .entry(let found) = table.meaning(of: names, in: []),
          table.entries[found].declaration.isModel
        else {
          remark(
            place,
            "the container lists \(names.joined(separator: ".")), which is not a @Model class in these"
              + " files")
          continue
        }
        if !listed.contains(found) { listed.append(found) }
      }
      return listed.isEmpty ? nil : Listing(listed: listed, version: nil, place: place)
    }
  }

  /// Every class with `@Model`.
  var classes: [Int] { table.entries.indices.filter { table.entries[$0].declaration.isModel } }
}
