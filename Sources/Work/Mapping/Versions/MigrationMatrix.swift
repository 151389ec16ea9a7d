import ManagedModel

/// How each version of a model can become each other one.
public struct MigrationMatrix: Sendable, Equatable {
  /// The path from one version to another.
  public enum Path: Sendable, Equatable {
    /// The version hashes are equal: a store of the one opens with the other.
    case none
    /// In one step of that kind.
    case direct(MappingModel.Kind)
    /// Through the versions of these names, with the kind of each step.
    case chain(via: [String], kinds: [MappingModel.Kind])
    /// Not at all: the versions between which the path ends, and why, with entity and property.
    case impossible(from: String, to: String, reason: CoreDataError)
  }

  /// Names of the versions, in order.
  public let names: [String]
  /// Why other versions could not be read.
  public let unreadable: [CoreDataError]
  private let nodes: [Int]
  private let paths: [[Path]]

  /// Works out all pairs.
  ///
  /// - Throws: what `custom` throws, and cancellation (134120) once `isCancelled` says so.
  public init(
    of versions: ModelVersions, custom: @escaping CustomMapping = { _, _, _ in nil },
    isCancelled: () -> Bool = { false }
  ) throws {
    names = versions.versions.map(\.name)
    unreadable = versions.unreadable
    var graph = VersionGraph(versions.versions, custom: custom)
    let count = graph.nodes.count
    var steps: [[Step]] = []
    for from in 0..<count {
      var row: [Step] = []
      for to in 0..<count {
        try CoreDataError.check(isCancelled, versions.path)
        row.append(
          graph.isEqual(from, to) ? .equal : Step(try graph.edge(from, to)))
      }
      steps.append(row)
      graph.forget(from)
    }
    let names = graph.nodes.map(\.name)
    paths = try (0..<count).map { from in
      try (0..<count).map { try Self.path(from, $0, steps, names) }
    }
    nodes = graph.nodes.enumerated().flatMap { index, node in
      [Int](repeating: index, count: node.names.count)
    }
  }

  /// The path between two versions, by their places in ``names``; `nil` outside of them.
  public subscript(from: Int, to: Int) -> Path? {
    guard nodes.indices.contains(from), nodes.indices.contains(to) else { return nil }
    return paths[nodes[from]][nodes[to]]
  }

  private enum Step {
    case equal
    case kind(MappingModel.Kind)
    case refused(CoreDataError)

    var isEqual: Bool { if case .equal = self { true } else { false } }

    init(_ edge: VersionGraph.Edge) {
      switch edge {
      case .open(let kind): self = .kind(kind)
      case .refused(let error): self = .refused(error)
      }
    }
  }

  private static func path(
    _ from: Int, _ to: Int, _ steps: [[Step]], _ names: [String]
  ) throws -> Path {
    switch steps[from][to] {
    case .equal: return .none
    case .kind(let kind): return .direct(kind)
    case .refused: break
    }
    // A version that came back later is another place to begin at, where there is no other path.
    let starts = [from] + names.indices.filter { $0 != from && steps[from][$0].isEqual }
    var failure: Path?
    for start in starts {
      let path = try search(start, to, steps, names)
      guard case .impossible = path else { return path }
      failure = failure ?? path
    }
    return failure ?? .none
  }

  private static func search(
    _ from: Int, _ to: Int, _ steps: [[Step]], _ names: [String]
  ) throws -> Path {
    let outcome = try PathSearch.search(
      from: from, to: to, count: names.count,
      isOpen: { one, other in
        guard case .kind(let kind) = steps[one][other] else { return false }
        return kind != .inferred || PathSearch.isTowards(to, one, other)
      },
      refusal: { one, other in
        if case .refused(let error) = steps[one][other] { error } else { PathSearch.away }
      })
    switch outcome {
    case .found(let path):
      let kinds = zip(path, path.dropFirst()).compactMap { pair in
        if case .kind(let kind) = steps[pair.0][pair.1] { kind } else { nil }
      }
      if let kind = kinds.first, kinds.count == 1 { return .direct(kind) }
      return .chain(via: path.dropFirst().dropLast().map { names[$0] }, kinds: kinds)
    case .gap(let end, let after, let reason):
      return .impossible(from: names[end], to: names[after], reason: reason)
    }
  }
}
