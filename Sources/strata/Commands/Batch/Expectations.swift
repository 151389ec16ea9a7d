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
        stores: { "v1.sqlite": { counts: { Recipe: 20 } } },   // besides, for one store
      }
    Every object found must have the value, and one must be there. Values are written as
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
        .unreadable, "the expectations are no JSON5", path: path,
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
      .usage, "something is expected of “\(missing)”, which is none of the stores", path: path,
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
      throw wrong(place, "a whole number from 0 on")
    }
    return count
  }

  private func object(
    _ value: ExpectedValue, _ place: String, knowing known: [String]?
  ) throws -> [String: ExpectedValue] {
    guard case .object(let members) = value else { throw wrong(place, "an object") }
    if let known, let odd = members.keys.sorted().first(where: { !known.contains($0) }) {
      throw CoreDataError(
        .usage, "the expectations say “\(odd)” in \(place), which means nothing", path: path,
        hint: Nearest.hint(odd, in: known))
    }
    return members
  }

  private func wrong(_ place: String, _ wanted: String) -> CoreDataError {
    CoreDataError(.usage, "in the expectations, \(place) must be \(wanted)", path: path)
  }
}
