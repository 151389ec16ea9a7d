import ExampleValues
import ManagedModel
import ManagedStore

/// What a person may ask of a seeded store.
package struct SeedOptions: Sendable {
  /// Objects of all entities; `nil`: as many as the store that it is to be like, else 1000.
  package var objects: Int?
  /// The same seed gives the same store.
  package var seed: UInt64
  /// Whether what breaks migrations is added.
  package var hasEdgeCases = false
  /// Counts and distributions to follow.
  package var likeness: StoreLikeness?

  /// A store of `objects` objects.
  package init(objects: Int? = nil, seed: UInt64 = 1) {
    self.objects = objects
    self.seed = seed
  }

  /// Objects of a store where nobody says how many.
  package static let defaultObjects = 1000
  /// Most objects of a store: its keys, and what is worked out of them, stay far from any limit.
  package static let mostObjects = 1_000_000_000
}

/// Everything that the rows of a seeded store are made with.
struct SeedScene: Sendable {
  enum Maker: Sendable {
    case child(ChildLinks)
    case partner(PartnerLinks)
    case cross(CrossLinks)
  }

  struct Link: Sendable {
    let pair: LinkPair
    let maker: Maker
    let fromNumbers: EntityLookup
    let toNumbers: EntityLookup
  }

  let schema: StoreSchema
  let options: SeedOptions
  let samples: MadeBytes
  let plan: KeyPlan
  let unique: [UniqueChoice]
  private(set) var links: [Link] = []
  /// `Entity.attribute` of texts of ten megabytes.
  private(set) var huge: Set<String> = []
  /// What the model asks for and cannot be had, as sentences.
  private(set) var notes: [String] = []
  var likeness: StoreLikeness? { options.likeness }

  /// Most texts of ten megabytes in a store.
  private static let mostHuge = 4

  init(_ model: Model, _ options: SeedOptions) throws {
    schema = StoreSchema(model: model)
    self.options = options
    samples = try MadeBytes(seed: options.seed)
    unique = UniqueChoice.all(in: model)
    let pairs = LinkPair.all(in: model, schema: schema)
    let edgeRows = options.hasEdgeCases ? EdgeCase.allCases.count : 0
    let entities = model.entities.count { !$0.isAbstract }
    let given = options.likeness?.counts(of: model)
    let total =
      options.objects ?? given.map { $0.values.reduce(0, +) } ?? SeedOptions.defaultObjects
    let counts = ObjectCounts(
      model, pairs: pairs, rules: Self.capacities(model, unique, samples),
      total: total + edgeRows * entities, least: edgeRows + 1, given: given)
    plan = KeyPlan(model, counts: counts.counts, numbers: schema.numbers)
    let planned = plan.parts.reduce(0) { $0 + $1.keys.count }
    if let asked = options.objects, edgeRows == 0, planned != asked {
      notes.append(
        planned > asked
          ? "\(planned) objects instead of \(asked): every entity has one, or as many as relationships need"
          : "\(planned) objects instead of \(asked): relationships and uniqueness constraints allow no more"
      )
    }
    let context = LinkContext(
      seed: options.seed, edgeRows: edgeRows, chain: edgeRows > 0 ? EdgeCase.chain : 0)
    for pair in pairs { add(pair, context) }
    if edgeRows > 0 { chooseHuge(model) }
    notes += ruleNotes(model)
  }

  private mutating func add(_ pair: LinkPair, _ context: LinkContext) {
    guard let from = plan.span(of: pair.from.members) else { return }
    guard let to = plan.span(of: pair.to.members) else {
      if pair.from.isMandatory {
        notes.append(
          "\(pair.from.name) is mandatory, but no object can exist for it to reference")
      }
      return
    }
    let shape = likeness?.shape(of: pair) ?? LinkShape()
    let maker: Maker
    switch pair.form {
    case .child:
      let links = ChildLinks(pair, from, to, shape, context)
      notes += links.notes
      maker = .child(links)
    case .oneToOne, .reflexiveOne:
      let links = PartnerLinks(pair, from, to, shape, context)
      notes += links.notes
      maker = .partner(links)
    case .manyToMany, .reflexiveMany:
      let links = CrossLinks(pair, from, to, shape, context)
      notes += links.notes
      maker = .cross(links)
    }
    links.append(
      Link(
        pair: pair, maker: maker, fromNumbers: plan.numbers(in: from.root),
        toNumbers: plan.numbers(in: to.root)))
  }

