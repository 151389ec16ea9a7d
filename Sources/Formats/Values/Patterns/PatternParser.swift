/// A regular expression as its parts.
indirect enum PatternNode: Sendable {
  case empty
  case text(String)
  case set(ScalarSet)
  case start
  case end
  /// `\b` when true, `\B` when false.
  case boundary(Bool)
  case sequence([PatternNode])
  case either([PatternNode])
  /// Lazy: as few as will do, which matters only to where a match ends.
  case repeated(PatternNode, least: Int, most: Int?, isLazy: Bool)
  /// What `$1`, `$2` … of a replacement stand for.
  case group(Int, PatternNode)
}

/// Reads the dialect that ``TextPattern/init(matching:)`` describes; depth and size are bounded.
struct PatternParser {
  private var rest: Substring.UnicodeScalarView
  private(set) var ignoringCase = false
  private var depth = 0
  /// Groups that `$1`, `$2` … stand for.
  private(set) var groups = 0

  init(_ pattern: String) {
    rest = pattern[...].unicodeScalars
    if rest.starts(with: "(?i)".unicodeScalars) {
      rest.removeFirst(4)
      ignoringCase = true
    }
  }

  mutating func whole() throws(CoreDataError) -> PatternNode {
    guard rest.count <= 10_000 else { throw TextPattern.tooLarge }
    let node = try alternatives()
    guard rest.isEmpty else { throw wrong("a unmatched “)”") }
    return node
  }

  private func wrong(_ message: String) -> CoreDataError {
    CoreDataError(.usage, "the pattern is not understood: \(message)")
  }

  private mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
    guard rest.first == scalar else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func alternatives() throws(CoreDataError) -> PatternNode {
    depth += 1
    defer { depth -= 1 }
    guard depth < 50 else { throw wrong("it is nested too deeply") }
    var parts = [try sequence()]
    while skip("|") { parts.append(try sequence()) }
    return parts.count == 1 ? parts[0] : .either(parts)
  }

  private mutating func sequence() throws(CoreDataError) -> PatternNode {
    var parts: [PatternNode] = []
    while let first = rest.first, first != "|", first != ")" {
      let atom = try atom()
      parts.append(try quantified(atom))
    }
    return parts.count == 1 ? parts[0] : .sequence(parts)
  }

  private mutating func quantified(_ atom: PatternNode) throws(CoreDataError) -> PatternNode {
    var node = atom
    var isQuantified = false
    while let first = rest.first {
      let bounds: (Int, Int?)
      switch first {
      case "*": bounds = (0, nil)
      case "+": bounds = (1, nil)
      case "?": bounds = (0, 1)
      case "{": bounds = try counts()
      default: return node
      }
      if first != "{" { rest.removeFirst() }
      guard !isQuantified else { throw wrong("a repetition of a repetition") }
      isQuantified = true
      node = .repeated(node, least: bounds.0, most: bounds.1, isLazy: skip("?"))
      if rest.first == "+" { throw wrong("possessive repetition is not supported") }
    }
    return node
  }

  private mutating func counts() throws(CoreDataError) -> (Int, Int?) {
    rest.removeFirst()
    guard let least = number(), least <= 1000 else { throw wrong("“{” needs a number up to 1000") }
    var most: Int? = least
    if skip(",") {
      most = number()
      if let most, most < least || most > 1000 { throw wrong("the counts in “{}” are wrong") }
    }
    guard skip("}") else { throw wrong("“{” is not closed") }
    return (least, most)
  }

  private mutating func number() -> Int? {
    let digits = rest.prefix { ("0"..."9").contains($0) }.prefix(6)
    rest.removeFirst(digits.count)
    return Int(String(digits))
  }

