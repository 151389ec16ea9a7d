import ManagedModel

/// The search for the fewest steps between versions.
package enum PathSearch {
  package enum Outcome {
    /// Positions from the entry to the exit.
    case found([Int])
    /// The pair of neighbours over which nothing leads, and why.
    case gap(from: Int, to: Int, reason: CoreDataError)
  }

  /// Whether a step from one version to another comes nearer to the exit without passing it.
  package static func isTowards(_ exit: Int, _ from: Int, _ to: Int) -> Bool {
    from < exit ? to > from && to <= exit : to < from && to >= exit
  }

  /// Why there is no inferred step to a version that lies elsewhere.
  package static let away = CoreDataError(
    .refused, code: .migrationMissingMappingModel, "the version is not on the path")

  /// Breadth first, the exit before all else, then the longest jumps.
  ///
  /// - Parameters:
  ///   - isOpen: whether a step leads from one to another.
  ///   - refusal: why none does.
  package static func search(
    from entry: Int, to exit: Int, count: Int, isOpen: (Int, Int) throws -> Bool,
    refusal: (Int, Int) throws -> CoreDataError
  ) throws -> Outcome {
    var previous: [Int: Int] = [:]
    var isReached = [Bool](repeating: false, count: count)
    isReached[entry] = true
    let others = (0..<count).filter { $0 != exit }.sorted { abs($0 - exit) < abs($1 - exit) }
    var queue = [entry]
    var next = 0
    while next < queue.count {
      let node = queue[next]
      next += 1
      if try isOpen(node, exit) {
        var path = [exit, node]
        while let last = path.last, let before = previous[last] { path.append(before) }
        return .found(path.reversed())
      }
      for other in others where !isReached[other] {
        guard try isOpen(node, other) else { continue }
        previous[other] = node
        isReached[other] = true
        queue.append(other)
      }
    }
    // Where the path ends that came nearest; from there not even the next version can be reached.
    let end = queue.min { (abs($0 - exit), $0) < (abs($1 - exit), $1) } ?? exit
    let after = end < exit ? end + 1 : end - 1
    return .gap(from: end, to: after, reason: try refusal(end, after))
  }
}
