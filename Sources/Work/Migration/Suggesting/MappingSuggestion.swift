import ManagedModel
import Mapping
import ModelWriting

/// A change of a mapping that a person may have meant, with the reasons for it.
package struct MappingSuggestion: Sendable, Equatable {
  /// The change itself, to be taken as it is.
  package var edit: MappingEdits.Edit
  /// What it references, as a list shows it: a property or an entity.
  package var name: String
  /// Why, or what it takes: the types.
  package var note: String
  /// 0…1: how probable it is.
  package var likeness: Double
}

extension MappingSuggestion {
  /// Where values or objects that would be lost could go: what is new, the likeliest first.
  package static func forLoss(
    entity: String, property: String?, in step: MigrationStep
  ) -> [MappingSuggestion] {
    guard let property else { return forEntity(entity, in: step) }
    let (source, destination) = (step.source, step.destination)
    var suggestions: [MappingSuggestion] = []
    let objects = Set(source.subtree(of: entity))
    for mapping in step.mapping.entityMappings {
      guard let from = mapping.source, objects.contains(from), let to = mapping.destination else {
        continue
      }
      let place = (source.declaringEntity(of: property, in: from) ?? from) + "." + property
      if let former = source.storedAttribute(named: property, of: from) {
        for new in mapping.attributes where new.source == nil && new.expression == nil {
          guard let attribute = destination.storedAttribute(named: new.name, of: to),
            !attribute.isDerived
          else { continue }
          suggestions.append(
            suggestion(
              former, place, attribute, of: to, in: destination,
              isIdentifiable: isIdentifiable(former.name, attribute.name, in: mapping)))
        }
        suggestions += composites(for: former.name, place, mapping, to: to, in: destination)
      } else if let former = source.relationship(named: property, of: from) {
        for new in mapping.relationships where new.source == nil {
          guard let relationship = destination.relationship(named: new.name, of: to),
            !former.isToMany || relationship.isToMany
          else { continue }
          let holder = destination.declaringEntity(of: new.name, in: to) ?? to
          suggestions.append(
            MappingSuggestion(
              edit: .rename(from: place, to: "\(holder).\(new.name)"),
              name: "\(holder).\(new.name)", note: "to \(relationship.destination)",
              likeness: NameSimilarity.of(property, new.name)))
        }
      }
    }
    return sorted(suggestions)
  }

  private static func suggestion(
    _ former: Attribute, _ place: String, _ attribute: Attribute, of entity: String,
    in destination: Model, isIdentifiable: Bool
  ) -> MappingSuggestion {
    let holder = destination.declaringEntity(of: attribute.name, in: entity) ?? entity
    let target = "\(holder).\(attribute.name)"
    let names = NameSimilarity.likeness(former.name, attribute.name)
    if TypeChange.refusal(from: former, to: attribute) == nil {
      // A type is shared by many: alone it says nothing about what was meant.
      let isAlike = names >= 0.4
      let same = isAlike ? "the same type" : "same type only"
      return MappingSuggestion(
        edit: isIdentifiable
          ? .rename(from: place, to: target) : .value("\(entity).\(attribute.name)", former.name),
        name: target,
        note: attribute.type == former.type
          ? "\(attribute.type.name), \(same)"
          : "\(former.type.name) becomes \(attribute.type.name)",
        likeness: isAlike ? 0.4 + 0.6 * names : 0.2 + 0.6 * names)
    }
    return MappingSuggestion(
      edit: .value("\(entity).\(attribute.name)", conversion(former, to: attribute.type)),
      name: target, note: "\(former.type.name) is converted to \(attribute.type.name)",
      likeness: 0.4 * names)
  }

  /// An SQL expression that makes values of one type from those of another, as well as it can.
  package static func conversion(_ former: Attribute, to type: AttributeType) -> String {
    let name = former.name
    switch type {
    case .integer16, .integer32, .integer64: return "CAST(\(name) AS INTEGER)"
    case .double, .float, .decimal: return "CAST(\(name) AS REAL)"
    case .boolean where former.type == .string:
      return "lower(trim(\(name))) IN ('1', 'true', 'yes')"
    case .boolean: return "\(name) <> 0"
    case .string: return "CAST(\(name) AS TEXT)"
    case .date where former.type == .string: return "parse_date(\(name), 'yyyy-MM-dd')"
    default: return name
    }
  }