  private mutating func atom() throws(CoreDataError) -> PatternNode {
    let first = rest.removeFirst()
    switch first {
    case ".": return .set(.anyButNewline)
    case "^": return .start
    case "$": return .end
    case "[": return .set(try bracket())
    case "(":
      var group: Int?
      if skip("?") {
        // (?<name>…) is a group like any other; (?<=…) and (?<!…) look behind.
        if skip("<"), let letter = rest.first, letter != "=", letter != "!" {
          guard let close = rest.firstIndex(of: ">") else { throw wrong("“(?<” is not closed") }
          rest = rest[rest.index(after: close)...]
          groups += 1
          group = groups
        } else if !skip(":") {
          throw wrong("look-around, atomic groups and inner flags are not supported")
        }
      } else {
        groups += 1
        group = groups
      }
      let inner = try alternatives()
      guard skip(")") else { throw wrong("“(” is not closed") }
      return group.map { .group($0, inner) } ?? inner
    case "*", "+", "?", "{": throw wrong("“\(first)” repeats nothing")
    case "\\":
      if skip("Q") { return quotation() }
      if skip("A") { return .start }
      if skip("z") || skip("Z") { return .end }
      if skip("b") { return .boundary(true) }
      if skip("B") { return .boundary(false) }
      let set = try escape()
      if case .only(let scalar) = set { return .text(String(scalar)) }
      return .set(set)
    default: return .text(String(first))
    }
  }

  /// What stands between `\Q` and `\E`, as it is.
  private mutating func quotation() -> PatternNode {
    var text = String.UnicodeScalarView()
    while let first = rest.popFirst() {
      if first == "\\", skip("E") { break }
      text.append(first)
    }
    return text.isEmpty
      ? .empty : .sequence(String(text).unicodeScalars.map { .text(String($0)) })
  }

  private mutating func escape() throws(CoreDataError) -> ScalarSet {
    guard let letter = rest.popFirst() else { throw wrong("it ends with a backslash") }
    switch letter {
    case "d": return .digit
    case "D": return .not(.digit)
    case "w": return .word
    case "W": return .not(.word)
    case "s": return .space
    case "S": return .not(.space)
    case "h": return .horizontalSpace
    case "H": return .not(.horizontalSpace)
    case "t": return .only("\t")
    case "n": return .only("\n")
    case "r": return .only("\r")
    case "f": return .only("\u{0C}")
    case "e": return .only("\u{1B}")
    case "a": return .only("\u{07}")
    case "u": return .only(try hexadecimal(4))
    case "x":
      guard rest.first == "{" else { return .only(try hexadecimal(2)) }
      rest.removeFirst()
      let digits = rest.prefix { $0 != "}" }
      guard digits.count <= 6, let value = UInt32(String(digits), radix: 16),
        let scalar = Unicode.Scalar(value)
      else { throw wrong("“\\x{” needs a character's number") }
      rest.removeFirst(digits.count)
      guard skip("}") else { throw wrong("“\\x{” is not closed") }
      return .only(scalar)
    case "p", "P":
      guard skip("{"), let close = rest.firstIndex(of: "}") else {
        throw wrong("“\\p” needs a category in braces")
      }
      let name = String(rest[..<close])
      rest = rest[rest.index(after: close)...]
      guard ScalarSet.categories.contains(name) else {
        throw wrong("the category “\(name.prefix(40))” is not known")
      }
      return letter == "p" ? .category(name) : .not(.category(name))
    case "0"..."9", "k": throw wrong("back-references are not supported")
    case "a"..."z", "A"..."Z": throw wrong("“\\\(letter)” is not supported")
    default: return .only(letter)
    }
  }

  private mutating func hexadecimal(_ count: Int) throws(CoreDataError) -> Unicode.Scalar {
    let digits = rest.prefix(count)
    guard digits.count == count, let value = UInt32(String(digits), radix: 16),
      let scalar = Unicode.Scalar(value)
    else { throw wrong("a character's number needs \(count) hexadecimal digits") }
    rest.removeFirst(count)
    return scalar
  }

  private mutating func bracket() throws(CoreDataError) -> ScalarSet {
    let isNegated = skip("^")
    var parts: [ScalarSet] = []
    var isFirst = true
    while true {
      guard let next = rest.popFirst() else { throw wrong("“[” is not closed") }
      if next == "]", !isFirst { break }
      isFirst = false
      if next == "[" || (next == "&" && rest.first == "&") {
        throw wrong("sets of sets are not supported")
      }
      let item = next == "\\" ? try escape() : .only(next)
      guard case .only(let low) = item, rest.first == "-",
        let after = rest.dropFirst().first, after != "]"
      else {
        parts.append(item)
        continue
      }
      rest.removeFirst()
      let upper = rest.removeFirst()
      let end = upper == "\\" ? try escape() : .only(upper)
      guard case .only(let high) = end, low <= high else {
        throw wrong("a range in “[]” runs backwards")
      }
      parts.append(.range(low...high))
    }
    if ignoringCase {
      parts += parts.compactMap { part in
        guard case .only(let scalar) = part else { return nil }
        let lower = scalar.properties.lowercaseMapping.unicodeScalars
        return lower.count == 1 ? lower.first.map { .only($0) } : nil
      }
    }
    return isNegated ? .not(.union(parts)) : .union(parts)
  }
}

