import ManagedModel
import StoreTables

/// What somebody who writes SQL, or no quotes, meant by a predicate that makes no sense: says what to
/// type.
struct FilterAdvice {
  private let text: String
  private let entity: String
  private let layout: StoreLayout
  private var tokens: [(token: PredicateTokens.Token, range: Range<Int>)] = []

  init(_ text: String, entity: String, layout: StoreLayout) {
    (self.text, self.entity, self.layout) = (text, entity, layout)
    var reader = PredicateTokens(text)
    while reader.peek != .end, tokens.count < 1_000 {
      let range = reader.range
      tokens.append((reader.next(), range))
    }
  }

  /// The error, or one that knows better what is wrong.
  func improved(_ error: CoreDataError) -> CoreDataError {
    let end = error.mark?.range.upperBound ?? 0
    return nilTest(before: end, error) ?? list(before: end, error) ?? value(at: end, error) ?? error
  }

  /// What to type where a predicate that can be read takes no row; `nil` where nothing is odd.
  var doubt: String? {
    for index in tokens.indices.dropFirst() {
      guard word(index - 1) == "LIKE" || index > 3 && word(index - 4) == "LIKE",
        case .string(let pattern) = tokens[index].token, pattern.contains("%"),
        !pattern.contains("*")
      else { continue }
      return "LIKE has * and ?, not %. "
        + typed(tokens[index].range, quoted(pattern))
    }
    return nil
  }
}

extension FilterAdvice {
  private static let comparators: Set = [
    "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES",
  ]
  private static let signs: Set = ["=", "==", "!=", "<>", "<", ">", "<=", ">=", "=<", "=>"]
  private static let ends: Set = ["AND", "OR"]

  /// A word in capitals.
  private func word(_ index: Int) -> String? {
    guard tokens.indices.contains(index), case .word(let word) = tokens[index].token else {
      return nil
    }
    return word.uppercased()
  }

  private func symbol(_ index: Int) -> String? {
    guard tokens.indices.contains(index), case .symbol(let symbol) = tokens[index].token else {
      return nil
    }
    return symbol
  }

  private func source(_ range: Range<Int>) -> String { TextMark(text, range).marked }

  private func replacing(_ range: Range<Int>, by new: String) -> String {
    let bytes = Array(text.utf8)
    return String(decoding: bytes[..<range.lowerBound], as: UTF8.self) + new
      + String(decoding: bytes[range.upperBound...], as: UTF8.self)
  }

  private func typed(_ range: Range<Int>, _ new: String) -> String {
    "Type: \(replacing(range, by: new))"
  }

  private func quoted(_ pattern: String, isLike: Bool = true) -> String {
    let plain = isLike ? pattern.map { $0 == "%" ? "*" : String($0) }.joined() : pattern
    return "\"" + plain.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined() + "\""
  }

  private func wrong(
    _ message: String, _ range: Range<Int>, _ hint: String, as error: CoreDataError
  ) -> CoreDataError {
    var better = error
    (better.message, better.reason, better.hint) = (message, nil, hint)
    better.mark = TextMark(text, range)
    return better
  }

  /// `IS NULL`, as SQL has it.
  private func nilTest(before end: Int, _ error: CoreDataError) -> CoreDataError? {
    for index in tokens.indices where word(index) == "IS" && tokens[index].range.lowerBound < end {
      let isNegated = word(index + 1) == "NOT"
      let last = index + (isNegated ? 2 : 1)
      guard let null = word(last), ["NULL", "NIL"].contains(null) else { continue }
      let range = tokens[index].range.lowerBound..<tokens[last].range.upperBound
      let new = isNegated ? "!= nil" : "== nil"
      return wrong(
        "“\(source(range))” is written \(new)", range, typed(range, new), as: error)
    }
    return nil
  }

  /// Lists in the parentheses of SQL, and the limits of BETWEEN with AND between them.
  private func list(before end: Int, _ error: CoreDataError) -> CoreDataError? {
    for index in tokens.indices where tokens[index].range.lowerBound < end {
      let last: Int
      switch word(index) {
      case "IN" where symbol(index + 1) == "(":
        guard let close = tokens.indices.dropFirst(index + 2).first(where: { symbol($0) == ")" })
        else { continue }
        last = close
      case "BETWEEN" where symbol(index + 1) != "{" && word(index + 2) == "AND":
        guard tokens.indices.contains(index + 3) else { continue }
        last = index + 3
      default: continue
      }
      let range = tokens[index + 1].range.lowerBound..<tokens[last].range.upperBound
      let isText = property(before: index).map { Self.takesQuotes($0.kind) } ?? false
      let values = (index + 1...last).filter { symbol($0) == nil && word($0) != "AND" }.map {
        let value = source(tokens[$0].range)
        return isText && word($0) != nil ? quoted(value, isLike: false) : value
      }
      return wrong(
        "the values of \(source(tokens[index].range)) stand in braces", range,
        typed(range, "{" + values.joined(separator: ", ") + "}"), as: error)
    }
    return nil
  }

