import JSON
import ModelWriting

/// What a person changed of a mapping by hand; it becomes a recipe.
///
/// Places are `Entity` or `Entity.property`, as recipes write them.
package struct MappingEdits: Codable, Sendable, Equatable {
  /// What a text begins with that stands for something to be written.
  package static let mark = "FILL IN"

  /// Renaming identifiers that were forgotten: source place to destination place.
  package var renames: [String: String] = [:]
  /// Source entities whose objects become objects of another entity.
  package var pairs: [String: String] = [:]
  /// Source entities whose objects go on purpose.
  package var deletions: Set<String> = []
  /// Destination attributes with the SQL expression they are computed by; `Source → Entity.attribute`
  /// where objects of several entities become one.
  package var values: [String: String] = [:]
  /// Destination relationships that begin without objects.
  package var emptied: Set<String> = []

  /// No change yet.
  package init() {}

  /// Whether nothing was changed.
  package var isEmpty: Bool { self == MappingEdits() }

  /// One of them.
  package enum Edit: Sendable, Equatable {
    case rename(from: String, to: String)
    case pair(from: String, to: String)
    case delete(String)
    case value(String, String)
    case empty(String)

    /// What it says, in a line.
    package var text: String {
      switch self {
      case .rename(let from, let to): "\(to) was formerly \(from)"
      case .pair(let from, let to): "objects of \(from) become \(to)"
      case .delete(let entity): "objects of \(entity) are deleted on purpose"
      case .value(let place, let expression): "\(place) = \(expression)"
      case .empty(let place): "\(place) begins empty"
      }
    }

    /// The entities that it speaks of, as source and destination name them.
    package var entities: (source: String?, destination: String?) {
      func entity(_ place: String) -> String {
        place.split(separator: ".", maxSplits: 1).first.map(String.init) ?? place
      }
      if case .value(let text, _) = self, let place = Place(text) {
        return (place.source, place.entity)
      }
      switch self {
      case .rename(let from, let to), .pair(let from, let to): return (entity(from), entity(to))
      case .delete(let name): return (name, nil)
      case .value(let place, _), .empty(let place): return (nil, entity(place))
      }
    }
  }

  /// All of them, in a fixed order.
  package var all: [Edit] {
    renames.sorted { $0.key < $1.key }.map { .rename(from: $0.key, to: $0.value) }
      + pairs.sorted { $0.key < $1.key }.map { .pair(from: $0.key, to: $0.value) }
      + deletions.sorted().map { .delete($0) }
      + values.sorted { $0.key < $1.key }.map { .value($0.key, $0.value) }
      + emptied.sorted().map { .empty($0) }
  }

  /// Takes a change in; what it contradicts goes.
  package mutating func add(_ edit: Edit) {
    switch edit {
    case .rename(let from, let to):
      // A place has one former name.
      renames = renames.filter { $0.value != to }
      renames[from] = to
      values[to] = nil
    case .pair(let from, let to):
      deletions.remove(from)
      pairs[from] = to
    case .delete(let entity):
      pairs[entity] = nil
      renames[entity] = nil
      deletions.insert(entity)
    case .value(let place, let expression):
      renames = renames.filter { $0.value != place }
      values[place] = expression
    case .empty(let place): emptied.insert(place)
    }
  }

  /// Takes a change back; one that is not there is no mistake.
  package mutating func remove(_ edit: Edit) {
    switch edit {
    case .rename(let from, _): renames[from] = nil
    case .pair(let from, _): pairs[from] = nil
    case .delete(let entity): deletions.remove(entity)
    case .value(let place, _): values[place] = nil
    case .empty(let place): emptied.remove(place)
    }
  }
}

extension MappingEdits {
  /// What errors call the recipe that they become.
  package static let name = "the changes made here"

  /// The edits as a recipe between two versions.
  ///
  /// - Throws: ``CoreDataError`` for an expression that is none.
  package func recipe(from source: Model, to destination: Model) throws -> Recipe {
    try Recipe(
      RecipeSource(text: text(from: source, to: destination), path: Self.name, isWritten: false))
  }

  /// The recipe's text; versions are named by their digests.
  ///
  /// - Parameters:
  ///   - further: what stands among the entity mappings besides.
  ///   - marked: places with a mark in place of what was made up for them.
  package func text(
    from source: Model, to destination: Model, further: [String] = [], marked: Set<String> = []
  ) -> String {
    var members = [
      "\"from\": \(JSONText.quoted(source.versionHashesDigest))",
      "\"to\": \(JSONText.quoted(destination.versionHashesDigest))",
    ]
    let mappings =
      further
      + deletions.sorted().map { "{ \"source\": \(JSONText.quoted($0)), \"delete\": true }" }
      + written(from: source, to: destination).map {
        entityMapping($0, source, destination, marked)
      }
    if !mappings.isEmpty {
      members.append("\"entityMappings\": " + RecipeWriter.block("[", "]", mappings))
    }
    if !renames.isEmpty {
      let names = renames.sorted { $0.key < $1.key }.map {
        "\(JSONText.quoted($0.key)): \(JSONText.quoted($0.value))"
      }
      members.append("\"rename\": " + RecipeWriter.block("{", "}", names))
    }
    return RecipeWriter.block("{", "}", members) + "\n"
  }

  private struct Pair: Hashable {
    var source: String
    var destination: String
  }

