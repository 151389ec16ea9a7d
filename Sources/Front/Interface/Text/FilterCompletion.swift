import ManagedModel
import ManagedStore
import Migration

/// What could come next in a text that is being typed.
struct Completion: Sendable, Equatable {
  struct Candidate: Sendable, Equatable {
    var text: String
    var detail: String
  }

  private(set) var candidates: [Candidate] = []
  /// Characters of the text that a candidate takes the place of.
  private(set) var range = 0..<0

  /// Nothing.
  init() {}

  /// Whole texts in the place of a text.
  init(_ candidates: [Candidate], insteadOf text: String) {
    (self.candidates, range) = (candidates, 0..<text.count)
  }

  private enum Expected {
    case operand, comparator, value, connective
  }

  /// Takes the word that is being typed off the words before the cursor; `nil` inside of a string.
  private mutating func begin(
    _ text: String, _ cursor: Int
  ) -> (words: [FilterWords.Word], partial: String)? {
    range = cursor..<cursor
    var words = FilterWords(text.prefix(cursor)).words
    guard let last = words.last, last.kind == .word, last.range.upperBound == cursor else {
      return words.last?.kind == .open ? nil : (words, "")
    }
    range = last.range
    words.removeLast()
    return (words, last.text)
  }

  /// For an SQL expression over the objects of an entity.
  ///
  /// - Parameter cursor: in characters.
  init(expression text: String, cursor: Int, entity: String, store: StoreSummary) {
    guard let (words, partial) = begin(text, cursor) else { return }
    // After a value comes an operator.
    if partial.isEmpty, let last = words.last, last.kind != .sign || last.text == ")",
      !["AND", "OR", "NOT", "CASE", "WHEN", "THEN", "ELSE"].contains(last.text.uppercased())
    {
      return
    }
    candidates = Scope(entity: entity, store: store)
      .names(partial, path: &range, many: "  as count(…)")
    guard !partial.contains(".") else { return }
    let others = SQLVocabulary.functions.union(SQLVocabulary.ours).sorted()
      .map { Candidate(text: $0 + "(", detail: "") }
    let common = Self.all(SQLVocabulary.common)
    let known = Set(common.map(\.text))
    candidates += Self.fitting(common, partial)
    if !partial.isEmpty {
      candidates += Self.fitting(others.filter { !known.contains($0.text) }, partial)
    }
  }

  /// For a key path from the objects of an entity.
  ///
  /// - Parameter cursor: in characters.
  init(keyPath text: String, cursor: Int, entity: String, store: StoreSummary) {
    range = 0..<cursor
    let partial = String(text.prefix(cursor))
    let scope = Scope(entity: entity, store: store)
    candidates = scope.names(partial, path: &range, many: "  .@count or a property of each")
    if partial.contains(".") {
      candidates += scope.others(partial).filter { $0.text.contains("@count") }
    }
    for index in candidates.indices { candidates[index].text = candidates[index].text.trimmed }
    if candidates.count == 1, candidates[0].text == partial.split(separator: ".").last ?? "" {
      candidates = []
    }
  }

  /// For a predicate.
  ///
  /// - Parameter cursor: in characters.
  init(_ text: String, cursor: Int, entity: String, store: StoreSummary) {
    guard let (words, partial) = begin(text, cursor) else { return }
    if let bracket = words.lastIndex(where: { $0.text == "[" }),
      !words[bracket...].contains(where: { $0.text == "]" })
    {
      candidates = Self.fitting(
        Self.all([
          "c] ": "ignores case", "d] ": "ignores accents",
          "cd] ": "ignores both",
        ]), partial)
      return
    }
    let (expected, subject) = Self.expected(after: words)
    let scope = Scope(entity: entity, store: store)
    switch expected {
    case .operand:
      let isMany =
        words.last.map { FilterWords.quantifiers.contains($0.text.uppercased()) } ?? false
      candidates = scope.names(
        partial, isMany: isMany, path: &range,
        many: isMany ? "" : "  with ANY before it, or .@count")
      candidates += scope.others(partial)
      if !partial.contains("."), !isMany {
        candidates += Self.fitting(
          Self.all([
            "ANY ": "at least one matches", "ALL ": "all match",
            "NONE ": "none matches", "NOT ": "the opposite",
          ]), partial)
      }
    case .comparator: candidates = Self.fitting(scope.comparators(of: subject), partial)
    case .value:
      candidates = Self.fitting(scope.values(for: subject), partial)
    case .connective:
      // A predicate that is whole needs no more, unless somebody goes on.
      guard !partial.isEmpty || text.prefix(cursor).last?.isWhitespace == true else { return }
      candidates = Self.fitting(Self.all(["AND ": "both", "OR ": "one or the other"]), partial)
    }
    // What is there already is no offer.
    if candidates.count == 1, candidates[0].text.trimmed == partial.split(separator: ".").last ?? ""
    {
      candidates = []
    }
  }

