import ManagedModel
import Mapping

/// The shortest safe path from one version of a model to another.
///
/// A step is a mapping that is written down for that pair, or one that can be inferred and loses
/// nothing that going through the versions between would keep: a property that was renamed on the
/// path, an entity that changed its name twice. A written mapping is never jumped over.
public struct MigrationPath: Sendable, Equatable {
  /// The steps in order; a single one of kind none where the versions' hashes are equal.
  public var steps: [MigrationStep]

  /// What the whole path does, as one mapping from the first version to the last; `nil` where one of
  /// several steps is a written mapping.
  public var wholeMapping: MappingModel? {
    guard let first = steps.first?.mapping else { return nil }
    return steps.dropFirst().reduce(first) { sofar, step in
      sofar.flatMap { MappingModel.composed($0, step.mapping) }
    }
  }

  /// Finds the path with the fewest steps, straight to the destination where that is safe.
  ///
  /// Inferred steps only lead towards the destination in the order of the versions; written ones
  /// lead anywhere.
  ///
  /// - Parameters:
  ///   - names: what to call the two ends.
  ///   - custom: the mapping that is written down for a pair.
  /// - Throws: ``CoreDataError``: 134130 where the source is none of the versions, with the nearest;
  ///   134140 where there is no path, naming the versions between which it ends and why; what
  ///   `custom` throws.
  public static func find(
    from source: Model, to destination: Model, names: (from: String, to: String),
    through versions: ModelVersions, custom: @escaping CustomMapping = { _, _, _ in nil }
  ) throws -> MigrationPath {
    let hashes = (source: source.versionHashes, destination: destination.versionHashes)
    func single(_ mapping: MappingModel) -> MigrationPath {
      MigrationPath(steps: [
        MigrationStep(
          from: names.from, to: names.to, source: source, destination: destination,
          mapping: mapping)
      ])
    }
    if hashes.source == hashes.destination {
      return single(MappingModel(kind: .none, entityMappings: []))
    }
    if let mapping = try custom(source, destination, names) { return single(mapping) }
    var graph = VersionGraph(versions.versions, custom: custom)
    let ends = graph.nodes.indices.filter { graph.nodes[$0].hashes == hashes.destination }
    let exit: Int
    if let end = ends.first(where: { graph.nodes[$0].names.contains(names.to) }) ?? ends.last {
      exit = end
      graph.use(destination, named: names.to, at: end)
    } else {
      graph.append(destination, named: names.to, hashes.destination)
      exit = graph.nodes.count - 1
    }
    // A version that came back has two places. The one of that name is meant, else an upgrade comes
    // before a downgrade, which knows no renaming identifiers of the versions it leaves.
    func rank(_ node: Int) -> (Int, Int, Int) {
      let isNamed = graph.nodes[node].names.contains(names.from)
      return (isNamed ? 0 : 1, node > exit ? 1 : 0, abs(node - exit))
    }
    let entries = graph.nodes.indices.filter { graph.nodes[$0].hashes == hashes.source }
      .sorted { rank($0) < rank($1) }
    guard !entries.isEmpty else { throw unknownSource(hashes.source, names.from, versions) }
    for entry in entries { graph.use(source, named: names.from, at: entry) }
    var failure: CoreDataError?
    for entry in entries {
      switch try search(from: entry, to: exit, in: &graph) {
      case .found(let nodes): return try MigrationPath(nodes: nodes, graph: &graph)
      case .gap(let from, let to, let reason):
        let error = gap(
          (graph.nodes[from].name, graph.nodes[to].name), reason, names: names, versions: versions)
        failure = failure ?? error
      }
    }
    throw failure ?? unknownSource(hashes.source, names.from, versions)
  }

  init(steps: [MigrationStep]) { self.steps = steps }

  private init(nodes: [Int], graph: inout VersionGraph) throws {
    steps = []
    for (from, to) in zip(nodes, nodes.dropFirst()) {
      let mapping = try graph.mapping(from, to)
      let (source, destination) = (graph.nodes[from], graph.nodes[to])
      steps.append(
        MigrationStep(
          from: source.name, to: destination.name, source: source.model,
          destination: destination.model, mapping: mapping))
    }
  }

  private static func search(
    from entry: Int, to exit: Int, in graph: inout VersionGraph
  ) throws -> PathSearch.Outcome {
    // The search asks all edges of one node before those of the next.
    var current: Int?
    func isOpen(_ from: Int, _ to: Int) throws -> Bool {
      if let last = current, last != from { graph.forget(last) }
      current = from
      if PathSearch.isTowards(exit, from, to) { return try graph.isOpen(from, to) }
      return try graph.custom(from, to) != nil
    }
    return try PathSearch.search(
      from: entry, to: exit, count: graph.nodes.count, isOpen: isOpen,
      refusal: { from, to in
        guard PathSearch.isTowards(exit, from, to),
          case .refused(let error) = try graph.edge(from, to)
        else { return PathSearch.away }
        return error
      })
  }

  private static func unknownSource(
    _ hashes: [String: VersionHash], _ name: String, _ versions: ModelVersions
  ) -> CoreDataError {
    let nearest = versions.nearest(to: hashes).map {
      "The nearest is “\($0.version.name)”: \($0.matching) of \($0.of) entities fit. "
    }
    return CoreDataError(
      .refused, code: .migrationMissingSourceModel,
      "the store's version is none of the \(versions.versions.count) that were given",
      path: versions.path,
      advice:
        "\(nearest ?? "None has an entity in common with it. ")\(note(of: versions.unreadable))\(.deed("model-search")) searches for the right one."
    )
  }

  private static func gap(
    _ gap: (from: String, to: String), _ reason: CoreDataError,
    names: (from: String, to: String), versions: ModelVersions
  ) -> CoreDataError {
    let ends = gap == names ? "" : "it ends between “\(gap.from)” and “\(gap.to)”: "
    return CoreDataError(
      .refused, code: .migrationMissingMappingModel,
      "there is no migration path from “\(names.from)” to “\(names.to)”: \(ends)\(reason.message)",
      path: versions.path, entity: reason.entity, property: reason.property,
      advice:
        "\(note(of: versions.unreadable))Give a mapping model or a recipe from “\(gap.from)” to “\(gap.to)” with \(.documents, "FILE")."
    )
  }

  private static func note(of unreadable: [CoreDataError]) -> String {
    unreadable.isEmpty
      ? ""
      : "\(unreadable.count) versions could not be read, such as \(unreadable[0].path ?? "one"): \(unreadable[0].message). "
  }
}
