import Terminal

extension TextMatch {
  /// A text as spans, what was searched for in a style of its own.
  func highlight(_ text: String, _ style: Style, match: Style) -> [Span] {
    // All words need not be in the same column.
    guard !isEmpty, foldedWords.contains(where: { TextMatch($0).matches(text) }) else {
      return [Span(text, style)]
    }
    let characters = Array(text.prefix(4_000))
    var isFound = [Bool](repeating: false, count: characters.count)
    for word in foldedWords {
      let word = Array(word)
      guard !word.isEmpty, word.count <= characters.count else { continue }
      for start in 0...(characters.count - word.count) {
        let isHere = word.indices.allSatisfy { fold(characters[start + $0]) == word[$0] }
        if isHere { for place in start..<start + word.count { isFound[place] = true } }
      }
    }
    var spans: [Span] = []
    var run = ""
    for (place, character) in characters.enumerated() {
      if place > 0, isFound[place] != isFound[place - 1] {
        spans.append(Span(run, isFound[place - 1] ? match : style))
        run = ""
      }
      run.append(character)
    }
    if let last = isFound.last { spans.append(Span(run, last ? match : style)) }
    return spans
  }
}
