import JSON
import ManagedModel
import ManagedStore

/// What a file says that migrated stores must hold; ``help`` shows its form.
struct Expectations: Sendable {
  static let option = Option(
    "expect", "FILE", .file, "check counts and values of the results")
  static let help = """
    The file of --expect is JSON5, compared with each result:
      {
        counts: { Recipe: 120 },                        // objects of exactly this entity
        values: [                                       // with its subentities
          { entity: "Recipe", where: "title == 'Soup'", key: "serves", equals: 4 },
          { entity: "Recipe", where: "author == nil", count: 0 },
        ],
        stores: { "v1.sqlite": { counts: { Recipe: 20 } } },   // in addition, for one store
      }
    Every object found must have the value, and at least one must be found. Values are written as
    strata dump prints them; a date may be ISO text, bytes are { bytes: 1024 }.
    """

  struct Checks: Sendable {
    var counts: [(entity: String, count: Int)] = []
    var values: [Value] = []
  }

  struct Value: Sendable {
    enum Wanted: Sendable {
      /// Every object has this value, and there is one at least.
      case equals(key: String, ExpectedValue)
      case count(Int)
    }

    var entity: String
    var predicate: String?
    var wanted: Wanted
  }

  private var all = Checks()
  private var stores: [String: Checks] = [:]
  private let path: String

  /// - Throws: ``CoreDataError``: unreadable for what is no JSON5, usage for a word that means
  ///   nothing, since an expectation that is never looked at would seem to hold.
  init(_ text: String, path: String) throws {
    self.path = path
    let tree: ExpectedValue
    do {
      tree = ExpectedValue(try JSON5.read(Array(text.utf8)))
    } catch {
      throw CoreDataError(
        .unreadable, "the expectations are not valid JSON5", path: path,
        hint: "Such as: { counts: { Recipe: 120 } }")
    }
    let members = try object(tree, "the file", knowing: ["counts", "values", "stores"])
    all = try checks(members, "")
    guard let named = members["stores"] else { return }
    for (name, value) in try object(named, "stores", knowing: nil) {
      let inner = try object(value, "stores.\(name)", knowing: ["counts", "values"])
      stores[name] = try checks(inner, "stores.\(name).")
    }
  }

  /// What `--expect` names; `nil` without it.
  static func given(in arguments: Arguments) throws -> Expectations? {
    try arguments[option].map { try Expectations(InputText.text(of: $0), path: $0) }
  }

  /// - Throws: ``CoreDataError`` of kind usage for expectations of a store that is not among them.
  func requireStores(named names: [String]) throws {
    guard let missing = stores.keys.sorted().first(where: { !names.contains($0) }) else { return }
    throw CoreDataError(
      .usage, "the expectations name “\(missing)”, which is not one of the stores", path: path,
      hint: Nearest.question(missing, in: names)
        ?? "The stores are: " + names.joined(separator: ", "))
  }

  /// Looks at a result.
  ///
  /// - Returns: how many expectations there were, and those that do not hold, as sentences.
  func check(_ store: Store, named name: String) throws -> (checked: Int, failures: [String]) {
    var checked = 0
    var failures: [String] = []
    for checks in [all, stores[name] ?? Checks()] {
      checked += checks.counts.count + checks.values.count
      if !checks.counts.isEmpty {
        let counts = try store.counts()
        for (entity, expected) in checks.counts {
          guard let count = counts[entity] else {
            failures.append("\(entity): the result has no such entity")
            continue
          }
          if count != expected {
            failures.append("\(entity): \(count) objects, expected \(expected)")
          }
        }
      }
      for value in checks.values {
        do {
          if let failure = try ExpectationCheck(store: store, value: value).failure() {
            failures.append(failure)
          }
        } catch let error as CoreDataError where error.kind == .usage {
          failures.append(error.description)
        }
      }
    }
    return (checked, failures)
  }

  private func checks(_ members: [String: ExpectedValue], _ place: String) throws -> Checks {
    var checks = Checks()
    if let counts = members["counts"] {
      for (entity, value) in try object(counts, place + "counts", knowing: nil)
        .sorted(by: { $0.key < $1.key })
      {
        checks.counts.append((entity, try count(value, place + "counts." + entity)))
      }
    }
    guard let values = members["values"] else { return checks }
    guard case .array(let list) = values else { throw wrong(place + "values", "a list") }
    for (index, item) in list.enumerated() {
      checks.values.append(try value(item, place + "values[\(index)]"))
    }
    return checks
  }

  private func value(_ item: ExpectedValue, _ place: String) throws -> Value {
    let members = try object(
      item, place, knowing: ["entity", "where", "key", "equals", "count"])
    func text(_ name: String) throws -> String? {
      guard let value = members[name] else { return nil }
      guard case .string(let text) = value else { throw wrong("\(place).\(name)", "text") }
      return text
    }
    guard let entity = try text("entity") else { throw wrong(place, "an object with an entity") }
    let wanted: Value.Wanted
    switch (try text("key"), members["equals"], members["count"]) {
    case (let key?, let value?, nil): wanted = .equals(key: key, value)
    case (nil, nil, let value?): wanted = .count(try count(value, place + ".count"))
    default: throw wrong(place, "an object with either key and equals, or count")
    }
    return Value(entity: entity, predicate: try text("where"), wanted: wanted)
  }

  private func count(_ value: ExpectedValue, _ place: String) throws -> Int {
    guard case .integer(let number) = value, number >= 0, let count = Int(exactly: number) else {
      throw wrong(place, "a whole number of at least 0")
    }
    return count
  }