  /// What follows words, and the path that a value would be compared with.
  private static func expected(after words: [FilterWords.Word]) -> (Expected, subject: String?) {
    var expected = Expected.operand
    var subject: String?
    var brackets = 0
    for word in words {
      let text = word.text.uppercased()
      if text == "[" { brackets += 1 }
      if text == "]" { brackets -= 1 }
      if brackets > 0 || text == "]" { continue }
      switch expected {
      case .operand:
        if word.kind == .sign { continue }
        if word.kind == .word, FilterWords.quantifiers.contains(text) || text == "NOT" { continue }
        subject = word.kind == .word ? word.text : nil
        expected = .comparator
      case .comparator:
        if word.kind == .sign {
          if "=<>!".contains(text.first ?? " ") { expected = .value }
        } else if FilterWords.comparators.contains(text) {
          expected = .value
        } else if FilterWords.connectives.contains(text) {
          expected = .operand
        }
      case .value:
        if word.kind != .sign || text == "}" || text == ")" { expected = .connective }
      case .connective:
        if FilterWords.connectives.contains(text) || text == "&&" || text == "||" {
          (expected, subject) = (.operand, nil)
        } else if text == "," || text == "+" || text == "-" || text == "*" || text == "/" {
          expected = .value
        }
      }
    }
    return (expected, subject)
  }

  /// Words, each with what it says.
  fileprivate static func all(_ words: KeyValuePairs<String, String>) -> [Candidate] {
    words.map { Candidate(text: $0, detail: $1) }
  }

  fileprivate static func fitting(_ all: [Candidate], _ partial: String) -> [Candidate] {
    guard !partial.isEmpty else { return all }
    let partial = partial.lowercased()
    return all.filter { $0.text.lowercased().hasPrefix(partial) }
  }
}

/// The names that a predicate about an entity can use.
private struct Scope {
  let entity: String
  let store: StoreSummary

  private typealias Candidate = Completion.Candidate

  /// Properties whose name begins like the last part of a path; `range` becomes that part's.
  ///
  /// - Parameter note: what is said of a to-many.
  func names(
    _ path: String, isMany: Bool = false, path range: inout Range<Int>, many note: String
  ) -> [Completion.Candidate] {
    let parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let last = parts.last ?? ""
    range = (range.upperBound - last.count)..<range.upperBound
    guard let place = place(of: parts.dropLast()) else { return [] }
    var columns = columns(at: place)
    // Behind ANY a to-many is meant.
    if isMany, parts.count == 1 { columns.sort { $0.isToMany && !$1.isToMany } }
    var composites: Set<String> = []
    let all = columns.compactMap { column -> Candidate? in
      let name = column.path.dropFirst(place.composite.count).first ?? column.name
      guard column.path.count == place.composite.count + 1 else {
        // All elements of a composite are offered as one, until its name is there.
        guard composites.insert(name).inserted else { return nil }
        return Candidate(text: name, detail: AttributeType.composite.name)
      }
      switch column.kind {
      case .attribute(let type): return Candidate(text: name + " ", detail: type.name)
      case .toOne(let destination): return Candidate(text: name, detail: "→ \(destination)")
      case .toMany(let destination):
        return Candidate(text: name, detail: "⇉ \(destination)" + note)
      }
    }
    return Completion.fitting(all, last)
  }

  /// What a path of a predicate can name besides properties.
  func others(_ path: String) -> [Completion.Candidate] {
    let parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let all: [Completion.Candidate]
    if parts.count <= 1 {
      all =
        Completion.all(["entity ": "the object's entity", "SELF ": "the object itself"])
        + (store.layout.mirror == nil
          ? [] : Completion.all(["@cloud ": "the state of CloudKit mirroring"]))
    } else if place(of: parts.dropLast())?.isThroughMany == true {
      all = Completion.all(["@count ": "how many"])
    } else {
      all = []
    }
    return Completion.fitting(all, parts.last ?? "")
  }

