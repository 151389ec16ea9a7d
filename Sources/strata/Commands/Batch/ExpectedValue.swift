import JSON
import ManagedModel
import ManagedStore

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
