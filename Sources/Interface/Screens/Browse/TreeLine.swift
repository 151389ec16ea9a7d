/// A line of a tree that is written line by line: what belongs to it comes next, and is deeper.
protocol TreeLine {
  var depth: Int { get }
}

extension Array where Element: TreeLine {
  /// The lines that fit, with those that they are part of.
  func found(_ fits: (Element) -> Bool) -> [Element] {
    var found: [Element] = []
    var needed = 0
    for line in reversed() where line.depth < needed || fits(line) {
      found.append(line)
      needed = line.depth
    }
    return found.reversed()
  }

  /// The line that one is part of.
  func parent(of index: Int) -> Int? {
    self[..<index].lastIndex { $0.depth < self[index].depth }
  }
}
