import JSON
import ManagedModel

/// The text of a recipe, for errors that say where in it.
struct RecipeSource: Sendable, Equatable {
  let text: String
  let path: String
  /// Whether a person wrote the text; else nobody sees it, and places in it say nothing.
  var isWritten = true

  /// An error of the words at a range of UTF-8 bytes: its mark is their line.
  func wrong(
    _ message: String, _ range: Range<Int>, entity: String? = nil, property: String? = nil,
    hint: String? = nil
  ) -> CoreDataError {
    located(
      CoreDataError(.usage, message, entity: entity, property: property, hint: hint), at: range)
  }

  /// The error, with its place in the recipe.
  func located(_ error: CoreDataError, at range: Range<Int>) -> CoreDataError {
    guard isWritten else {
      var error = error
      error.mark = nil
      return error.at(path: path)
    }
    let bytes = Array(text.utf8)
    let place = max(0, min(range.lowerBound, bytes.count))
    let start = bytes[..<place].lastIndex(of: 10).map { $0 + 1 } ?? 0
    let end = bytes[place...].firstIndex { $0 == 10 || $0 == 13 } ?? bytes.count
    let line = bytes[..<start].count { $0 == 10 } + 1
    let column = String(decoding: bytes[start..<place], as: UTF8.self).count + 1
    var error = error
    error.message += " (line \(line), column \(column))"
    error.mark = TextMark(
      String(decoding: bytes[start..<end], as: UTF8.self),
      place - start..<max(place, min(range.upperBound, end)) - start)
    return error.at(path: path)
  }

  /// An error that marks words of a text in the recipe, such as an expression.
  func located(_ error: CoreDataError, in word: RecipeWord) -> CoreDataError {
    guard let mark = error.mark, word.isPlain else { return located(error, at: word.range) }
    // The quote comes before the text.
    let start = word.range.lowerBound + 1
    return located(error, at: start + mark.range.lowerBound..<start + mark.range.upperBound)
  }
}

extension RecipeSource {
  /// The entity of a model that a word names.
  func entity(_ word: RecipeWord, in model: Model, _ side: String) throws -> Entity {
    if let entity = model.entity(named: word.text) { return entity }
    throw wrong(
      model.unknownName(ofEntity: word.text, calling: "the \(side) model"), word.range)
  }

  /// An error about a name at a range.
  func wrong(_ unknown: UnknownName, _ range: Range<Int>) -> CoreDataError {
    wrong(unknown.message, range, hint: unknown.hint)
  }
}

/// A text in a recipe, with its place.
struct RecipeWord: Sendable, Equatable {
  var text: String
  var range: Range<Int>
  /// Whether places in the text are places in the recipe: it was written without escapes.
  var isPlain = true
}

/// An object of a recipe whose keys are known.
struct RecipeObject {
  let source: RecipeSource
  let members: [JSON5.Member]
  let range: Range<Int>

  /// - Throws: ``CoreDataError`` of kind usage for what is no object, or has an unknown key: names
  ///   the nearest and all that are known.
  init(_ json: JSON5, _ what: String, keys: [String], in source: RecipeSource) throws {
    try self.init(json, what, in: source)
    for member in members where !keys.contains(member.key) {
      let question = Nearest.question(member.key, in: keys)
      throw source.wrong(
        "\(what) has no “\(member.key)”", member.keyRange,
        hint: (question.map { $0 + " " } ?? "") + "Available: "
          + keys.joined(separator: ", ") + ".")
    }
  }

  /// An object whose keys are names of the models.
  init(_ json: JSON5, _ what: String, in source: RecipeSource) throws {
    guard case .object(let members) = json.kind else {
      throw source.wrong("\(what) is an object in braces, not \(json.name)", json.range)
    }
    self.source = source
    self.members = members
    range = json.range
  }

  subscript(key: String) -> JSON5? { members.first { $0.key == key }?.value }

  func text(_ key: String) throws -> RecipeWord? {
    try self[key].map { try Self.text($0, key, in: source) }
  }

  func flag(_ key: String) throws -> Bool? {
    guard let json = self[key] else { return nil }
    guard case .boolean(let value) = json.kind else {
      throw source.wrong("“\(key)” is true or false, not \(json.name)", json.range)
    }
    return value
  }

  func list(_ key: String) throws -> [JSON5] {
    guard let json = self[key] else { return [] }
    guard case .array(let elements) = json.kind else {
      throw source.wrong("“\(key)” is a list in brackets, not \(json.name)", json.range)
    }
    return elements
  }

  /// The members of an object of names.
  func names(_ key: String) throws -> [(name: RecipeWord, value: JSON5)] {
    guard let json = self[key] else { return [] }
    return try RecipeObject(json, "“\(key)”", in: source).members.map { member in
      (RecipeWord(text: member.key, range: member.keyRange), member.value)
    }
  }

  static func text(_ json: JSON5, _ key: String, in source: RecipeSource) throws -> RecipeWord {
    guard case .string(let text, let isPlain) = json.kind, !text.isEmpty else {
      throw source.wrong("“\(key)” is text in quotes, not \(json.name)", json.range)
    }
    return RecipeWord(text: text, range: json.range, isPlain: isPlain)
  }
}
