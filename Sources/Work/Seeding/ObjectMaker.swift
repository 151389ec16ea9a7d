import ExampleValues
import ManagedModel
import ManagedStore

/// Makes the rows of one entity.
struct ObjectMaker: Sendable {
  /// The elements of a composite attribute: places among the makers.
  private struct Composite: Sendable {
    let range: Range<Int>
    let isOptional: Bool
    /// Of a hundred objects, those without a value of it.
    let emptyPercent: Int
    /// An enum without a raw value: one element of several has a value.
    let isOneOf: Bool
  }

  /// A column that names another object.
  private enum LinkMaker: Sendable {
    case child(ChildLinks, EntityLookup)
    case partner(PartnerLinks, EntityLookup, isFirst: Bool)
  }

  let part: KeyPlan.Part
  private(set) var makers: [ValueMaker]
  private let composites: [Composite]
  /// Where the numbers begin by which objects differ, for each maker that must.
  private let uniqueStarts: [Int64]
  private var links: [LinkMaker] = []
  private var crossings: [CrossLinks] = []
  private(set) var linkNames: [RowForm.Link] = []
  private(set) var toManyNames: [String] = []
  private let seed: UInt64
  private let edgeRows: Int

  /// What the columns of the row are called.
  var attributeNames: [String] { makers.map(\.attribute.name) }

  init(_ part: KeyPlan.Part, _ scene: SeedScene) {
    self.part = part
    let entity = part.entity
    let table = scene.schema.entityTable(of: entity)
    let model = scene.schema.model
    var makers: [ValueMaker] = []
    var composites: [Composite] = []
    var starts: [Int64] = []
    let lineage = Set(model.lineage(of: entity).map(\.name))
    let unique = scene.unique.filter { lineage.contains($0.entity) }
    for attribute in model.attributes(of: entity).sortedByBytes(\.name) {
      let columns = (table?.attributes ?? []).filter { $0.path.first == attribute.name }
      guard !columns.isEmpty else { continue }
      let start = makers.count
      // In the order in which the composite lists them.
      let order = attribute.storage.columns.map(\.attribute.name)
      for name in order {
        guard let column = columns.first(where: { $0.attribute.name == name }) else { continue }
        var maker = ValueMaker(column.attribute, of: entity, samples: scene.samples)
        maker.isElementOptional = attribute.isElementOptional(column.path)
        if !maker.isElementOptional { maker.emptyPercent = 0 }
        if maker.misses(seed: scene.options.seed) != nil { maker.tries = 1 }
        scene.likeness?.apply(to: &maker, of: entity)
        let constraint = unique.first { $0.attribute == column.attribute.name }
        maker.isUnique = constraint != nil
        maker.isHuge = scene.huge.contains(entity + "." + column.attribute.name)
        starts.append(
          constraint.flatMap { scene.plan.span(of: model.subtree(of: $0.entity))?.first } ?? 1)
        makers.append(maker)
      }
      if attribute.type == .composite {
        composites.append(
          Composite(
            range: start..<makers.count, isOptional: attribute.isOptional,
            emptyPercent: Self.share(makers[start...], scene.likeness),
            isOneOf: attribute.userInfo["EnumType"] != nil && attribute.elements.count > 1))
        for index in start..<makers.count { Self.settle(&makers[index], attribute) }
      }
    }
    self.makers = makers
    self.composites = composites
    uniqueStarts = starts
    seed = SeededGenerator.seed(scene.options.seed, "object", entity)
    edgeRows = scene.options.hasEdgeCases ? EdgeCase.allCases.count : 0
    addLinks(scene)
  }

  /// How often an optional composite has no value: of another store, as often as its elements have none
  /// together, at most.
  private static func share(
    _ elements: ArraySlice<ValueMaker>, _ likeness: StoreLikeness?
  ) -> Int {
    likeness == nil ? 15 : elements.map(\.emptyPercent).min() ?? 0
  }

  /// An element's own text is the case's name; the raw value of an enum is its default.
  private static func settle(_ maker: inout ValueMaker, _ composite: Attribute) {
    guard composite.elements.count == 1, composite.elements[0].name == composite.name else {
      return
    }
    if let value = composite.defaultValue ?? composite.elements[0].defaultValue,
      value != .null
    {
      maker.filling = .choice([value])
      maker.emptyPercent = min(maker.emptyPercent, composite.isOptional ? 15 : 0)
    } else {
      maker.emptyPercent = composite.isOptional ? 15 : 0
    }
  }

