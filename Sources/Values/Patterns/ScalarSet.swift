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
