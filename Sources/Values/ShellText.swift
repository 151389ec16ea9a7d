/// Words of a command line as a shell takes them.
package enum ShellText {
  /// `strata rows 'My Store.sqlite' Recipe`: a command to be pasted.
  package static func command(_ words: [String]) -> String {
    (["strata"] + words.map(quoted)).joined(separator: " ")
  }

  /// The same of words one by one.
  package static func command(_ words: String...) -> String { command(words) }

  /// A word as a shell reads it back.
  ///
  /// Line breaks and whatever else a terminal obeys are written as bash, zsh and ksh read them in `$'…'`: as
  /// they are, they would not survive being printed and pasted.
  package static func quoted(_ word: String) -> String {
    if word.unicodeScalars.contains(where: \.isObeyed) {
      let text = word.unicodeScalars.map { scalar in
        switch scalar {
        case "\n": "\\n"
        case "\t": "\\t"
        case "'", "\\": "\\\(scalar)"
        case _ where scalar.isObeyed:
          String(scalar).utf8.map { byte in
            let digits = String(byte, radix: 8)
            return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
          }.joined()
        default: String(scalar)
        }
      }
      return "$'" + text.joined() + "'"
    }
    let isPlain = word.allSatisfy {
      $0.isASCII && ($0.isLetter || $0.isNumber) || "/.-_@:+=,".contains($0)
    }
    if isPlain && !word.isEmpty { return word }
    return "'"
      + word.split(separator: "'", omittingEmptySubsequences: false)
      .joined(separator: "'\\''") + "'"
  }
}