  private mutating func addLinks(_ scene: SeedScene) {
    let entity = part.entity
    for link in scene.links {
      let pair = link.pair
      switch link.maker {
      case .child(let maker):
        guard pair.from.members.contains(entity) else { continue }
        if let relationship = pair.from.relationship {
          linkNames.append(.toOne(relationship.name))
        } else if let owner = pair.to.relationship {
          linkNames.append(.owner(entity: pair.to.entity, name: owner.name))
        } else {
          continue
        }
        links.append(.child(maker, link.toNumbers))
      case .partner(let maker):
        if pair.from.members.contains(entity), let relationship = pair.from.relationship {
          linkNames.append(.toOne(relationship.name))
          links.append(.partner(maker, link.toNumbers, isFirst: true))
        }
        if pair.form == .oneToOne, pair.to.members.contains(entity),
          let relationship = pair.to.relationship
        {
          linkNames.append(.toOne(relationship.name))
          links.append(.partner(maker, link.fromNumbers, isFirst: false))
        }
      case .cross(let maker):
        guard pair.from.members.contains(entity), let relationship = pair.from.relationship else {
          continue
        }
        toManyNames.append(relationship.name)
        crossings.append(maker)
      }
    }
  }

  /// Fills in the row of an object by its place among those of the entity.
  func make(_ ordinal: Int, in row: inout RowForm.Row) {
    let key = part.keys.key(ordinal)
    let edge = ordinal < edgeRows ? EdgeCase(rawValue: ordinal) : nil
    var object = MadeObject(seed: seed &+ UInt64(ordinal), ordinal: ordinal, edge: edge)
    row.attributes.removeAll(keepingCapacity: true)
    for index in makers.indices {
      row.attributes.append(makers[index].value(&object, number: number(index, of: key)))
    }
    for composite in composites { settle(composite, of: key, &object, &row.attributes) }
    row.links.removeAll(keepingCapacity: true)
    for link in links {
      switch link {
      case .child(let maker, let numbers):
        row.links.append(target(maker.parent(of: key), numbers))
      case .partner(let maker, let numbers, let isFirst):
        row.links.append(
          target(isFirst ? maker.partner(ofFrom: key) : maker.partner(ofTo: key), numbers))
      }
    }
    row.toManys.removeAll(keepingCapacity: true)
    for crossing in crossings { row.toManys.append(crossing.targets(of: key)) }
  }

  /// What an object's value has to differ by, where it has to.
  private func number(_ index: Int, of key: Int64) -> Int? {
    makers[index].isUnique ? Int(key - uniqueStarts[index]) : nil
  }

  private func target(_ key: Int64?, _ numbers: EntityLookup) -> RowForm.Target? {
    key.map { RowForm.Target(key: $0, number: numbers.number(of: $0)) }
  }

  /// A composite has a value as a whole or none; one that must have one, has one.
  private func settle(
    _ composite: Composite, of key: Int64, _ object: inout MadeObject,
    _ values: inout [AttributeValue]
  ) {
    let range = composite.range
    guard !range.isEmpty else { return }
    let isUnique = range.contains { makers[$0].isUnique }
    let isAbsent = object.random.chance(composite.emptyPercent) || object.edge == .absent
    if composite.isOptional, !isUnique, isAbsent {
      for index in range { values[index] = .null }
      return
    }
    if composite.isOneOf {
      let chosen = range.lowerBound + object.random.below(range.count)
      for index in range {
        let name = makers[index].attribute.name.split(separator: ".").last.map(String.init) ?? ""
        values[index] = index == chosen ? .string(name) : .null
      }
      return
    }
    for index in range where !makers[index].isElementOptional && values[index] == .null {
      values[index] = present(index, of: key, &object)
    }
    if range.allSatisfy({ values[$0] == .null }) {
      values[range.lowerBound] = present(range.lowerBound, of: key, &object)
    }
  }

  private func present(
    _ index: Int, of key: Int64, _ object: inout MadeObject
  ) -> AttributeValue {
    var maker = makers[index]
    maker.emptyPercent = 0
    var plain = MadeObject(seed: object.random.next(), ordinal: object.ordinal, edge: nil)
    return maker.value(&plain, number: number(index, of: key))
  }
}

extension Attribute {
  /// Whether an element, by its path from this attribute on, may be without a value where the composite
  /// around it has one.
  fileprivate func isElementOptional(_ path: [String]) -> Bool {
    var found = self
    for name in path.dropFirst() {
      guard let element = found.element(named: name) else { return true }
      found = element
    }
    return found.isOptional
  }
}
