import ManagedModel

/// Distinguishes properties, functions and words of SQL.
struct SQLExpressionReader {
  let text: String
  let tokens: [SQLToken]
  let entity: String
  let model: Model
  let variables: Set<String>

  private(set) var index = 0
  private(set) var parts: [SQLExpression.Located] = []
  private(set) var uuids = 0
  /// Open parentheses: where, the function before, and how many arguments and tokens so far.
  private(set) var open: [Call] = []

  struct Call {
    var range: Range<Int>
    var function: String?
    var commas = 0
    var first: Int
  }

  private func wrong(_ message: String, _ range: Range<Int>, hint: String? = nil) -> CoreDataError {
    CoreDataError(.usage, message, hint: hint, mark: TextMark(text, range))
  }

  private func token(_ offset: Int = 0) -> SQLToken? {
    tokens.indices.contains(index + offset) ? tokens[index + offset] : nil
  }

  mutating func read() throws -> [SQLExpression.Located] {
    while let token = token() {
      switch token.kind {
      case .string, .number, .blob: take(.sql(token.text), token.range)
      case .quotedName: try property()
      case .name(let name): try self.name(name, token)
      case .symbol: try symbol(token)
      }
    }
    if let call = open.last { throw wrong("“(” is not closed", call.range) }
    return parts
  }

  private mutating func take(_ part: SQLExpression.Part, _ range: Range<Int>, tokens: Int = 1) {
    parts.append(SQLExpression.Located(part: part, range: range))
    index += tokens
  }

  private mutating func symbol(_ token: SQLToken) throws {
    switch token.text {
    case "(":
      let function: String? =
        if index > 0, case .name(let name) = tokens[index - 1].kind, SQLVocabulary.isFunction(name)
        { name.lowercased() } else { nil }
      open.append(Call(range: token.range, function: function, first: index + 1))
      guard open.count <= SQLExpression.maximumDepth else {
        throw wrong("the expression is nested too deeply", token.range)
      }
    case ")":
      guard let call = open.popLast() else { throw wrong("unmatched “)”", token.range) }
      try check(call)
      if call.function == "max" || call.function == "min", call.commas == 0 {
        throw wrong(
          "max and min of one value would be over many rows", call.range,
          hint: "Give two values or more.")
      }
    case ",":
      guard !open.isEmpty else { throw wrong("an expression has one value", token.range) }
      try check(open[open.count - 1])
      open[open.count - 1].commas += 1
      open[open.count - 1].first = index + 1
    case ".": throw wrong("a name is missing before “.”", token.range)
    default: break
    }
    take(.sql(token.text), token.range)
  }

  /// Patterns that stand in the expression are read now, not with the first row.
  private func check(_ call: Call) throws {
    guard call.commas == 1, index == call.first + 1,
      case .string(let pattern) = tokens[call.first].kind
    else { return }
    do {
      switch call.function {
      case "parse_date", "format_date": _ = try DatePattern(pattern)
      case "regex_replace":
        _ = try TextPattern(matching: pattern, ignoringCase: false, ignoringMarks: false)
      default: break
      }
    } catch let error as CoreDataError {
      throw wrong(error.message, tokens[call.first].range, hint: error.hint)
    }
  }

  private mutating func name(_ name: String, _ token: SQLToken) throws {
    let isCall = self.token(1)?.isSymbol("(") == true
    if isCall {
      switch name.lowercased() {
      case "count": return try count(token)
      case "uuid": return try uuid(token)
      default: break
      }
      if SQLVocabulary.isFunction(name) { return take(.sql(name.lowercased()), token.range) }
    } else if variables.contains(name) || isProperty(name) {
      return try property()
    }
    if let word = token.word, SQLVocabulary.keywords.contains(word) {
      return take(.sql(word), token.range)
    }
    if let advice = SQLVocabulary.advice(on: name) {
      throw wrong("“\(name)” cannot be used in a recipe", token.range, hint: advice)
    }
    if isCall {
      let known = SQLVocabulary.functions.union(SQLVocabulary.ours).union(["count", "uuid"])
      throw wrong(
        "there is no function “\(name)”", token.range,
        hint: Nearest.question(name.lowercased(), in: known.sorted())
          ?? "Available: SQLite's own that depend on nothing else, and "
          + SQLVocabulary.ours.union(["uuid"]).sorted().joined(separator: ", "))
    }
    throw unknown(name, in: entity, token.range)
  }

  /// A name or path of names, at the first of them.
  private mutating func path() throws -> (names: [(text: String, range: Range<Int>)], Int) {
    var names: [(text: String, range: Range<Int>)] = []
    var offset = 0
    while let token = token(offset) {
      switch token.kind {
      case .name(let name), .quotedName(let name): names.append((name, token.range))
      default: throw wrong("a name is missing after “.”", token.range)
      }
      guard self.token(offset + 1)?.isSymbol(".") == true else { return (names, offset + 1) }
      offset += 2
    }
    let end = text.utf8.count
    throw wrong("a name is missing after “.”", end..<end)
  }

