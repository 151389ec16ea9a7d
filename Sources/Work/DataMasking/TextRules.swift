import ManagedModel

/// What a model asks of the texts of an attribute, which holds for their replacements if it holds for them.
package final class TextRules {
  private let patterns: [TextPattern]
  /// Texts that a rule names, and the default: they stay where they stand.
  private let constants: [[Unicode.Scalar]]
  private let wholes: Set<[UInt8]>
  private var known: [[UInt8]: String] = [:]
  /// By the form of a text.
  private var choices: [[UInt8]: [Int: [Unicode.Scalar]]] = [:]
  private static let mostKnown = 50_000
  /// Longer texts are not fitted to a pattern.
  private static let longest = 256

  /// - Returns: `nil` where an attribute has no rule that lengths alone do not keep.
  package init?(_ attribute: Attribute) {
    var constants = Set<String>()
    var patterns: [TextPattern] = []
    func add(_ pattern: String, _ options: Predicate.Options = [], like isLike: Bool = false) {
      let (noCase, noMarks) = (
        options.contains(.caseInsensitive), options.contains(.diacriticInsensitive)
      )
      let compiled =
        isLike
        ? try? TextPattern(like: pattern, ignoringCase: noCase, ignoringMarks: noMarks)
        : try? TextPattern(matching: pattern, ignoringCase: noCase, ignoringMarks: noMarks)
      if let compiled { patterns.append(compiled) }
    }
    if let pattern = attribute.validation.pattern { add(pattern) }
    for text in attribute.validation.predicates {
      guard let predicate = try? Predicate(format: text) else { continue }
      for comparison in predicate.comparisons {
        let texts = comparison.right.texts + comparison.left.texts
        switch comparison.comparator {
        case .matches: for text in texts { add(text, comparison.options) }
        case .like: for text in texts { add(text, comparison.options, like: true) }
        default: constants.formUnion(texts)
        }
      }
    }
    var wholes = Set<[UInt8]>()
    if let text = attribute.defaultValue?.text { wholes.insert(Array(text.utf8)) }
    constants.remove("")
    guard !constants.isEmpty || !patterns.isEmpty || !wholes.isEmpty else { return nil }
    self.constants = constants.sorted { $0.utf8.count > $1.utf8.count }.map {
      Array($0.unicodeScalars)
    }
    (self.patterns, self.wholes) = (patterns, wholes)
  }

  /// Makes another text: characters in some places stay, and in others are only some allowed.
  typealias Replacing = (_ text: String, _ kept: Set<Int>, _ allowed: [Int: [Unicode.Scalar]]) ->
    String

  func replaced(_ text: String, _ replacing: Replacing) -> String {
    let bytes = Array(text.utf8)
    if wholes.contains(bytes) { return text }
    if let replaced = known[bytes] { return replaced }
    let result = fitted(text, replacing)
    if bytes.count <= Self.longest {
      if known.count >= Self.mostKnown { known.removeAll(keepingCapacity: true) }
      known[bytes] = result
    }
    return result
  }

  private func fitted(_ text: String, _ replacing: Replacing) -> String {
    let scalars = Array(text.unicodeScalars)
    let kept = constantPlaces(in: scalars)
    let asked = patterns.filter { $0.matches(text) }
    guard !asked.isEmpty, scalars.count <= Self.longest else { return replacing(text, kept, [:]) }
    func isTaken(_ text: String) -> Bool { asked.allSatisfy { $0.matches(text) } }
    // Texts of one form have the same choices, as a rule.
    let form = Self.form(of: scalars)
    for isNew in [false, true] {
      guard isNew || choices[form] != nil else { continue }
      let own = choices[form].flatMap { isNew ? nil : $0 } ?? Self.choices(scalars, isTaken)
      if choices.count >= Self.mostKnown { choices.removeAll() }
      choices[form] = own
      let fixed = kept.union(own.filter { $0.value.count < 2 }.keys)
      let other = replacing(text, fixed, own)
      if isTaken(other) { return other }
    }
    // The pattern takes no two of the changes together: as many as it takes, from the front.
    return greedy(scalars, Array(replacing(text, kept, [:]).unicodeScalars), isTaken)
  }

  /// In each place the characters of the alphabet that may stand there, as long as all others stay; none for a place
  /// where all may.
  private static func choices(
    _ scalars: [Unicode.Scalar], _ isTaken: (String) -> Bool
  ) -> [Int: [Unicode.Scalar]] {
    var result: [Int: [Unicode.Scalar]] = [:]
    var changed = scalars
    for place in scalars.indices {
      guard let alphabet = alphabet(of: scalars[place]) else { continue }
      let all = (0..<alphabet.count).map(alphabet.scalar)
      let taken = all.filter { choice in
        changed[place] = choice
        return choice == scalars[place] || isTaken(Self.text(changed))
      }
      changed[place] = scalars[place]
      if taken.count < all.count { result[place] = taken }
    }
    return result
  }

  private static func alphabet(of scalar: Unicode.Scalar) -> TextShape.Alphabet? {
    [.digit, .letter(isUpper: true), .letter(isUpper: false)].first { $0.place(of: scalar) != nil }
  }

  /// A text with one letter for all of an alphabet.
  private static func form(of scalars: [Unicode.Scalar]) -> [UInt8] {
    scalars.flatMap { scalar -> [UInt8] in
      switch alphabet(of: scalar) {
      case .digit: [0x30]
      case .letter(let isUpper): [isUpper ? 0x41 : 0x61]
      default: Array(String(scalar).utf8)
      }
    }
  }

  private func greedy(
    _ scalars: [Unicode.Scalar], _ other: [Unicode.Scalar], _ isTaken: (String) -> Bool
  ) -> String {
    var result = scalars
    for place in scalars.indices where other.indices.contains(place) {
      result[place] = other[place]
      if !isTaken(Self.text(result)) { result[place] = scalars[place] }
    }
    return Self.text(result)
  }

  private func constantPlaces(in scalars: [Unicode.Scalar]) -> Set<Int> {
    var places: Set<Int> = []
    for constant in constants where constant.count <= scalars.count {
      for start in 0...scalars.count - constant.count
      where scalars[start] == constant[0]
        && scalars[start..<start + constant.count].elementsEqual(constant)
      {
        places.formUnion(start..<start + constant.count)
      }
    }
    return places
  }

  private static func text(_ scalars: [Unicode.Scalar]) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view)
  }
}

extension Predicate {
  /// The comparisons that it is made of.
  package var comparisons: [Comparison] {
    switch self {
    case .comparison(let one): [one]
    case .and(let parts), .or(let parts): parts.flatMap(\.comparisons)
    case .not(let part): part.comparisons
    case .always: []
    }
  }
}

extension Expression {
  /// Texts that are written in it.
  var texts: [String] {
    constants.compactMap { if case .string(let text) = $0 { text } else { nil } }
  }

  /// Numbers and dates that are written in it.
  package var numbers: [Double] {
    constants.compactMap { constant in
      switch constant {
      case .integer(let value): Double(value)
      case .real(let value), .date(let value): value
      case .decimal(let digits): Double(digits)
      default: nil
      }
    }
  }

  private var constants: [Constant] {
    func flat(_ constant: Constant) -> [Constant] {
      if case .array(let parts) = constant { parts.flatMap(flat) } else { [constant] }
    }
    switch bare {
    case .constant(let constant): return flat(constant)
    case .aggregate(let parts): return parts.flatMap(\.constants)
    case .function(_, let receiver, let arguments):
      return (receiver?.constants ?? []) + arguments.flatMap(\.constants)
    default: return []
    }
  }
}