  /// What objects of an entity that goes could become.
  private static func forEntity(_ entity: String, in step: MigrationStep) -> [MappingSuggestion] {
    let guess = RenameGuess(step.mapping, from: step.source, to: step.destination)
    return sorted(
      step.destination.entities.compactMap { candidate in
        guard !candidate.isAbstract else { return nil }
        let isNew = step.mapping.mapping(toDestination: candidate.name)?.source == nil
        let name = NameSimilarity.of(entity, candidate.name)
        let (same, of) = guess.shared(entity, candidate.name)
        let share = of == 0 ? 0 : Double(same) / Double(of)
        return MappingSuggestion(
          edit: isNew
            ? .rename(from: entity, to: candidate.name) : .pair(from: entity, to: candidate.name),
          name: candidate.name,
          note: (isNew ? "new" : "joins those it has") + ", has \(same) of \(of) attributes",
          likeness: (isNew ? 0.1 : 0) + 0.3 * name + 0.6 * share)
      })
  }

  /// Which entity that goes could be the former one of an entity that is new.
  package static func forNewEntity(
    _ entity: String, in step: MigrationStep
  ) -> [MappingSuggestion] {
    let guess = RenameGuess(step.mapping, from: step.source, to: step.destination)
    return sorted(
      step.mapping.entityMappings.compactMap { mapping in
        guard mapping.kind == .remove, let from = mapping.source else { return nil }
        let (same, of) = guess.shared(from, entity)
        return MappingSuggestion(
          edit: .rename(from: from, to: entity), name: from,
          note: "removed, shares \(same) of \(of) attributes",
          likeness: 0.4 * NameSimilarity.of(from, entity)
            + (of == 0 ? 0 : 0.6 * Double(same) / Double(of)))
      })
  }

  private static func sorted(_ suggestions: [MappingSuggestion]) -> [MappingSuggestion] {
    var seen: Set<String> = []
    return suggestions.sorted { ($1.likeness, $0.name) < ($0.likeness, $1.name) }
      .filter { seen.insert($0.name).inserted }
  }
}

extension MappingSuggestion {
  /// What would let a refused change be planned, as one or more edits; empty where nothing simple
  /// would.
  package static func fixes(
    for refusal: CoreDataError, from source: Model, to destination: Model
  ) -> [MappingEdits.Edit] {
    guard let entity = refusal.entity else { return [] }
    let natural = destination.entityAlignment(from: source).sources
    guard let property = refusal.property else {
      // Hierarchies that become one: each of their entities is mapped by itself.
      let pairs: [MappingEdits.Edit] = destination.subtree(of: entity).compactMap { name in
        guard let former = natural[name], source.entity(named: former)?.isAbstract == false,
          destination.entity(named: name)?.isAbstract == false
        else { return nil }
        return .pair(from: former, to: name)
      }
      return pairs.count > 1 ? pairs : []
    }
    let former = natural[entity]
    if let attribute = destination.attribute(at: property, of: entity) {
      let before = former.flatMap {
        counterpart(at: property, of: entity, in: destination, source, $0)
      }
      // A composite attribute and a plain one: the elements are tried of the same type first.
      let new = attribute.storage.columns.map(\.attribute)
      let old = before?.storage.columns.map(\.attribute) ?? []
      let pairs = new.flatMap { new in old.map { (new: new, old: $0) } }
      guard let pair = pairs.first(where: { $0.new.type == $0.old.type }) ?? pairs.first else {
        return [.value("\(entity).\(new.first?.name ?? property)", "NULL")]
      }
      return [.value("\(entity).\(pair.new.name)", conversion(pair.old, to: pair.new.type))]
    }
    return destination.relationship(named: property, of: entity) == nil
      ? [] : [.empty("\(entity).\(property)")]
  }

