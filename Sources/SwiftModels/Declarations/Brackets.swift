/// Which bracket closes which, determined even where some are missing.
struct Brackets: Sendable {
  /// For each token that opens a bracket, the place of its end: that of the token that closes it, or
  /// of the one where what is around it ends.
  let ends: [Int]
  /// For each token that opens a bracket, the place of what comes after it.
  let afters: [Int]
  /// Lines of brackets that nothing closes.
  let unclosed: [Int]

  /// Brackets within one that are looked through for the one that a parenthesis closes.
  private static let reach = 64

  init(_ tokens: [SwiftToken]) {
    var ends = [Int](repeating: -1, count: tokens.count)
    var afters = ends
    var unclosed: [Int] = []
    var open: [Int] = []
    /// Places of the braces within `open`.
    var braces: [Int] = []
    for (index, token) in tokens.enumerated() where token.kind == .mark {
      var match: Int?
      switch token.text {
      case "{":
        braces.append(open.count)
        open.append(index)
      case "(", "[": open.append(index)
      case "}": match = braces.popLast()
      case ")", "]":
        let opener = token.text == ")" ? "(" : "["
        var place = open.count - 1
        // It closes nothing beyond the braces that it stands in.
        while place >= 0, open.count - place <= Self.reach, tokens[open[place]].text != "{" {
          if tokens[open[place]].text == opener {
            match = place
            break
          }
          place -= 1
        }
      default: break
      }
      guard let match else { continue }
      for skipped in open[(match + 1)...] {
        (ends[skipped], afters[skipped]) = (index, index)
        if unclosed.count < 20 { unclosed.append(tokens[skipped].line) }
      }
      (ends[open[match]], afters[open[match]]) = (index, index + 1)
      open.removeSubrange(match...)
    }
    for index in open {
      (ends[index], afters[index]) = (tokens.count, tokens.count)
      if unclosed.count < 20 { unclosed.append(tokens[index].line) }
    }
    self.ends = ends
    self.afters = afters
    self.unclosed = unclosed
  }
}
