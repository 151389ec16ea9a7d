/// The calls of `uuid()` in expressions: each of a recipe gets a number, so that no two of them
/// give one row the same UUID.
enum UUIDCalls {
  /// The expression with a number in every `uuid()`.
  static func numbered(_ text: String, _ next: inout Int) -> String {
    var bytes = Array(text.utf8)
    // From the end, so that places before stay right.
    let places = calls(in: text).filter { $0.number == nil }.map(\.place)
    let first = next
    next += places.count
    for (offset, place) in places.enumerated().reversed() {
      bytes.insert(contentsOf: String(first + offset).utf8, at: place)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The numbers that calls have already.
  static func numbers(in text: String) -> [Int] { calls(in: text).compactMap(\.number) }

  /// Where the number of each call stands or belongs.
  private static func calls(in text: String) -> [(number: Int?, place: Int)] {
    guard let tokens = try? SQLTokenizer.tokens(of: text) else { return [] }
    return tokens.indices.compactMap { index in
      guard tokens[index].word == "UUID", index + 2 < tokens.count, tokens[index + 1].isSymbol("(")
      else { return nil }
      let argument = tokens[index + 2]
      if argument.isSymbol(")") { return (nil, argument.range.lowerBound) }
      guard let number = Int(argument.text), (0..<1_000_000).contains(number) else { return nil }
      return (number, argument.range.lowerBound)
    }
  }
}