  /// There are not more objects than values that keep them apart, where they must have one.
  private static func capacities(
    _ model: Model, _ unique: [UniqueChoice], _ samples: MadeBytes
  ) -> [CountRule] {
    unique.compactMap { choice in
      guard let name = choice.attribute,
        let attribute = model.storedAttribute(named: name, of: choice.entity),
        !attribute.isOptional,
        let capacity = ValueMaker(attribute, of: choice.entity, samples: samples).capacity
      else { return nil }
      return CountRule(fewer: model.subtree(of: choice.entity), extra: max(1, capacity))
    }
  }

  private mutating func chooseHuge(_ model: Model) {
    for part in plan.parts where part.keys.count > EdgeCase.huge.rawValue {
      guard huge.count < Self.mostHuge else { return }
      let chosen = model.storedAttributes(of: part.entity).first {
        $0.type == .string && !$0.isDerived && ValueLimits($0).isFree
          && !isUnique($0.name, of: part.entity, model) && !$0.name.contains(".")
      }
      if let chosen { huge.insert(part.entity + "." + chosen.name) }
    }
  }

  private func isUnique(_ attribute: String, of entity: String, _ model: Model) -> Bool {
    unique.contains { $0.attribute == attribute && model.isKind(entity, of: $0.entity) }
  }

  /// Rules of attributes that are not followed, each reported where it is declared.
  private func ruleNotes(_ model: Model) -> [String] {
    var notes: [String] = []
    for entity in model.entitiesInStoreOrder {
      for attribute in entity.attributes where attribute.isStored && !attribute.isDerived {
        for column in attribute.storage.columns {
          let name = entity.name + "." + column.attribute.name
          let maker = ValueMaker(column.attribute, of: entity.name, samples: samples)
          for rule in maker.limits.ignored {
            notes.append("\(name): the rule “\(rule)” is not followed")
          }
          if let misses = maker.misses(seed: options.seed) {
            notes.append("\(name): \(misses)")
          }
          if column.attribute.type == .transformable, !column.attribute.isArchived,
            let transformer = column.attribute.valueTransformerName
          {
            notes.append(
              "\(name): what \(transformer) makes is not known; its values are plain archives")
          }
        }
        if let enumeration = attribute.userInfo["EnumType"] ?? Self.enumeration(attribute),
          attribute.elements.count == 1, attribute.defaultValue == nil,
          attribute.elements[0].defaultValue == nil
        {
          notes.append(
            "\(entity.name).\(attribute.name): the model does not show the raw values of \(enumeration); an app may not accept these"
          )
        }
      }
    }
    for choice in unique where choice.attribute == nil && choice.isCompound {
      notes.append("\(choice.name): unique by its first relationship alone")
    }
    return notes
  }

  /// A composite of one element with its own name: an enum with a raw value.
  private static func enumeration(_ attribute: Attribute) -> String? {
    attribute.type == .composite && attribute.elements.first?.name == attribute.name
      ? "the enum" : nil
  }
}

extension ValueMaker {
  /// Why rules that are understood are not kept all the same, found by trying.
  func misses(seed: UInt64) -> String? {
    guard !limits.isFree, !attribute.isDerived else { return nil }
    var maker = self
    maker.emptyPercent = 0
    maker.defaultPercent = 0
    let tries = 40
    let kept = (0..<tries).count { ordinal in
      var object = MadeObject(
        seed: SeededGenerator.seed(seed, attribute.name) &+ UInt64(ordinal), ordinal: ordinal,
        edge: nil)
      return isSound(maker.value(&object, number: nil))
    }
    return kept == tries
      ? nil
      : kept == 0 ? "no value was found that keeps its rules" : "not every value keeps its rules"
  }
}
