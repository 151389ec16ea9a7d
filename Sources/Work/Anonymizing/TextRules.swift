import ManagedModel

/// What a model asks of the texts of an attribute, which holds for their replacements if it holds for them.
final class TextRules {
  private let patterns: [TextPattern]
  /// Texts that a rule names, and the default: they stay where they stand.
  private let constants: [[Unicode.Scalar]]
  private let wholes: Set<[UInt8]>
  private var known: [[UInt8]: String] = [:]
  private static let mostKnown = 50_000
  /// Longer texts are not fitted to a pattern.
  private static let longest = 256

  /// - Returns: `nil` where an attribute has no rule that lengths alone do not keep.
  init?(_ attribute: Attribute) {
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

  /// - Parameter replacing: makes another text in which characters in some places stay.
  func replaced(_ text: String, _ replacing: (String, Set<Int>) -> String) -> String {
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

  private func fitted(_ text: String, _ replacing: (String, Set<Int>) -> String) -> String {
    let scalars = Array(text.unicodeScalars)
    let kept = constantPlaces(in: scalars)
    let plain = replacing(text, kept)
    let asked = patterns.filter { $0.matches(text) }
    guard !asked.isEmpty, scalars.count <= Self.longest, !asked.allSatisfy({ $0.matches(plain) })
    else { return plain }
    // Places in which a pattern does not take what would stand there stay, from the front.
    var result = scalars
    var fixed = kept
    let other = Array(plain.unicodeScalars)
    guard other.count == scalars.count else { return plain }
    for place in scalars.indices where !kept.contains(place) {
      let former = result[place]
      let choices = [other[place]] + Self.choices(near: former, after: other[place])
      let taken = choices.first { choice in
        guard choice != former else { return false }
        result[place] = choice
        let isTaken = asked.allSatisfy { $0.matches(Self.text(result)) }
        result[place] = former
        return isTaken
      }
      if let taken { result[place] = taken } else { fixed.insert(place) }
    }
    return Self.text(result)
  }

  /// Characters of the alphabet, beginning behind one of it.
  private static func choices(
    near scalar: Unicode.Scalar, after other: Unicode.Scalar
  ) -> [Unicode.Scalar] {
    let alphabets: [TextShape.Alphabet] = [
      .digit, .letter(isUpper: true), .letter(isUpper: false),
    ]
    guard let alphabet = alphabets.first(where: { $0.place(of: scalar) != nil }) else { return [] }
    let start = alphabet.place(of: other) ?? 0
    return (1..<alphabet.count).map { alphabet.scalar((start + $0) % alphabet.count) }
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
  var comparisons: [Comparison] {
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
  var numbers: [Double] {
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
