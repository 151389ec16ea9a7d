/// Makes texts that a regular expression takes.
///
/// Of what is repeated without end a few are made, and of a set the plain letters and digits that are
/// in it, if there are any.
package struct PatternSampler: Sendable {
  private indirect enum Node: Sendable {
    case text(String)
    case set([Unicode.Scalar])
    case sequence([Node])
    case either([Node])
    case repeated(Node, least: Int, most: Int)
  }

  private let root: Node
  private let pattern: TextPattern
  /// How many texts can be made, as far as 2⁶⁰.
  package let count: UInt64

  private static let limit: UInt64 = 1 << 60
  /// Longest text: patterns of repetitions within repetitions know no end.
  private static let longest = 4096

  /// - Throws: ``CoreDataError`` of kind usage for a pattern that ``TextPattern`` does not know.
  package init(matching text: String) throws(CoreDataError) {
    pattern = try TextPattern(matching: text, ignoringCase: false, ignoringMarks: false)
    var parser = PatternParser(text)
    root = Self.node(try parser.whole())
    count = Self.size(of: root)
  }

  /// One of the texts; `nil` where none was found that the pattern takes.
  package func text(using random: inout some RandomNumberGenerator) -> String? {
    for _ in 0..<20 {
      var text = ""
      Self.write(root, to: &text, using: &random)
      if pattern.matches(text) { return text }
    }
    return nil
  }

  /// The text of a number below ``count``: another for each, unless the pattern takes a text in two
  /// ways; `nil` where the pattern does not take it.
  package func text(numbered number: UInt64) -> String? {
    var (text, rest) = ("", number)
    Self.write(root, to: &text, number: &rest)
    return pattern.matches(text) ? text : nil
  }

  /// Whether the pattern takes a text.
  package func matches(_ text: String) -> Bool { pattern.matches(text) }

  private static func node(_ node: PatternNode) -> Node {
    switch node {
    case .empty, .start, .end, .boundary: .text("")
    case .text(let text): .text(text)
    case .set(let set): .set(scalars(in: set))
    case .sequence(let parts): .sequence(parts.map(Self.node))
    case .either(let parts): .either(parts.map(Self.node))
    case .group(_, let part): Self.node(part)
    case .repeated(let part, let least, let most, _):
      .repeated(
        Self.node(part), least: least,
        most: min(most ?? .max, max(least, least < 2 ? least + 7 : least + 3)))
    }
  }

  private static func scalars(in set: ScalarSet) -> [Unicode.Scalar] {
    if case .only(let scalar) = set { return [scalar] }
    let plain = (0x20...0x7E as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init)
      .filter { set.contains($0) }
    // A set that leaves something out leaves much in: of that, what people write.
    let words = plain.filter(ScalarSet.isWord)
    if isOpen(set), !words.isEmpty { return words }
    if !plain.isEmpty { return plain }
    var found: [Unicode.Scalar] = []
    var number: UInt32 = 0
    while number < 0x3_0000, found.count < 64 {
      if let scalar = Unicode.Scalar(number), set.contains(scalar) { found.append(scalar) }
      number += 1
    }
    return found
  }

  private static func isOpen(_ set: ScalarSet) -> Bool {
    switch set {
    case .all, .anyButNewline, .not: true
    case .union(let parts): parts.contains(where: isOpen)
    default: false
    }
  }

  private static func size(of node: Node) -> UInt64 {
    switch node {
    case .text: return 1
    case .set(let scalars): return UInt64(scalars.count)
    case .sequence(let parts): return parts.reduce(1) { product($0, size(of: $1)) }
    case .either(let parts): return parts.reduce(0) { min(limit, $0 + size(of: $1)) }
    case .repeated(let part, let least, let most):
      let one = size(of: part)
      var (sum, power): (UInt64, UInt64) = (0, 1)
      for times in 0...max(0, most) {
        if times >= least { sum = min(limit, sum + power) }
        power = product(power, one)
      }
      return sum
    }
  }

  private static func product(_ one: UInt64, _ other: UInt64) -> UInt64 {
    let (product, overflow) = one.multipliedReportingOverflow(by: other)
    return overflow ? limit : min(limit, product)
  }

  private static func write(
    _ node: Node, to text: inout String, using random: inout some RandomNumberGenerator
  ) {
    guard text.utf8.count < longest else { return }
    switch node {
    case .text(let part): text += part
    case .set(let scalars):
      if let scalar = scalars.randomElement(using: &random) { text.unicodeScalars.append(scalar) }
    case .sequence(let parts): for part in parts { write(part, to: &text, using: &random) }
    case .either(let parts):
      if let part = parts.randomElement(using: &random) { write(part, to: &text, using: &random) }
    case .repeated(let part, let least, let most):
      for _ in 0..<Int.random(in: least...max(least, most), using: &random) {
        write(part, to: &text, using: &random)
      }
    }
  }

  private static func write(_ node: Node, to text: inout String, number: inout UInt64) {
    guard text.utf8.count < longest else { return }
    switch node {
    case .text(let part): text += part
    case .set(let scalars):
      guard !scalars.isEmpty else { return }
      let count = UInt64(scalars.count)
      text.unicodeScalars.append(scalars[Int(number % count)])
      number /= count
    case .sequence(let parts): for part in parts { write(part, to: &text, number: &number) }
    case .either(let parts):
      let all = max(1, size(of: node))
      var own = number % all
      number /= all
      for part in parts {
        let size = size(of: part)
        if own < size { return write(part, to: &text, number: &own) }
        own -= size
      }
    case .repeated(let part, let least, let most):
      // What is left of the number after this belongs to what follows.
      let all = max(1, size(of: node))
      let one = size(of: part)
      var (own, times, power) = (number % all, least, UInt64(1))
      number /= all
      for _ in 0..<least { power = product(power, one) }
      while own >= power, times < most {
        own -= power
        power = product(power, one)
        times += 1
      }
      for _ in 0..<times { write(part, to: &text, number: &own) }
    }
  }
}
