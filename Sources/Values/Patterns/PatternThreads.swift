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
