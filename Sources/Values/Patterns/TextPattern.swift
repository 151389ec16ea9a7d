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
