import JSON
import ManagedModel

extension Recipe {
  /// A mapping model as a recipe: what inference does by itself stands in comments, everything else
  /// is written out.
  ///
  /// Reading it with the same models gives the same mapping, but for its kind and the place of
  /// removals, which come last; where something has no words in a recipe, the first line says so.
  ///
  /// - Parameters:
  ///   - from: what the recipe calls the source version; its digest where empty.
  ///   - to: what the recipe calls the destination version.
  public static func text(
    of mapping: MappingModel, from: String, to: String, source: Model, destination: Model
  ) -> String {
    var writer = RecipeWriter(
      mapping: mapping, from: from.isEmpty ? source.versionHashesDigest : from,
      to: to.isEmpty ? destination.versionHashesDigest : to, source: source,
      destination: destination)
    let text = writer.text()
    if writer.isRead(text) { return text }
    writer.isFull = true
    let full = writer.text()
    return writer.isRead(full)
      ? full : "// Not everything in this mapping can be expressed in a recipe.\n" + full
  }
}

/// Writes a mapping model as a recipe.
package struct RecipeWriter {
  let mapping: MappingModel
  let from: String
  let to: String
  let source: Model
  let destination: Model
  /// With the renaming identifiers that ``renames`` adds.
  let renamed: Model
  /// Renaming identifiers that the destination model lacks: source name, destination name.
  private let renames: [(from: String, to: String)]
  /// Whether everything is written, also what inference would do.
  var isFull = false

  init(mapping: MappingModel, from: String, to: String, source: Model, destination: Model) {
    self.mapping = mapping
    self.from = from
    self.to = to
    self.source = source
    self.destination = destination
    renames = Self.renames(mapping, source, destination)
    let words = renames.map { names in
      (
        from: RecipeWord(text: names.from, range: 0..<0),
        to: RecipeWord(text: names.to, range: 0..<0)
      )
    }
    let renaming = RecipeRenaming(
      text: RecipeSource(text: "", path: ""), source: source, destination: destination)
    renamed = (try? renaming.applying(words)) ?? destination
  }

  /// What the mapping takes from under another name, and no identifier shows.
  private static func renames(
    _ mapping: MappingModel, _ source: Model, _ destination: Model
  ) -> [(from: String, to: String)] {
    var result: [String: String] = [:]
    for entityMapping in mapping.entityMappings where !isOwn(entityMapping) {
      guard let from = entityMapping.source, let to = entityMapping.destination,
        let old = source.entity(named: from), let new = destination.entity(named: to)
      else { continue }
      if from != to, ![old.canonicalName, from].contains(new.canonicalName) { result[from] = to }
      let properties =
        entityMapping.attributes.map { ($0.source, $0.name) }
        + entityMapping.relationships.map { ($0.source, $0.name) }
      for case (let former?, let name) in properties where former != name {
        guard let holder = destination.declaringEntity(of: name, in: to),
          let formerHolder = source.declaringEntity(of: former, in: from)
        else { continue }
        for (former, name) in renamed(former, name, from: (source, from), to: (destination, to)) {
          result["\(formerHolder).\(former)"] = "\(holder).\(name)"
        }
      }
    }
    return result.sorted { $0.key < $1.key }.map { (from: $0.key, to: $0.value) }
  }

  /// The names on two paths that need an identifier: of an element its composites' too, where those
  /// were renamed. None of an element that becomes a plain attribute, or the other way round.
  private static func renamed(
    _ former: String, _ name: String, from: (model: Model, entity: String),
    to: (model: Model, entity: String)
  ) -> [(former: String, name: String)] {
    func paths(_ path: String) -> [String] {
      sequence(first: path, next: ElementPath.composite).reversed()
    }
    let pairs = zip(paths(former), paths(name))
    guard paths(former).count == paths(name).count else { return [] }
    return pairs.filter { former, name in
      let known = [
        from.model.canonicalName(of: former, in: from.entity), ElementPath.last(of: former),
      ]
      guard let canonical = to.model.canonicalName(of: name, in: to.entity) else { return false }
      return !known.contains(canonical)
    }.map { (former: $0, name: $1) }
  }

  /// Whether the text says all of the mapping.
  func isRead(_ text: String) -> Bool {
    guard
      let read = try? Recipe(text: text, path: "").mapping(
        from: source, to: destination, names: (from, to))
    else { return false }
    let wanted =
      mapping.entityMappings.filter { $0.kind != .remove }
      + mapping.entityMappings.filter { $0.kind == .remove }
    return read.userInfo == mapping.userInfo && read.entityMappings == wanted
  }

  func text() -> String {
    let written = self.written
    let inference = Inference(
      source: source, destination: renamed,
      given: Self.given(written.map { mapping.entityMappings[$0] }))
    var members = ["\"from\": \(JSONText.quoted(from))", "\"to\": \(JSONText.quoted(to))"]
    if !written.isEmpty {
      let mappings = written.map { entityMapping(mapping.entityMappings[$0], inference) }
      members.append("\"entityMappings\": " + Self.block("[", "]", mappings))
    }
    if !isFull, !renames.isEmpty {
      let names = renames.map { "\(JSONText.quoted($0.from)): \(JSONText.quoted($0.to))" }
      members.append("\"rename\": " + Self.block("{", "}", names))
    }
    if !mapping.userInfo.isEmpty { members.append("\"userInfo\": " + json(mapping.userInfo)) }
    return (comments(besides: written) + [Self.block("{", "}", members)]).joined(separator: "\n")
      + "\n"
  }

  private static func given(_ mappings: [EntityMapping]) -> [Inference.Given] {
    mappings.map { Inference.Given(source: $0.source, destination: $0.destination) }
  }

  /// The mappings that inference would not make so by itself, by their place.
  private var written: [Int] {
    let all = Array(mapping.entityMappings.indices)
    guard !isFull else { return all }
    var written = Set(all.filter { Self.isOwn(mapping.entityMappings[$0]) })
    // What is written changes what is inferred of the rest.
    while true {
      let given = Self.given(written.sorted().map { mapping.entityMappings[$0] })
      guard
        let inferred = try? Inference(source: source, destination: renamed, given: given).mapping()
      else { return all }
      let others = all.filter { index in
        !written.contains(index) && !inferred.entityMappings.contains(mapping.entityMappings[index])
      }
      if others.isEmpty { return written.sorted() }
      written.formUnion(others)
    }
  }

  private static func isOwn(_ mapping: EntityMapping) -> Bool {
    mapping.condition != nil || mapping.distinct != nil || !mapping.children.isEmpty
      || mapping.policy != nil || !mapping.userInfo.isEmpty || mapping.isDeletionIntended
      || mapping.attributes.contains { $0.expression != nil }
  }

  private func entityMapping(_ mapping: EntityMapping, _ inference: Inference) -> String {
    var members: [String] = []
    func add(_ key: String, _ value: String) { members.append("\"\(key)\": \(value)") }
    if mapping.name != defaultName(of: mapping) { add("name", JSONText.quoted(mapping.name)) }
    if let from = mapping.source { add("source", JSONText.quoted(from)) }
    if let to = mapping.destination { add("destination", JSONText.quoted(to)) }
    let deletes = mapping.isDeletionIntended
    if mapping.destination == nil { add("delete", deletes ? "true" : "false") }
    let properties = self.properties(mapping, inference)
    let isCustom = mapping.distinct != nil || !mapping.children.isEmpty
    let isCopy = inference.isCopy(mapping.destination ?? "", from: mapping.source ?? "")
    let kind: EntityMapping.Kind =
      mapping.destination == nil
      ? .remove
      : mapping.source == nil
        ? .add
        : RecipeMapping.kind(
          isCopy: isCopy, isChanged: !properties.isEmpty || mapping.condition != nil,
          isCustom: isCustom)
    if mapping.kind != kind { add("kind", JSONText.quoted(mapping.kind.name)) }
    if let policy = mapping.policy { add("policy", JSONText.quoted(policy)) }
    if let condition = mapping.condition {
      add("where", value(condition))
      if !deletes { add("delete", "false") }
    }
    if let distinct = mapping.distinct { add("distinct", value(distinct)) }
    members += properties
    if !mapping.children.isEmpty {
      add("create", children(mapping.children, from: mapping.source ?? ""))
    }
    if !mapping.userInfo.isEmpty { add("userInfo", json(mapping.userInfo)) }
    return Self.block("{", "}", members)
  }

  private func defaultName(of mapping: EntityMapping) -> String {
    switch (mapping.source, mapping.destination) {
    case (let from?, let to?): "\(from)To\(to)"
    case (let from?, nil): "IEM_Remove_\(from)"
    case (nil, let to): "IEM_Add_\(to ?? "")"
    }
  }

  private func json(_ values: [String: PropertyListValue]) -> String {
    Self.block(
      "{", "}",
      values.sorted { $0.key < $1.key }.map { key, value in
        var json = JSONWriter()
        value.write(to: &json)
        return "\(JSONText.quoted(key)): \(String(decoding: json.bytes, as: UTF8.self))"
      })
  }

  /// On one line where that is short, else a member a line.
  package static func block(_ open: String, _ close: String, _ members: [String]) -> String {
    let line = "\(open) " + members.joined(separator: ", ") + " \(close)"
    if line.utf8.count <= 80, !line.contains("\n") { return line }
    let body = members.map { member in "  " + member.replacing("\n", with: "\n  ") + "," }
    return ([open] + body + [close]).joined(separator: "\n")
  }
}