  /// The pairs of entities that the recipe has to speak of itself.
  private func written(from source: Model, to destination: Model) -> [Pair] {
    // What inference would pair, with the entities renamed here.
    var natural = destination.entityAlignment(from: source).sources
    for (from, to) in renames where !from.contains(".") { natural[to] = from }
    var wanted: Set<String> = Set(pairs.values)
    for place in Array(values.keys) + emptied {
      guard let place = Place(place) else { continue }
      let holder = destination.declaringEntity(of: place.property, in: place.entity) ?? place.entity
      wanted.formUnion(destination.subtree(of: holder))
    }
    var written = Set(pairs.map { Pair(source: $0.key, destination: $0.value) })
    for entity in wanted {
      // No object is of exactly an abstract entity; one whose objects go elsewhere has none left.
      guard destination.entity(named: entity)?.isAbstract == false, let former = natural[entity],
        source.entity(named: former)?.isAbstract == false, pairs[former] == nil,
        !deletions.contains(former)
      else { continue }
      written.insert(Pair(source: former, destination: entity))
    }
    return written.sorted { ($0.destination, $0.source) < ($1.destination, $1.source) }
  }

  private func entityMapping(
    _ pair: Pair, _ source: Model, _ destination: Model, _ marked: Set<String>
  ) -> String {
    var members = [
      "\"source\": \(JSONText.quoted(pair.source))",
      "\"destination\": \(JSONText.quoted(pair.destination))",
    ]
    let particular = Set(
      values.keys.filter { Place($0)?.source == pair.source }
        .compactMap { property($0, of: pair, destination) })
    let attributes = values.sorted { $0.key < $1.key }.compactMap { place, expression -> String? in
      guard let property = property(place, of: pair, destination) else { return nil }
      // What is said of this entity's objects goes before what is said of all.
      if particular.contains(property), Place(place)?.source == nil { return nil }
      guard isMeant(expression, for: pair, source) else { return nil }
      let value =
        marked.contains(place)
        ? "\(Self.mark): an expression, such as \(expression)" : expression
      return "\(JSONText.quoted(property)): \(JSONText.quoted(value))"
    }
    if !attributes.isEmpty {
      members.append("\"attributes\": " + RecipeWriter.block("{", "}", attributes))
    }
    let links = emptied.sorted().compactMap { place in
      property(place, of: pair, destination).map { property in
        let value =
          marked.contains(place)
          ? JSONText.quoted(
            "\(Self.mark): a key path, or null without quotes for no objects")
          : "null"
        return "\(JSONText.quoted(property)): \(value)"
      }
    }
    if !links.isEmpty {
      members.append("\"relationships\": " + RecipeWriter.block("{", "}", links))
    }
    return RecipeWriter.block("{", "}", members)
  }

  /// The property that a place names, where a pair of entities has to do with it.
  private func property(_ place: String, of pair: Pair, _ destination: Model) -> String? {
    guard let place = Place(place), place.source == nil || place.source == pair.source,
      destination.isKind(pair.destination, of: place.entity)
        || destination.declaringEntity(of: place.property, in: place.entity).map({
          destination.isKind(pair.destination, of: $0)
        }) == true
    else { return nil }
    return place.property
  }

  /// Whether an expression is meant for the objects of a pair: one over properties that the source
  /// has not is meant for another one.
  private func isMeant(_ expression: String, for pair: Pair, _ source: Model) -> Bool {
    guard pairs[pair.source] != nil else { return true }
    func words(_ attributes: [Attribute], _ relationships: [Relationship]) -> Set<String> {
      Set(attributes.flatMap { $0.storage.columns.flatMap(\.path) + [$0.name] })
        .union(relationships.map(\.name))
    }
    let names = source.entities.reduce(into: Set()) {
      $0.formUnion(words($1.attributes, $1.relationships))
    }
    let own = words(source.attributes(of: pair.source), source.relationships(of: pair.source))
    return Set(expression.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init))
      .intersection(names).isSubset(of: own)
  }

  /// Source entities whose objects an expression for a place is computed over.
  package func sources(
    of place: String, computedBy expression: String, from source: Model, to destination: Model
  ) -> [String] {
    var edits = self
    edits.add(.value(place, expression))
    return edits.written(from: source, to: destination).filter {
      edits.property(place, of: $0, destination) != nil
        && edits.isMeant(expression, for: $0, source)
    }.map(\.source)
  }

  /// What is wrong with an expression for a place, marked in it; `nil` where a recipe takes it.
  package func mistake(
    in expression: String, for place: String, from source: Model, to destination: Model
  ) -> CoreDataError? {
    do {
      for entity in sources(of: place, computedBy: expression, from: source, to: destination) {
        _ = try SQLExpression.tried(expression, entity: entity, model: source)
      }
      return nil
    } catch let error as CoreDataError {
      return error
    } catch {
      return CoreDataError(.usage, "\(error)")
    }
  }

  /// A destination property, as a value's place names it.
  package struct Place: Sendable, Equatable {
    /// The entity whose objects alone are meant.
    package var source: String?
    var entity: String
    var property: String

    fileprivate static let arrow = " → "

    package init(source: String?, entity: String, property: String) {
      (self.source, self.entity, self.property) = (source, entity, property)
    }

    /// As the keys of ``MappingEdits/values`` have it.
    package var text: String { (source.map { $0 + Self.arrow } ?? "") + "\(entity).\(property)" }
  }
}

extension MappingEdits.Place {
  init?(_ text: String) {
    var rest = text[...]
    let arrow = Self.arrow
    // Names are identifiers: no name has a space in it.
    if let space = text.firstIndex(of: " "), text[space...].hasPrefix(arrow) {
      source = String(text[..<space])
      rest = text[space...].dropFirst(arrow.count)
    }
    let parts = rest.split(separator: ".", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { return nil }
    (entity, property) = (parts[0], parts[1])
  }
}