/// The characters that one place of a pattern takes.
indirect enum ScalarSet: Sendable {
  /// Everything, line ends too.
  case all
  /// Everything but line ends: ICU's `.`.
  case anyButNewline
  case only(Unicode.Scalar)
  case range(ClosedRange<Unicode.Scalar>)
  case digit
  case word
  case space
  case horizontalSpace
  /// Unicode general categories by their short names: `L` takes `Lu`, `Ll` …
  case category(String)
  case union([ScalarSet])
  case not(ScalarSet)

  func contains(_ scalar: Unicode.Scalar, ignoringCase: Bool = false) -> Bool {
    switch self {
    case .all: return true
    case .anyButNewline: return !["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"].contains(scalar)
    case .only(let one): return one == scalar
    case .range(let range):
      if range.contains(scalar) { return true }
      // The text is folded already: `[A-Z]` must still take its letters.
      guard ignoringCase else { return false }
      let upper = scalar.properties.uppercaseMapping.unicodeScalars
      return upper.count == 1 && upper.first.map(range.contains) == true
    case .digit: return scalar.properties.generalCategory == .decimalNumber
    case .word: return Self.isWord(scalar)
    case .space: return scalar.properties.isWhitespace
    case .horizontalSpace:
      return scalar == "\t" || scalar.properties.generalCategory == .spaceSeparator
    case .category(let name):
      let own = Self.name(of: scalar.properties.generalCategory)
      // Folded text has lost its upper case, and the pattern does not mind.
      if ignoringCase, name == "Lu" || name == "Lt" { return own == "Ll" || own == name }
      return own.hasPrefix(name)
    case .union(let parts):
      return parts.contains { $0.contains(scalar, ignoringCase: ignoringCase) }
    case .not(let part): return !part.contains(scalar, ignoringCase: ignoringCase)
    }
  }

  static func isWord(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value < 0x80 {
      switch scalar {
      case "a"..."z", "A"..."Z", "0"..."9", "_": return true
      default: return false
      }
    }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .connectorPunctuation:
      return true
    default: return scalar.properties.isAlphabetic
    }
  }

  static let categories: Set<String> = [
    "L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P", "Pc",
    "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S", "Sm", "Sc", "Sk", "So", "Z", "Zs", "Zl", "Zp", "C",
    "Cc", "Cf", "Cs", "Co", "Cn",
  ]

  private static func name(of category: Unicode.GeneralCategory) -> String {
    switch category {
    case .uppercaseLetter: "Lu"
    case .lowercaseLetter: "Ll"
    case .titlecaseLetter: "Lt"
    case .modifierLetter: "Lm"
    case .otherLetter: "Lo"
    case .nonspacingMark: "Mn"
    case .spacingMark: "Mc"
    case .enclosingMark: "Me"
    case .decimalNumber: "Nd"
    case .letterNumber: "Nl"
    case .otherNumber: "No"
    case .connectorPunctuation: "Pc"
    case .dashPunctuation: "Pd"
    case .openPunctuation: "Ps"
    case .closePunctuation: "Pe"
    case .initialPunctuation: "Pi"
    case .finalPunctuation: "Pf"
    case .otherPunctuation: "Po"
    case .mathSymbol: "Sm"
    case .currencySymbol: "Sc"
    case .modifierSymbol: "Sk"
    case .otherSymbol: "So"
    case .spaceSeparator: "Zs"
    case .lineSeparator: "Zl"
    case .paragraphSeparator: "Zp"
    case .control: "Cc"
    case .format: "Cf"
    case .surrogate: "Cs"
    case .privateUse: "Co"
    default: "Cn"
    }
  }
}
