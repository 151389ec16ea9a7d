extension TextPattern {
  /// A step that is being walked, and the places noted on the way to it.
  private typealias CapturingThread = (step: Int, places: [Int])

  /// Where the pattern first matches at or after a place, and where its groups do: the whole match,
  /// then a range a group, `nil` for one that took no part.
  ///
  /// All ways are walked side by side, the preferred ones first, as Pike's machine does: which match
  /// is found is what a machine that goes back would find, without its time.
  ///
  /// - Parameter budget: steps that are still allowed, which the search uses up.
  /// - Returns: `nil` where nothing matches, or the budget came to its end.
  func firstMatch(
    in scalars: [Unicode.Scalar], from start: Int, budget: inout Int
  ) -> [Range<Int>?]? {
    var current = PatternThreads<CapturingThread>(steps.count)
    var next = PatternThreads<CapturingThread>(steps.count)
    var found: [Int]?
    let unset = [Int](repeating: -1, count: (groups + 1) * 2)
    var place = start
    while place <= scalars.count, budget > 0 {
      if found == nil {
        var places = unset
        places[0] = place
        add(0, places, to: &current, scalars, place, &budget)
      }
      guard !current.list.isEmpty || found == nil else { break }
      next.clear()
      for (step, places) in current.list {
        if case .match = steps[step] {
          found = places
          found?[1] = place
          // What follows in the list is less preferred.
          break
        }
        if case .one(let set) = steps[step], place < scalars.count,
          set.contains(scalars[place], ignoringCase: ignoringCase)
        {
          add(step + 1, places, to: &next, scalars, place + 1, &budget)
        }
      }
      swap(&current, &next)
      place += 1
    }
    guard budget > 0, let found else { return nil }
    return stride(from: 0, to: found.count, by: 2).map { index -> Range<Int>? in
      let (first, end) = (found[index], found[index + 1])
      return first < 0 || end < first ? nil : first..<end
    }
  }

  private func add(
    _ first: Int, _ places: [Int], to threads: inout PatternThreads<CapturingThread>,
    _ scalars: [Unicode.Scalar], _ place: Int, _ budget: inout Int
  ) {
    threads.stack.append((first, places))
    while let (step, places) = threads.stack.popLast() {
      budget -= 1
      guard threads.mark(step) else { continue }
      switch steps[step] {
      case .one, .match: threads.list.append((step, places))
      case .jump(let target): threads.stack.append((target, places))
      case .split(let first, let second):
        threads.stack.append((second, places))
        threads.stack.append((first, places))
      case .save(let slot):
        var places = places
        if places.indices.contains(slot) { places[slot] = place }
        threads.stack.append((step + 1, places))
      case .start: if place == 0 { threads.stack.append((step + 1, places)) }
      case .end: if place == scalars.count { threads.stack.append((step + 1, places)) }
      case .boundary(let isOne):
        let before = place > 0 && ScalarSet.isWord(scalars[place - 1])
        let after = place < scalars.count && ScalarSet.isWord(scalars[place])
        if (before != after) == isOne { threads.stack.append((step + 1, places)) }
      }
    }
  }
}