  private mutating func property() throws {
    let (names, count) = try path()
    guard let first = names.first, let last = names.last else { return }
    let range = first.range.lowerBound..<last.range.upperBound
    if names.count == 1, variables.contains(first.text) {
      return take(.variable(first.text), range, tokens: count)
    }
    let (holder, rest) = try place(of: names)
    let name = rest.map(\.text).joined(separator: ".")
    if let relationship = model.relationship(named: name, of: holder), !relationship.isTransient {
      guard !relationship.isToMany else {
        let path = names.map(\.text).joined(separator: ".")
        throw wrong(
          "“\(last.text)” is to-many", last.range,
          hint: "Use count(\(path)) for how many.")
      }
    } else if !isAttribute(name, of: holder) {
      throw unknown(name, in: holder, (rest.first ?? last).range.lowerBound..<range.upperBound)
    }
    take(.property(names.map(\.text)), range, tokens: count)
  }

  /// The entity that the relationships of a path lead to, and what is behind them: a property, or
  /// the names of a composite attribute and its elements.
  private func place(
    of names: [(text: String, range: Range<Int>)]
  ) throws -> (holder: String, rest: ArraySlice<(text: String, range: Range<Int>)>) {
    var holder = entity
    for (index, name) in names.enumerated().dropLast() {
      if model.attribute(named: name.text, of: holder)?.type == .composite {
        return (holder, names[index...])
      }
      holder = try self.holder(of: [name], from: holder)
    }
    return (holder, names.suffix(1))
  }

  /// The entity that a path of to-one relationships leads to.
  private func holder(
    of names: ArraySlice<(text: String, range: Range<Int>)>, from entity: String
  ) throws -> String {
    var holder = entity
    for name in names {
      let relationship = try relationship(name, of: holder) {
        "“\($0)” is an attribute: nothing can follow it"
      }
      guard !relationship.isToMany else {
        throw wrong(
          "“\(name.text)” is to-many", name.range,
          hint: "A key path goes through to-one relationships.")
      }
      holder = relationship.destination
    }
    return holder
  }

  private func relationship(
    _ name: (text: String, range: Range<Int>), of holder: String,
    orAttribute message: (String) -> String
  ) throws -> Relationship {
    if let found = model.relationship(named: name.text, of: holder), !found.isTransient {
      return found
    }
    if isAttribute(name.text, of: holder) { throw wrong(message(name.text), name.range) }
    throw unknown(name.text, in: holder, name.range)
  }

  private mutating func count(_ function: SQLToken) throws {
    index += 2
    guard let token = token(), !token.isSymbol(")"), !token.isSymbol("*") else {
      throw wrong(
        "count takes a relationship", function.range,
        hint: "count(tags) is how many tags the row's object has.")
    }
    guard token.kind != .symbol else { throw wrong("count takes a relationship", token.range) }
    let (names, length) = try path()
    guard let last = names.last else { return }
    let holder = try self.holder(of: names.dropLast(), from: entity)
    _ = try relationship(last, of: holder) {
      "count takes a relationship, and “\($0)” is an attribute"
    }
    index += length
    guard let close = self.token(), close.isSymbol(")") else {
      throw wrong("count takes one relationship", last.range)
    }
    take(.count(names.map(\.text)), function.range.lowerBound..<close.range.upperBound)
  }

  private mutating func uuid(_ function: SQLToken) throws {
    let argument = token(2)
    if let close = argument, close.isSymbol(")") {
      // A recipe numbers its own; several in one expression are distinguished by their order.
      take(.uuid(-uuids), function.range.lowerBound..<close.range.upperBound, tokens: 3)
    } else if let argument, argument.kind == .number, let number = Int(argument.text),
      number < 1_000_000, let close = token(3), close.isSymbol(")")
    {
      take(.uuid(number), function.range.lowerBound..<close.range.upperBound, tokens: 4)
    } else {
      throw wrong(
        "uuid takes no argument, or a whole number that distinguishes it from others",
        function.range)
    }
    uuids += 1
  }

  private func isProperty(_ name: String) -> Bool {
    model.relationship(named: name, of: entity) != nil || isAttribute(name, of: entity)
      || model.attribute(named: name, of: entity)?.type == .composite
  }

  private func isAttribute(_ name: String, of entity: String) -> Bool {
    model.storedAttributes(of: entity).contains { $0.name == name }
  }

  private func unknown(_ name: String, in entity: String, _ range: Range<Int>) -> CoreDataError {
    if let composite = model.attribute(at: name, of: entity), composite.type == .composite {
      let refusal = composite.withoutElement
      return wrong(refusal.message, range, hint: refusal.hint)
    }
    if model.declares(name, atOrAbove: entity) {
      return wrong("the store has no column for \(entity).\(name)", range)
    }
    let known = model.names(of: .property, in: entity) + variables.sorted()
    let unknown = UnknownName("property", name, of: entity, known: known)
    return wrong(
      unknown.message, range,
      hint: Nearest.question(name, in: known)
        ?? unknown.hint.map { $0 + ". Text goes in single quotes." })
  }
}
