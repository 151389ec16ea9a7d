import Comparison
import ManagedModel
import ManagedStore
import Migration
import SQLite

/// Refuses an edit of a store in which another program saved something since the edit was prepared, or checked.
struct EditExpectations {
  let store: Store
  let edit: StoreEdit

  /// Values that are named beside the first.
  private static let mostNamed = 5

  /// Compares what the properties held when their changes were prepared with what they hold now.
  ///
  /// An object that is gone is left to who sets something of it.
  ///
  /// - Throws: ``CoreDataError`` of kind refused that names the objects and what is there now.
  func check() throws {
    var newer: [(StoreEdit.Expectation, PropertyValue)] = []
    for expected in edit.expectations {
      let object = try store.object(expected.object, related: StoreEdit.mostRelated)
      guard let now = object?[expected.property], !now.isExactly(expected.value),
        !isAsked(now, of: expected)
      else { continue }
      newer.append((expected, now))
    }
    guard let (first, now) = newer.first else { return }
    let others = newer.dropFirst().prefix(Self.mostNamed).map {
      "\($0.object).\($0.property) is now \($1.words)"
    }
    let more = newer.count - 1 - others.count
    let also =
      others.isEmpty
      ? "" : "Also: \(others.joined(separator: "; "))\(more > 0 ? "; and \(more) more" : ""). "
    throw CoreDataError(
      .refused,
      "\(first.object).\(first.property) was saved by another program since its change was prepared: it is now \(now.words)",
      entity: first.object.entity, property: first.property,
      hint:
        "\(also)Prepare the change again from the current value, or undo it. The store is unchanged."
    )
  }

  /// Whether another program saved what the edit asks for.
  private func isAsked(_ now: PropertyValue, of expected: StoreEdit.Expectation) -> Bool {
    let asked = edit.objects.filter { $0.id == expected.object }.flatMap(\.assignments)
      .last { $0.property == expected.property }
    return switch (asked, now) {
    case (.attribute(_, let new)?, .value(let now)): now.isExactly(new)
    case (.toOne(_, let new)?, .toOne(let now)): now == new
    default: false
    }
  }

  /// A number for the rows of all objects in the list as they are in the original: it is another one once a program
  /// has saved one of them, or the list is of other objects.
  ///
  /// It is the same only within one run of the program.
  static func number(of list: ChangeList, in source: Store, on connection: Connection) throws -> Int
  {
    var hasher = Hasher()
    for number in Set(list.changed.keys).union(list.deleted.keys).sorted() {
      guard let table = source.entityNames[number].flatMap(source.table(of:)) else { continue }
      hasher.combine(number)
      let statement = try connection.prepare(
        """
        SELECT s.* FROM src.\(quoted(table.table)) s WHERE s.Z_PK IN
        (SELECT key FROM \(ChangeList.schema).changes WHERE number = ?1
        UNION SELECT key FROM \(ChangeList.schema).deleted WHERE number = ?1) ORDER BY s.Z_PK
        """)
      try statement.bind([Value.integer(number)])
      while try statement.step() {
        for column in 0..<statement.columnCount {
          let value = statement.value(at: column)
          // Texts that only look alike are not the same.
          if case .text(let text) = value {
            hasher.combine(Value.blob(Array(text.utf8)))
          } else {
            hasher.combine(value)
          }
        }
      }
    }
    return hasher.finalize()
  }
}

extension StoreEdit {
  /// Objects of a to-many that are read to know whether another program changed it.
  package static let mostRelated = 5_000
}

extension PropertyValue {
  /// Whether it is the same, byte for byte: texts that only look alike are not.
  package func isExactly(_ other: PropertyValue) -> Bool {
    if case .value(let one) = self, case .value(let two) = other { return one.isExactly(two) }
    return self == other
  }

  /// The value in a message.
  fileprivate var words: String {
    switch self {
    case .value(let value): AssignmentText.text(of: value).shortened
    case .data(let data): NumberText.bytes(data.count)
    case .toOne(let id): id?.description ?? "null"
    case .toMany(let many): NumberText.counted(many.count, "object")
    }
  }
}

extension AttributeValue {
  /// Whether it is the same, byte for byte: texts that only look alike are not.
  package func isExactly(_ other: AttributeValue) -> Bool {
    switch (self, other) {
    case (.string(let one), .string(let two)), (.uri(let one), .uri(let two)):
      Array(one.utf8) == Array(two.utf8)
    default: self == other
    }
  }
}

extension String {
  /// The beginning of a long text.
  fileprivate var shortened: String {
    count > 80 ? prefix(80) + "…" : self
  }
}
