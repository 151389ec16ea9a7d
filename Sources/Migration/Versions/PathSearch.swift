import ManagedModel

/// The search for the fewest steps between versions.
enum PathSearch {
  enum Outcome {
    /// Positions from the entry to the exit.
    case found([Int])
    /// The pair of neighbours over which nothing leads, and why.
    case gap(from: Int, to: Int, reason: CoreDataError)
  }

  /// Whether a step from one version to another comes nearer to the exit without passing it.
  static func isTowards(_ exit: Int, _ from: Int, _ to: Int) -> Bool {
    from < exit ? to > from && to <= exit : to < from && to >= exit
  }

  /// Why there is no inferred step to a version that lies elsewhere.
  static let away = CoreDataError(
    .refused, code: .migrationMissingMappingModel, "the version does not lie on the way")

  /// Breadth first, the exit before all else, then the longest jumps.
  ///
  /// - Parameter refusal: why there is no step from one to another; `nil` where there is one.
  static func search(
    from entry: Int, to exit: Int, count: Int, refusal: (Int, Int) throws -> CoreDataError?
  ) throws -> Outcome {
    var previous: [Int: Int] = [:]
    var reached = Set([entry])
    var queue = [entry]
    var next = 0
    while next < queue.count {
      let node = queue[next]
      next += 1
      if try refusal(node, exit) == nil {
        var path = [exit, node]
        while let last = path.last, let before = previous[last] { path.append(before) }
        return .found(path.reversed())
      }
      let others = (0..<count).filter { $0 != exit && !reached.contains($0) }
        .sorted { abs($0 - exit) < abs($1 - exit) }
      for other in others where try refusal(node, other) == nil {
        previous[other] = node
        reached.insert(other)
        queue.append(other)
      }
    }
    // Where the path ends that came nearest; from there not even the next version can be reached.
    let end = reached.min { abs($0 - exit) < abs($1 - exit) } ?? exit
    let after = end < exit ? end + 1 : end - 1
    return .gap(from: end, to: after, reason: try refusal(end, after) ?? away)
  }
}
