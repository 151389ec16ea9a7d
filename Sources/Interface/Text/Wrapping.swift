import Terminal

/// Breaks text into lines at its spaces.
package enum Wrapping {
  package static func lines(_ text: String, width: Int) -> [String] {
    let width = max(1, width)
    var lines: [String] = []
    var line = ""
    var used = 0
    for word in text.split(separator: " ", omittingEmptySubsequences: true) {
      var word = word[...]
      var length = TextWidth.of(word)
      if used > 0 {
        if used + 1 + length <= width {
          line += " " + word
          used += 1 + length
          continue
        }
        lines.append(line)
        (line, used) = ("", 0)
      }
      // A word longer than the line is broken anywhere: a path.
      while length > width {
        var part = ""
        var cells = 0
        while let character = word.first {
          let next = TextWidth.of(String(character))
          if cells + next > width, !part.isEmpty { break }
          part.append(character)
          cells += next
          word = word.dropFirst()
        }
        lines.append(part)
        length = TextWidth.of(word)
      }
      line = String(word)
      used = length
    }
    if !line.isEmpty || lines.isEmpty { lines.append(line) }
    return lines
  }
}
