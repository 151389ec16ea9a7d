import Terminal

/// Colour for lines of text, by the roles of themes: the sixteen colours that a person's own terminal
/// gives a look to, since nobody knows on what background the line will stand.
///
/// A line has the colour of the sign it begins with: every fact is told by a sign or a word first.
enum LineColor {
  private static let signs: [(sign: Character, role: Theme.Role)] = [
    ("✓", .success), ("✗", .error), ("!", .warning), ("+", .added), ("−", .removed),
    ("~", .changed),
  ]
  private static let heads: [(head: String, role: Theme.Role)] = [
    ("strata:", .error), ("refused", .error), ("warning:", .warning), ("note:", .dim),
    ("lost", .changed), ("deleted, as the recipe says", .dim),
  ]

  /// Codes of Select Graphic Rendition.
  private static let codes: [Theme.Role: String] = [
    .success: "32", .error: "1;31", .warning: "33", .added: "32", .removed: "31", .changed: "33",
    .dim: "2", .columnTitle: "1", .title: "1",
  ]

  static func role(of line: String) -> Theme.Role? {
    let text = line.drop { $0 == " " }
    if let first = text.first, let found = signs.first(where: { $0.sign == first }),
      text.dropFirst().first.map({ $0 == " " }) ?? true
    {
      return found.role
    }
    // Words count only where a line begins: further in they are somebody's text.
    return text.startIndex == line.startIndex
      ? heads.first { text.hasPrefix($0.head) }?.role : nil
  }

  /// Text that was sanitised, between the codes of a role.
  static func paint(_ text: String, _ role: Theme.Role) -> String {
    codes[role].map { "\u{1B}[\($0)m\(text)\u{1B}[0m" } ?? text
  }
}

/// When text is coloured.
enum ColorChoice: String, CaseIterable {
  case auto, always, never

  /// What the words of a command line ask for; the last `--color` counts.
  init(_ words: [String]) {
    self = .auto
    for (index, word) in words.prefix(while: { $0 != "--" }).enumerated() {
      let value =
        word == "--color"
        ? words.dropFirst(index + 1).first
        : word.hasPrefix("--color=") ? String(word.dropFirst(8)) : nil
      if let choice = value.flatMap(ColorChoice.init(rawValue:)) { self = choice }
    }
  }

  /// - Parameter environment: `NO_COLOR` always wins; a dumb terminal has none of its own accord.
  func applies(toTerminal isTerminal: Bool, environment: (String) -> String?) -> Bool {
    if let noColor = environment("NO_COLOR"), !noColor.isEmpty { return false }
    switch self {
    case .always: return true
    case .never: return false
    case .auto: return isTerminal && environment("TERM").map { $0 != "dumb" && $0 != "" } == true
    }
  }
}