  /// A value without quotes, behind the last sign or word that compares.
  private func value(at end: Int, _ error: CoreDataError) -> CoreDataError? {
    guard
      let sign = tokens.indices.last(where: {
        tokens[$0].range.upperBound <= end
          && (symbol($0).map(Self.signs.contains) ?? word($0).map(Self.comparators.contains)
            ?? false)
      })
    else { return nil }
    var first = sign + 1
    if symbol(first) == "[" {
      while first < tokens.count, symbol(first) != "]" { first += 1 }
      first += 1
    }
    let rest = (first..<max(first, tokens.count)).prefix { index in
      !(word(index).map(Self.ends.contains) ?? false)
        && !(symbol(index).map { ["&&", "||", ")"].contains($0) } ?? false)
    }
    guard let last = rest.last, tokens[last].range.upperBound >= end else { return nil }
    let range = tokens[first].range.lowerBound..<tokens[last].range.upperBound
    let isPlain = rest.allSatisfy { index in
      switch tokens[index].token {
      case .string, .unclosed, .symbol("("): false
      default: true
      }
    }
    guard isPlain, rest.count > 1 || !isKnown(first) else { return nil }
    return unquoted(source(range), range, property(before: sign), word(sign) == "LIKE", error)
  }

  /// Whether a word alone has a meaning.
  private func isKnown(_ index: Int) -> Bool {
    guard let word = word(index), case .word(let path) = tokens[index].token else { return false }
    let name = path.prefix { $0 != "." }
    return ["NIL", "NULL", "SELF", "YES", "NO", "TRUE", "FALSE", "ENTITY", "KEY"].contains(word)
      || layout.model.attribute(named: String(name), of: entity) != nil
      || layout.model.relationship(named: String(name), of: entity) != nil
  }

  private static func takesQuotes(_ kind: RowColumn.Kind) -> Bool {
    switch kind {
    case .attribute(let type): [.string, .uri, .date, .uuid].contains(type)
    default: false
    }
  }

  /// The name before a comparison, with what it is.
  private func property(before sign: Int) -> (name: String, kind: RowColumn.Kind)? {
    guard tokens.indices.contains(sign - 1), case .word(let path) = tokens[sign - 1].token else {
      return nil
    }
    let names = path.split(separator: ".").map(String.init)
    var holder = entity
    for name in names.dropLast() {
      guard let next = layout.model.relationship(named: name, of: holder) else {
        return layout.model.attribute(at: path, of: entity).map { (path, .attribute($0.type)) }
      }
      holder = next.destination
    }
    guard let last = names.last else { return nil }
    if let relationship = layout.model.relationship(named: last, of: holder) {
      let destination = relationship.destination
      return (
        path,
        relationship.isToMany
          ? .toMany(destination: destination)
          : .toOne(destination: destination)
      )
    }
    return layout.model.attribute(named: last, of: holder).map { (path, .attribute($0.type)) }
  }

  private func unquoted(
    _ value: String, _ range: Range<Int>, _ property: (name: String, kind: RowColumn.Kind)?,
    _ isLike: Bool, _ error: CoreDataError
  ) -> CoreDataError? {
    let quotes = quoted(value, isLike: isLike)
    let typed = typed(range, quotes)
    switch property?.kind {
    case .attribute(.date):
      let isDate = CoreDataDate.seconds(written: value) != nil
      return wrong(
        "a date goes in quotes", range,
        isDate ? typed : "Type it as \"2024-03-01\"; now() is this moment.", as: error)
    case .attribute(.uuid): return wrong("a UUID goes in quotes", range, typed, as: error)
    case .attribute(.string), .attribute(.uri):
      // A name that is only misspelt is no text.
      guard let near = error.hint, near.hasPrefix("Did you mean") else {
        return wrong("text goes in quotes", range, typed, as: error)
      }
      return wrong(
        error.message, error.mark?.range ?? range,
        "\(near) As text: \(replacing(range, by: quotes))", as: error)
    case .toOne(let destination):
      guard let property, let table = layout.table(of: destination),
        let label = ObjectLabels().attribute(of: table, in: layout.model)
      else { return nil }
      return wrong(
        "\(property.name) references an object of \(destination)", range,
        "By an attribute of it: \(property.name).\(label) == \(quotes). By the object: \(property.name) == \"\(destination)/p1\"",
        as: error)
    default: return nil
    }
  }
}