extension PropertyListValue {
  fileprivate func write(to json: inout JSONWriter) {
    switch self {
    case .null, .uid: json.null()
    case .boolean(let value): json.bool(value)
    case .integer(let value): json.number(value)
    case .real(let value), .date(let value):
      value.isFinite ? json.raw("\(value)") : json.string("\(value)")
    case .data(let bytes): json.string(ByteText.base64(bytes))
    case .string(let text): json.string(text)
    case .array(let elements):
      json.array { json in for element in elements { element.write(to: &json) } }
    case .dictionary(let members):
      json.object { json in
        for member in members.sortedByBytes(\.key) {
          json.key(member.key)
          member.value.write(to: &json)
        }
      }
    }
  }
}

extension Model {
  /// The canonical name of an attribute, an element or a relationship, own or inherited.
  fileprivate func canonicalName(of property: String, in entity: String) -> String? {
    attribute(at: property, of: entity).map {
      // An element is named by its path, and identified by its name within the composite.
      $0.renamingIdentifier ?? ElementPath.last(of: $0.name)
    } ?? relationship(named: property, of: entity)?.canonicalName
  }
}

extension RecipeWriter {
  /// What the recipe is, and what it leaves to inference.
  func comments(besides written: [Int]) -> [String] {
    var lines = ["// How objects of \(Self.plain(from)) become objects of \(Self.plain(to))."]
    let left = mapping.entityMappings.indices.filter { !written.contains($0) }
    guard !left.isEmpty else { return lines }
    lines.append("// The rest is inferred, and need not be written.")
    for index in left {
      let entityMapping = mapping.entityMappings[index]
      let name = Self.plain(entityMapping.destination ?? entityMapping.source ?? "")
      lines.append("//   \(name): " + Self.plain(summary(entityMapping)))
    }
    return lines
  }

  private func summary(_ mapping: EntityMapping) -> String {
    guard let from = mapping.source else { return "new, without objects" }
    guard let to = mapping.destination else {
      return "removed; { \"source\": \"\(from)\", \"delete\": true } says that this is intended"
    }
    var parts = from == to ? [] : ["from \(from)"]
    parts += mapping.attributes.filter(\.isRenamed).map { "\($0.name) from \($0.source ?? "")" }
    parts += mapping.relationships.filter(\.isRenamed).map { "\($0.name) from \($0.source ?? "")" }
    let new =
      mapping.attributes.filter { $0.source == nil }.map(\.name)
      + mapping.relationships.filter { $0.source == nil }.map(\.name)
    if !new.isEmpty { parts.append("new: " + new.joined(separator: ", ")) }
    return parts.isEmpty ? "copied" : parts.joined(separator: "; ")
  }

  /// Nothing in a name may end the comment's line.
  package static func plain(_ text: String) -> String {
    let quoted = JSONText.quoted(text)
    let plain = quoted.dropFirst().dropLast().replacing("\\\"", with: "\"")
    return plain.contains("\\") ? quoted : String(plain)
  }
}