  /// An expression to begin with for a mandatory attribute that has no value in some rows.
  ///
  /// - Returns: the place with the expression; `nil` for what is no attribute.
  package static func value(
    for property: String, of entity: String, in step: MigrationStep
  ) -> (place: MappingEdits.Place, expression: String)? {
    // Any element gives a composite attribute a value.
    guard
      let attribute = step.destination.attribute(at: property, of: entity)?.storage.columns.first?
        .attribute
    else { return nil }
    let property = attribute.name
    let mappings = step.mapping.entityMappings.filter {
      $0.destination == entity && $0.source != nil
    }
    // Of several the one that has nothing for it, else the first that can have nothing.
    func isBare(_ mapping: EntityMapping) -> Bool {
      mapping.attributes.contains {
        $0.name == property && $0.source == nil && $0.expression == nil && $0.defaultValue == nil
      }
    }
    let taker = mappings.first(where: isBare) ?? mappings.first
    let mapping = taker?.attribute(named: property)
    let holder = step.destination.declaringEntity(of: property, in: entity) ?? entity
    let place = MappingEdits.Place(
      source: mappings.count > 1 ? taker?.source : nil, entity: holder, property: property)
    let literal: String
    switch attribute.type {
    case .string, .uri: literal = "''"
    case .double, .float, .decimal: literal = "0.0"
    case .uuid: literal = "uuid()"
    case .binary, .transformable: literal = "x''"
    default: literal = "0"
    }
    if let expression = mapping?.expression {
      return (place, "coalesce(\(expression.text), \(literal))")
    }
    return (place, mapping?.source.map { "coalesce(\($0), \(literal))" } ?? literal)
  }
}

extension MappingSuggestion {
  /// Whether a renaming identifier can say that one is the other: plain attributes, or elements of
  /// what is the same composite attribute.
  static func isIdentifiable(_ former: String, _ name: String, in mapping: EntityMapping) -> Bool {
    guard let composite = ElementPath.composite(of: former) else { return !name.contains(".") }
    return mapping.attributes.contains {
      $0.source.flatMap(ElementPath.composite) == composite
        && ElementPath.composite(of: $0.name) == ElementPath.composite(of: name)
    }
  }

  /// New composite attributes that could be the former one of an element that goes.
  static func composites(
    for path: String, _ place: String, _ mapping: EntityMapping, to entity: String,
    in destination: Model
  ) -> [MappingSuggestion] {
    guard let composite = ElementPath.composite(of: path),
      let formerPlace = ElementPath.composite(of: place),
      !mapping.attributes.contains(where: { $0.source.flatMap(ElementPath.composite) == composite })
    else { return [] }
    let element = ElementPath.last(of: path)
    let names = Set(mapping.attributes.compactMap { ElementPath.composite(of: $0.name) })
    return names.sorted().compactMap { name in
      let elements = mapping.attributes.filter { ElementPath.composite(of: $0.name) == name }
      guard elements.allSatisfy({ $0.source == nil && $0.expression == nil }),
        elements.contains(where: { ElementPath.last(of: $0.name) == element })
      else { return nil }
      let target = "\(destination.declaringEntity(of: name, in: entity) ?? entity).\(name)"
      return MappingSuggestion(
        edit: .rename(from: formerPlace, to: target), name: target, note: "with all its elements",
        likeness: 0.5 + 0.5 * NameSimilarity.likeness(composite, name))
    }
  }

  /// What an attribute, or an element by its path, was in the version before.
  static func counterpart(
    at path: String, of entity: String, in model: Model, _ source: Model, _ former: String
  ) -> Attribute? {
    guard let attribute = model.attribute(at: path, of: entity) else { return nil }
    func find(among attributes: [Attribute]) -> Attribute? {
      let canonical = attribute.renamingIdentifier ?? ElementPath.last(of: path)
      return attributes.first { $0.canonicalName == canonical || $0.name == canonical }
    }
    guard let composite = ElementPath.composite(of: path) else {
      return find(among: source.attributes(of: former))
    }
    return counterpart(at: composite, of: entity, in: model, source, former).flatMap { holder in
      find(among: holder.elements).map(holder.pathed)
    }
  }
}