  private func object(
    _ value: ExpectedValue, _ place: String, knowing known: [String]?
  ) throws -> [String: ExpectedValue] {
    guard case .object(let members) = value else { throw wrong(place, "an object") }
    if let known, let odd = members.keys.sorted().first(where: { !known.contains($0) }) {
      throw CoreDataError(
        .usage, "unknown key “\(odd)” in \(place) of the expectations", path: path,
        hint: Nearest.hint(odd, in: known))
    }
    return members
  }

  private func wrong(_ place: String, _ wanted: String) -> CoreDataError {
    CoreDataError(.usage, "in the expectations, \(place) must be \(wanted)", path: path)
  }
}

/// A JSON value that a property is compared with.
enum ExpectedValue: Sendable, Equatable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([ExpectedValue])
  case object([String: ExpectedValue])

  init(_ value: JSON5) {
    switch value.kind {
    case .null: self = .null
    case .boolean(let flag): self = .boolean(flag)
    case .integer(let number): self = .integer(number)
    // 4.0 is the number 4.
    case .number(let number): self = Int64(exactly: number).map { .integer($0) } ?? .number(number)
    case .string(let text, _): self = .string(text)
    case .array(let elements): self = .array(elements.map { ExpectedValue($0) })
    case .object(let members):
      // The reader refuses a key that stands twice.
      self = .object(
        Dictionary(members.map { ($0.key, ExpectedValue($0.value)) }, uniquingKeysWith: { $1 }))
    }
  }

  /// Whether a stored value is this one, in the form in which `dump` prints it.
  func matches(_ stored: PropertyValue) -> Bool {
    switch stored {
    case .value(let plain): matches(plain)
    case .toOne(let id): id.map { self == .string($0.description) } ?? (self == .null)
    case .toMany(let many): self == .integer(Int64(many.count))
    case .data(let data):
      if case .object(let members) = self {
        switch data.location {
        case .row, .file: members == ["bytes": .integer(Int64(data.count))]
        case .missing: members == ["missing": .boolean(true)]
        case .unreadable: members == ["unreadable": .boolean(true)]
        }
      } else {
        false
      }
    }
  }

  private func matches(_ stored: AttributeValue) -> Bool {
    switch (stored, self) {
    case (.null, .null): true
    case (.boolean(let flag), .boolean(let wanted)): flag == wanted
    case (.boolean(let flag), .integer(let wanted)): (flag ? 1 : 0) == wanted
    case (.integer(let number), .integer(let wanted)): number == wanted
    case (.integer(let number), .number(let wanted)): Double(number) == wanted
    case (.double(let number), .integer(let wanted)): number == Double(wanted)
    case (.double(let number), .number(let wanted)): number == wanted
    case (.date(let seconds), .integer(let wanted)): seconds == Double(wanted)
    case (.date(let seconds), .number(let wanted)): seconds == wanted
    case (.date(let seconds), .string(let wanted)):
      CoreDataDate.seconds(written: wanted).map { abs($0 - seconds) < 0.0005 } ?? false
    case (.decimal(let digits), .string(let wanted)): digits == wanted
    case (.decimal(let digits), .integer(let wanted)): Double(digits) == Double(wanted)
    case (.decimal(let digits), .number(let wanted)): Double(digits) == wanted
    case (.string(let text), .string(let wanted)): text == wanted
    case (.uri(let text), .string(let wanted)): text == wanted
    case (.uuid(let bytes), .string(let wanted)): UUIDText.text(bytes) == wanted.uppercased()
    default: false
    }
  }

  /// The value as a sentence has it.
  var text: String {
    switch self {
    case .null: "null"
    case .boolean(let flag): flag ? "true" : "false"
    case .integer(let number): String(number)
    case .number(let number): number.description
    case .string(let text): "“\(text)”"
    case .array(let list): "[" + list.map(\.text).joined(separator: ", ") + "]"
    case .object(let members):
      "{"
        + members.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.text)" }
        .joined(separator: ", ") + "}"
    }
  }
}

/// One expectation of the objects of an entity, looked at in a store.
struct ExpectationCheck {
  let store: Store
  let value: Expectations.Value

  /// Why it does not hold; `nil` where it does.
  func failure() throws -> String? {
    let place = value.entity + (value.predicate.map { " where \($0)" } ?? "")
    let filter = try value.predicate.map {
      try RowFilter($0, entity: value.entity, store: store)
    }
    var query = RowQuery(entity: value.entity, limit: 1000, properties: [], filter: filter)
    switch value.wanted {
    case .count(let expected):
      var count = 0
      try pages(&query) { page in
        count += page.rows.count
        return true
      }
      return count == expected ? nil : "\(place): \(count) objects, expected \(expected)"
    case .equals(let key, let expected):
      query.properties = [key]
      var isFound = false
      var failure: String?
      try pages(&query) { page in
        isFound = isFound || !page.rows.isEmpty
        for row in page.rows {
          guard let stored = row.values.first, !expected.matches(stored) else { continue }
          failure =
            "\(place): \(key) of \(row.id) is \(Self.text(of: stored)), expected \(expected.text)"
          return false
        }
        return true
      }
      return failure ?? (isFound ? nil : "\(place): there is no such object")
    }
  }

  private func pages(_ query: inout RowQuery, _ body: (RowPage) -> Bool) throws {
    while true {
      let page = try store.rows(query)
      guard body(page), page.rows.count == query.limit, let last = page.rows.last else { return }
      query.anchor = .after(last.cursor)
    }
  }

  private static func text(of stored: PropertyValue) -> String {
    var json = JSONWriter()
    if case .data(let data) = stored, data.isReadable { return "\(data.count) bytes" }
    if case .toMany(let many) = stored { return "\(many.count) objects" }
    json.value(stored, blobs: false)
    return String(decoding: json.bytes, as: UTF8.self)
  }
}
