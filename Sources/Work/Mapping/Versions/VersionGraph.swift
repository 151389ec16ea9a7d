import ManagedModel

/// A mapping that is written down for exactly one pair of models: a mapping model or a recipe.
///
/// `nil` where none fits the pair. The names are those of the versions, for a recipe that uses
/// them.
public typealias CustomMapping = (
  _ source: Model, _ destination: Model, _ names: (from: String, to: String)
) throws -> MappingModel?

/// Which version can become which in one step, found out as it is asked.
///
/// Neighbours with equal hashes are one node: a store cannot distinguish them. The last of them
/// speaks for them, since renaming identifiers that were forgotten at first come later.
package struct VersionGraph {
  package struct Node {
    package var name: String
    fileprivate(set) var version: InferredSteps.Version
    /// All names that the node stands for, in order.
    package var names: [String]

    package var model: Model { version.model }
    package var hashes: [String: VersionHash] { version.hashes }
  }

  /// A step from one node straight to another, or why there can be none.
  package enum Edge {
    case open(MappingModel.Kind)
    case refused(CoreDataError)
  }

  private struct Pair: Hashable {
    var from: Int
    var to: Int
  }

  package private(set) var nodes: [Node]
  private let custom: CustomMapping
  private var customs: [Pair: MappingModel?] = [:]
  private var customsWithin: [Pair: Bool] = [:]
  private var steps = InferredSteps()
  private var inferred: [Pair: Result<InferredSteps.Carried, CoreDataError>] = [:]
  private var stepwise: [Pair: InferredSteps.Carried?] = [:]

  package init(_ versions: [ModelVersions.Version], custom: @escaping CustomMapping) {
    nodes = []
    self.custom = custom
    for version in versions {
      if let last = nodes.indices.last, nodes[last].hashes == version.hashes {
        nodes[last].name = version.name
        nodes[last].version = steps.version(of: version.model, version.hashes)
        nodes[last].names.append(version.name)
      } else {
        append(version.model, named: version.name, version.hashes)
      }
    }
  }

  /// Takes a model that the caller has at hand for the node's own: its hashes are the same, its
  /// renaming identifiers may say more.
  package mutating func use(_ model: Model, named name: String, at node: Int) {
    nodes[node].version = steps.version(of: model, nodes[node].hashes)
    nodes[node].name = name
    if !nodes[node].names.contains(name) { nodes[node].names.append(name) }
  }

  package mutating func append(_ model: Model, named name: String, _ hashes: [String: VersionHash])
  {
    nodes.append(Node(name: name, version: steps.version(of: model, hashes), names: [name]))
  }

  /// Whether two nodes have the same hashes: a version that came back.
  func isEqual(_ one: Int, _ other: Int) -> Bool {
    nodes[one].version.parts.hashes == nodes[other].version.parts.hashes
  }

  /// The mapping of a step that is open.
  ///
  /// - Throws: what looking for a custom mapping ended in, or inferring one.
  package mutating func mapping(_ from: Int, _ to: Int) throws -> MappingModel {
    try custom(from, to)
      ?? MappingInference.mapping(
        from: nodes[from].model, to: nodes[to].model,
        hashes: (nodes[from].hashes, nodes[to].hashes))
  }

  /// - Throws: what looking for a custom mapping ended in.
  package mutating func edge(_ from: Int, _ to: Int) throws -> Edge {
    if let mapping = try custom(from, to) { return .open(mapping.kind) }
    // A version that came back is no step on: it is only another place to begin at.
    guard !isEqual(from, to) else { return .refused(PathSearch.away) }
    let carried: InferredSteps.Carried
    switch inferred(from, to) {
    case .failure(let error): return .refused(error)
    case .success(let found): carried = found
    }
    if try hasCustom(within: from, to) {
      return .refused(
        CoreDataError(
          .refused, code: .migrationMissingMappingModel,
          "a mapping is given for a step between them, which must not be skipped"))
    }
    if let (entity, property) = missing(in: carried, from, to) {
      return .refused(
        CoreDataError(
          .refused, code: .migrationMissingMappingModel,
          "migrating directly would lose what the versions in between keep", entity: entity,
          property: property))
    }
    return .open(.inferred)
  }

  /// Whether there is a step from one node straight to another.
  ///
  /// What is known at once is asked first: a search asks this of thousands of pairs, and inferring a mapping takes
  /// most of its time.
  ///
  /// - Throws: what looking for a custom mapping ended in.
  package mutating func isOpen(_ from: Int, _ to: Int) throws -> Bool {
    if try custom(from, to) != nil { return true }
    guard !isEqual(from, to), try !hasCustom(within: from, to) else { return false }
    if case .open = try edge(from, to) { return true }
    return false
  }

  /// The custom mapping that is given for the pair.
  package mutating func custom(_ from: Int, _ to: Int) throws -> MappingModel? {
    let pair = Pair(from: from, to: to)
    if let known = customs[pair] { return known }
    let (source, destination) = (nodes[from], nodes[to])
    var mapping: MappingModel?
    for name in source.names where mapping == nil {
      for other in destination.names where mapping == nil {
        mapping = try custom(source.model, destination.model, (from: name, to: other))
      }
    }
    customs[pair] = .some(mapping)
    return mapping
  }

  /// Lets go of what is only needed while edges from one node are asked for: mappings are large.
  package mutating func forget(_ from: Int) {
    stepwise = stepwise.filter { $0.key.from != from }
    inferred = inferred.filter { pair, result in
      if case .failure = result { return true }
      return pair.from != from || abs(pair.from - pair.to) == 1
    }
  }

  private mutating func inferred(
    _ from: Int, _ to: Int
  ) -> Result<InferredSteps.Carried, CoreDataError> {
    let pair = Pair(from: from, to: to)
    if let known = inferred[pair] { return known }
    let result = steps.carried(from: nodes[from].version, to: nodes[to].version)
    inferred[pair] = result
    return result
  }

  private mutating func hasCustom(within from: Int, _ to: Int) throws -> Bool {
    let pair = Pair(from: from, to: to)
    if let known = customsWithin[pair] { return known }
    let direction = from < to ? 1 : -1
    // All pairs that begin here, then those of the shorter interval: each pair is asked for once.
    var found = try abs(to - from) > 1 && hasCustom(within: from + direction, to)
    var end = from + direction
    while !found {
      found = try custom(from, end) != nil
      if end == to { break }
      end += direction
    }
    customsWithin[pair] = found
    return found
  }

  /// What going step by step carries and the step itself does not.
  private mutating func missing(
    in carried: InferredSteps.Carried, _ from: Int, _ to: Int
  ) -> (entity: String, property: String?)? {
    guard abs(to - from) > 1 else { return nil }
    let direction = from < to ? 1 : -1
    let destination = nodes[to].version
    if let whole = stepwise(from, to),
      let missing = steps.firstMissing(of: whole, in: carried, to: destination)
    {
      return missing
    }
    // Where some step is impossible there is more than one way round it.
    guard !stride(from: from, to: to, by: direction).allSatisfy({ isStep($0, $0 + direction) })
    else { return nil }
    var between = from + direction
    while between != to {
      if isStep(between, to), let first = stepwise(from, between),
        let composed = composed(first, between, to),
        let missing = steps.firstMissing(of: composed, in: carried, to: destination)
      {
        return missing
      }
      between += direction
    }
    return nil
  }

  private mutating func isStep(_ from: Int, _ to: Int) -> Bool {
    if case .success = inferred(from, to) { true } else { false }
  }

  /// What leads to a version, and from there straight to another.
  private mutating func composed(
    _ first: InferredSteps.Carried, _ middle: Int, _ to: Int
  ) -> InferredSteps.Carried? {
    guard case .success(let last) = inferred(middle, to) else { return nil }
    return steps.composed(first, last, through: nodes[middle].version)
  }

  /// What the versions from one to another carry in order, those left out that cannot be reached.
  private mutating func stepwise(_ from: Int, _ to: Int) -> InferredSteps.Carried? {
    let direction = from < to ? 1 : -1
    let wanted = Pair(from: from, to: to)
    if let known = stepwise[wanted] { return known }
    // Forward from the start, since each is made of the one before it.
    var position = from + direction
    while true {
      let pair = Pair(from: from, to: position)
      if stepwise[pair] == nil {
        stepwise[pair] = .some(makeStepwise(from, position, direction))
      }
      if position == to { return stepwise[pair] ?? nil }
      position += direction
    }
  }

  private mutating func makeStepwise(
    _ from: Int, _ to: Int, _ direction: Int
  ) -> InferredSteps.Carried? {
    var before = to - direction
    while before != from {
      if let first = stepwise[Pair(from: from, to: before)] ?? nil,
        let composed = composed(first, before, to)
      {
        return composed
      }
      before -= direction
    }
    return try? inferred(from, to).get()
  }
}
