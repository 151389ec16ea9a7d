/// A pattern that a whole text must match, in time that grows with the text and never explodes.
///
/// Two dialects: `LIKE` knows `*`, `?` and a backslash before either; `MATCHES` knows the part of
/// ICU's regular expressions that needs no going back: see ``init(matching:)``. Both become a small
/// program that walks the text once with all its alternatives side by side (Thompson's way), so
/// `(a+)+b` is as cheap as `a+b`.
package struct TextPattern: Sendable {
  enum Step: Sendable {
    case one(ScalarSet)
    case split(Int, Int)
    case jump(Int)
    case start
    case end
    case boundary(Bool)
    /// Notes the place as the beginning (even) or end (odd) of a group.
    case save(Int)
    case match
  }

  /// Most steps of a program: bounds the time for each character.
  static let maximumSteps = 2_000

  let steps: [Step]
  let ignoringCase: Bool
  let ignoringMarks: Bool
  /// Groups whose places are noted: none where only matching is asked for.
  let groups: Int

  /// A `LIKE` pattern.
  package init(like pattern: String, ignoringCase: Bool, ignoringMarks: Bool) throws(CoreDataError)
  {
    self.ignoringCase = ignoringCase
    self.ignoringMarks = ignoringMarks
    groups = 0
    var steps: [Step] = []
    let folded = FoldedText.fold(
      pattern, ignoringCase: ignoringCase, ignoringMarks: ignoringMarks)
    var scalars = folded.unicodeScalars.makeIterator()
    while let scalar = scalars.next() {
      switch scalar {
      case "*":
        let start = steps.count
        steps += [.split(start + 1, start + 3), .one(.all), .jump(start)]
      case "?": steps.append(.one(.all))
      case "\\": steps.append(.one(.only(scalars.next() ?? "\\")))
      default: steps.append(.one(.only(scalar)))
      }
      guard steps.count <= Self.maximumSteps else { throw Self.tooLarge }
    }
    self.steps = steps + [.match]
  }

  /// A regular expression as `MATCHES` takes it.
  ///
  /// Understood: literals, `.`, `[…]` with ranges, negation and classes, `\d \w \s \h` and their
  /// negations, `\p{L}` and the other general categories, `^ $ \A \z \Z \b \B`, groups, `|`,
  /// `* + ? {n,m}` (lazy too), `(?i)` at the start, `\t \n \r \f \e \a \uXXXX \xHH \x{…} \Q…\E`.
  /// Refused with a sentence: look-around, references back, possessive and atomic groups.
  ///
  /// - Parameter notesGroups: whether ``firstMatch(in:from:budget:)`` will be asked for them.
  package init(
    matching pattern: String, ignoringCase: Bool, ignoringMarks: Bool, notesGroups: Bool = false
  ) throws(CoreDataError) {
    var parser = PatternParser(pattern)
    let node = try parser.whole()
    self.ignoringCase = ignoringCase || parser.ignoringCase
    self.ignoringMarks = ignoringMarks
    groups = notesGroups ? parser.groups : 0
    var steps: [Step] = []
    try Self.compile(
      node, into: &steps, ignoringCase: self.ignoringCase, ignoringMarks: ignoringMarks,
      notesGroups: notesGroups)
    self.steps = steps + [.match]
  }

  static var tooLarge: CoreDataError { CoreDataError(.usage, "the pattern is too large") }

  private static func compile(
    _ node: PatternNode, into steps: inout [Step], ignoringCase: Bool, ignoringMarks: Bool,
    notesGroups: Bool
  ) throws(CoreDataError) {
    func inner(_ node: PatternNode) throws(CoreDataError) {
      try compile(
        node, into: &steps, ignoringCase: ignoringCase, ignoringMarks: ignoringMarks,
        notesGroups: notesGroups)
    }
    // Of two ways the first is preferred.
    func split(_ inside: Int, _ after: Int, _ isLazy: Bool) -> Step {
      isLazy ? .split(after, inside) : .split(inside, after)
    }
    guard steps.count <= maximumSteps else { throw tooLarge }
    switch node {
    case .empty: break
    case .start: steps.append(.start)
    case .end: steps.append(.end)
    case .boundary(let isOne): steps.append(.boundary(isOne))
    case .set(let set): steps.append(.one(set))
    case .text(let text):
      let folded = FoldedText.fold(text, ignoringCase: ignoringCase, ignoringMarks: ignoringMarks)
      for scalar in folded.unicodeScalars { steps.append(.one(.only(scalar))) }
    case .sequence(let parts): for part in parts { try inner(part) }
    case .either(let parts):
      var jumps: [Int] = []
      for (index, part) in parts.enumerated() {
        guard index < parts.count - 1 else {
          try inner(part)
          break
        }
        let split = steps.count
        steps.append(.match)
        try inner(part)
        jumps.append(steps.count)
        steps.append(.match)
        steps[split] = .split(split + 1, steps.count)
      }
      for jump in jumps { steps[jump] = .jump(steps.count) }
    case .group(let number, let part):
      if notesGroups { steps.append(.save(number * 2)) }
      try inner(part)
      if notesGroups { steps.append(.save(number * 2 + 1)) }
    case .repeated(let part, let least, let most, let isLazy):
      for _ in 0..<least {
        let count = steps.count
        try inner(part)
        // Nothing, a thousand times a thousand times, is still nothing.
        if steps.count == count { break }
      }
      if let most {
        var splits: [Int] = []
        for _ in least..<max(least, most) {
          splits.append(steps.count)
          steps.append(.match)
          try inner(part)
        }
        for place in splits { steps[place] = split(place + 1, steps.count, isLazy) }
      } else {
        let place = steps.count
        steps.append(.match)
        try inner(part)
        steps.append(.jump(place))
        steps[place] = split(place + 1, steps.count, isLazy)
      }
    }
    guard steps.count <= maximumSteps else { throw tooLarge }
  }

  /// Whether the whole text matches.
  package func matches(_ text: String) -> Bool {
    let folded = FoldedText.fold(text, ignoringCase: ignoringCase, ignoringMarks: ignoringMarks)
    var current = PatternThreads<Int>(steps.count)
    var next = PatternThreads<Int>(steps.count)
    var previous: Unicode.Scalar?
    var iterator = folded.unicodeScalars.makeIterator()
    var scalar = iterator.next()
    add(0, to: &current, previous, scalar)
    while let character = scalar, !current.list.isEmpty {
      let following = iterator.next()
      next.clear()
      for step in current.list {
        if case .one(let set) = steps[step], set.contains(character, ignoringCase: ignoringCase) {
          add(step + 1, to: &next, character, following)
        }
      }
      swap(&current, &next)
      previous = character
      scalar = following
    }
    guard scalar == nil else { return false }
    return current.list.contains { if case .match = steps[$0] { true } else { false } }
  }

  /// Puts a step and all that follow it without taking a character among the threads, each once.
  private func add(
    _ first: Int, to threads: inout PatternThreads<Int>, _ before: Unicode.Scalar?,
    _ after: Unicode.Scalar?
  ) {
    threads.stack.append(first)
    while let step = threads.stack.popLast() {
      guard threads.mark(step) else { continue }
      switch steps[step] {
      case .one, .match: threads.list.append(step)
      case .jump(let target): threads.stack.append(target)
      case .split(let first, let second):
        threads.stack.append(second)
        threads.stack.append(first)
      case .save: threads.stack.append(step + 1)
      case .start: if before == nil { threads.stack.append(step + 1) }
      case .end: if after == nil { threads.stack.append(step + 1) }
      case .boundary(let isOne):
        let differs = before.map(ScalarSet.isWord) ?? false != after.map(ScalarSet.isWord) ?? false
        if differs == isOne { threads.stack.append(step + 1) }
      }
    }
  }
}

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

/// The steps of a pattern that are walked side by side, each once, the preferred ones first.
struct PatternThreads<Thread> {
  var list: [Thread] = []
  /// What is still to be followed before the next character.
  var stack: [Thread] = []
  private var marks: [Int]
  private var generation = 1

  init(_ count: Int) { marks = Array(repeating: 0, count: count) }

  mutating func clear() {
    list.removeAll(keepingCapacity: true)
    generation += 1
  }

  /// Whether the step was not there yet.
  mutating func mark(_ step: Int) -> Bool {
    guard marks[step] != generation else { return false }
    marks[step] = generation
    return true
  }
}
