/// A regular expression whose matches are replaced, in the dialect of
/// ``TextPattern/init(matching:ignoringCase:ignoringMarks:notesGroups:)``.
package struct TextReplacement: Sendable {
  /// Steps that one text may take: a second or so. Most texts need some for each character; a pattern
  /// such as `a.*b|a` can need the text's square.
  static let maximumSteps = 10_000_000

  private let pattern: TextPattern

  /// - Throws: ``CoreDataError`` of kind usage for a pattern of another dialect.
  package init(pattern: String) throws(CoreDataError) {
    self.pattern = try TextPattern(
      matching: pattern, ignoringCase: false, ignoringMarks: false, notesGroups: true)
  }

  /// The text with every match replaced.
  ///
  /// - Parameter template: `$0` stands for the match, `$1`, `$2` … for what groups took, empty
  ///   where they took no part; a backslash makes the next character stand for itself.
  /// - Returns: `nil` where it would take too long.
  package func replacing(in text: String, with template: String) -> String? {
    let scalars = Array(text.unicodeScalars)
    // Case is ignored letter by letter: folding the text as a whole could change its length.
    let searched = pattern.ignoringCase ? scalars.map(Self.lowercased) : scalars
    let pieces = Self.pieces(template, groups: pattern.groups)
    var result = String.UnicodeScalarView()
    var budget = Self.maximumSteps
    var place = 0
    while place <= scalars.count {
      guard
        let match = pattern.firstMatch(in: searched, from: place, budget: &budget),
        let whole = match.first ?? nil
      else {
        guard budget > 0 else { return nil }
        break
      }
      result.append(contentsOf: scalars[place..<whole.lowerBound])
      for piece in pieces {
        switch piece {
        case .literal(let literal): result.append(contentsOf: literal)
        case .group(let number):
          if match.indices.contains(number), let range = match[number] {
            result.append(contentsOf: scalars[range])
          }
        }
      }
      place = whole.upperBound
      if whole.isEmpty {
        if place < scalars.count { result.append(scalars[place]) }
        place += 1
      }
      // Many matches with a long replacement could fill the memory.
      budget -= 1 + template.utf8.count
    }
    if place < scalars.count { result.append(contentsOf: scalars[place...]) }
    return String(result)
  }

  private enum Piece {
    case literal([Unicode.Scalar])
    case group(Int)
  }

  private static func pieces(_ template: String, groups: Int) -> [Piece] {
    var pieces: [Piece] = []
    var literal: [Unicode.Scalar] = []
    var rest = Array(template.unicodeScalars)[...]
    while let scalar = rest.popFirst() {
      if scalar == "\\", let next = rest.popFirst() {
        literal.append(next)
      } else if scalar == "$", let digit = rest.first.flatMap(value) {
        rest.removeFirst()
        var number = digit
        // As many digits as there are groups for.
        while let digit = rest.first.flatMap(value), number * 10 + digit <= groups {
          number = number * 10 + digit
          rest.removeFirst()
        }
        pieces.append(.literal(literal))
        pieces.append(.group(number))
        literal = []
      } else {
        literal.append(scalar)
      }
    }
    return pieces + [.literal(literal)]
  }

  private static func value(_ digit: Unicode.Scalar) -> Int? {
    ("0"..."9").contains(digit) ? Int(digit.value) - 48 : nil
  }

  private static func lowercased(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    let lower = scalar.properties.lowercaseMapping.unicodeScalars
    return lower.count == 1 ? lower.first ?? scalar : scalar
  }
}