  /// Where the next name of a path belongs: to an entity, or into a composite attribute of it.
  private struct Place {
    var entity: String
    var composite: [String] = []
    var isThroughMany = false
  }

  private func columns(at place: Place) -> [RowColumn] {
    let columns = store.columns[place.entity] ?? []
    guard !place.composite.isEmpty else { return columns }
    return columns.filter {
      $0.path.count > place.composite.count && $0.path.starts(with: place.composite)
    }
  }

  /// The column that a name leads to from a place.
  private func column(_ name: String, at place: Place) -> RowColumn? {
    columns(at: place).first { $0.path == place.composite + [name] }
  }

  /// The place after names; `nil` where nothing can follow them.
  private func place(of names: some Sequence<String>) -> Place? {
    var place = Place(entity: entity)
    for name in names {
      if let column = column(name, at: place) {
        guard let destination = column.destination else { return nil }
        place = Place(entity: destination, isThroughMany: place.isThroughMany || column.isToMany)
      } else {
        place.composite.append(name)
        guard !columns(at: place).isEmpty else { return nil }
      }
    }
    return place
  }

  /// The column that a path ends at.
  private func column(at path: String?) -> (column: RowColumn, isCount: Bool)? {
    guard let parts = path?.split(separator: ".").map(String.init), !parts.isEmpty else {
      return nil
    }
    let names = parts.prefix { !$0.hasPrefix("@") }
    guard let last = names.last, let place = place(of: names.dropLast()),
      let column = column(last, at: place)
    else { return nil }
    return (column, names.count < parts.count)
  }

  func comparators(of path: String?) -> [Completion.Candidate] {
    let equal = Completion.all(["== ": "is", "!= ": "is not"])
    let order = Completion.all([
      "< ": "is less than", "<= ": "is at most", "> ": "is greater than", ">= ": "is at least",
      "BETWEEN {": "BETWEEN {lower, upper}", "IN {": "IN {one, another}",
    ])
    let text = Completion.all([
      "CONTAINS[cd] \"": "has this text in it", "BEGINSWITH[cd] \"": "begins with it",
      "ENDSWITH[cd] \"": "ends with it", "LIKE[cd] \"": "? is one character, * any",
      "MATCHES \"": "a regular expression",
    ])
    if path == "@cloud" { return equal }
    guard let (column, isCount) = column(at: path) else { return equal + order + text }
    if isCount { return equal + order }
    switch column.kind {
    case .attribute(let type):
      switch type {
      case .string, .uri: return text.prefix(1) + equal + text.dropFirst() + order
      case .boolean, .uuid, .binary, .transformable: return equal
      default: return equal + order
      }
    case .toOne: return equal
    case .toMany:
      return [Candidate(text: ".@count ", detail: "how many")] + equal
    }
  }

  func values(for path: String?) -> [Completion.Candidate] {
    if path == "entity" {
      return store.model.subtree(of: entity).map { Candidate(text: "\"\($0)\" ", detail: "entity") }
    }
    if path == "@cloud" {
      return CloudObjectState.allCases.map {
        Candidate(text: "\"\($0.rawValue)\" ", detail: $0.words)
      }
    }
    guard let (column, isCount) = column(at: path), !isCount else { return [] }
    var values: [Candidate] = []
    if case .attribute(.boolean) = column.kind {
      values = [Candidate(text: "YES ", detail: ""), Candidate(text: "NO ", detail: "")]
    }
    if case .attribute(.date) = column.kind {
      values = [
        Candidate(text: "now() ", detail: "also \"2024-03-01\" or \"2024-03-01T12:00:00Z\"")
      ]
    }
    if case .toOne(let destination) = column.kind {
      values.append(Candidate(text: "\"\(destination)/p", detail: "the object with that key"))
    }
    values.append(Candidate(text: "nil ", detail: "no value"))
    guard case .attribute = column.kind else { return values }
    return values
      + (store.columns[entity] ?? []).filter { $0.kind == column.kind && $0.name != column.name }
      .map { Candidate(text: $0.name + " ", detail: "the property") }
  }
}

extension RowColumn {
  /// The entity that a relationship references.
  var destination: String? {
    switch kind {
    case .attribute: nil
    case .toOne(let destination), .toMany(let destination): destination
    }
  }
}
