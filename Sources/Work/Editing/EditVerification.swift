import Comparison
import Files
import ManagedModel
import ManagedStore
import Migration

/// Compares the edited copy with the store, object by object: whatever differs must be in the list, all that was asked
/// for must hold, and nothing else may have changed.
///
/// It knows nothing of how the changes were made.
struct EditVerification {
  let before: Store
  let after: Store
  let edit: StoreEdit
  let list: ChangeList
  let files: AddedFiles
  let meter: ProgressMeter

  /// Parts of the bookkeeping that an edit changes.
  private static let changedParts: Set<String> = ["saves", "history"]

  /// - Parameter report: called with each object that differs.
  /// - Returns: what was compared, and what a person should know of it, as sentences.
  func run(
    _ report: (ObjectChange) throws -> Void
  ) throws -> (verified: [MigrationReceipt.Verified], notes: [String]) {
    guard after.modelMatches, after.metadata.uuid == before.metadata.uuid,
      after.metadata.versionHashes == before.metadata.versionHashes
    else { throw failed("its identity changed") }
    let asked = try verifyAsked()
    // Every key is of one object: no edit gives keys out.
    let comparison = try StoreComparison(
      before, after, base: before, isCancelled: { [meter] in meter.shouldStop })
    var (updates, deletions) = (0, 0)
    let summary = try comparison.run { change in
      try meter.advance(by: 1)
      switch change.kind {
      case .insert: throw failed("\(change.b.map { "\($0)" } ?? "an object") was added")
      case .delete:
        deletions += 1
        guard let id = change.a, let number = before.schema.numbers[id.entity],
          try list.tellsDeletion(of: number, id.key)
        else {
          throw failed("\(change.a.map { "\($0)" } ?? "an object") was deleted without a request")
        }
      case .update:
        updates += 1
        try verify(change)
      }
      try report(try shown(change))
    }
    guard deletions == list.deleted.values.reduce(0, +) else {
      throw failed("\(deletions) objects were deleted")
    }
    let parts = Self.changedParts.union(before.hasOwnTriggers ? ["other-tables"] : [])
    for part in summary.bookkeeping where !parts.contains(part.part) {
      throw failed("\(part.part): \(part.message)")
    }
    let verified: [MigrationReceipt.Verified] = [
      .init(what: "requested values and references", count: asked.count),
      .init(what: "objects that differ, all of them listed", count: updates + deletions),
    ]
    return (verified.filter { $0.count > 0 }, asked.rounded)
  }

  private func failed(_ what: String) -> CoreDataError {
    CoreDataError(
      .failed, code: .migration, "verification failed: \(what)", path: before.path,
      hint: "The store is unchanged. Please report this: the edit did not do what it listed.")
  }

  private func verify(_ change: ObjectChange) throws {
    guard let id = change.b, let number = before.schema.numbers[id.entity] else { return }
    let told = try list.properties(of: number, id.key)
    for attribute in change.attributes {
      let name = attribute.path.joined(separator: ".")
      let isDerived = before.model.attribute(named: attribute.path[0], of: id.entity)?.isDerived
      guard told.contains(name) || isDerived == true else {
        throw failed("\(id).\(name) changed, but is not in the list")
      }
    }
    for relationship in change.relationships where !told.contains(relationship.name) {
      throw failed("\(id).\(relationship.name) changed, but is not in the list")
    }
  }

  /// A change with the content of files that are not beside the store yet.
  private func shown(_ change: ObjectChange) throws -> ObjectChange {
    var change = change
    for (index, attribute) in change.attributes.enumerated() {
      if let value = attribute.new?.value {
        change.attributes[index].new?.value = try content(value)
      }
    }
    return change
  }

  private func content(_ value: PropertyValue) throws -> PropertyValue {
    guard case .data(let data) = value, case .missing(let name) = data.location,
      let path = files.path(of: name)
    else { return value }
    let bytes = try FileSystem.read(path)
    return .data(DataValue(location: .file(name: name), count: bytes.count, bytes: bytes))
  }

  /// Each assignment, as the new store has it.
  ///
  /// - Returns: how many hold, and which decimals the store could keep only rounded, as sentences.
  private func verifyAsked() throws -> (count: Int, rounded: [String]) {
    var count = 0
    var notes: [String] = []
    for object in edit.objects where !object.assignments.isEmpty {
      let cursor = try ObjectCursor(seeking: after, entity: object.id.entity)
      guard let found = try cursor.object(object.id.key) else {
        throw failed("\(object.id) is missing")
      }
      // Of several assignments of one property the last one holds.
      for (index, assignment) in object.assignments.enumerated() {
        let later = object.assignments.dropFirst(index + 1)
        guard !later.contains(where: assignment.isOverridden) else { continue }
        guard try holds(assignment, in: found, cursor.table) else {
          throw failed("\(object.id).\(assignment.property) is not what was requested")
        }
        if let kept = rounded(assignment, in: found, cursor.table) {
          notes.append(
            "\(object.id).\(assignment.property) is stored as \(kept): SQLite keeps about 15 digits of a decimal"
          )
        } else {
          count += 1
        }
      }
    }
    return (count, notes)
  }

  private func holds(
    _ assignment: StoreEdit.Assignment, in object: ObjectCursor.Object, _ table: EntityTable
  ) throws -> Bool {
    func related(_ name: String) -> [ObjectID]? {
      table.relationships.firstIndex { $0.relationship.name == name }
        .flatMap {
          object.relationships.indices.contains($0) ? object.relationships[$0].objects : nil
        }
    }
    switch assignment {
    case .attribute(let name, let value):
      guard let index = table.attributes.firstIndex(where: { $0.attribute.name == name }),
        object.attributes.indices.contains(index)
      else { return false }
      return Self.isSame(try content(object.attributes[index]), value)
    case .toOne(let name, let other): return related(name) == (other.map { [$0] } ?? [])
    case .toMany(let name, let change, let others):
      guard let now = related(name) else { return false }
      let isOrdered =
        table.relationship(named: name)?.relationship.isOrdered == true
      return switch change {
      case .set: isOrdered ? now == others : Set(now) == Set(others)
      case .add: Set(now).isSuperset(of: others)
      case .remove: Set(now).isDisjoint(with: others)
      }
    }
  }

  /// What the store keeps of a decimal that has more digits than SQLite keeps; `nil` for what is as it was asked for.
  private func rounded(
    _ assignment: StoreEdit.Assignment, in object: ObjectCursor.Object, _ table: EntityTable
  ) -> String? {
    guard case .attribute(let name, .decimal(let asked)) = assignment,
      let index = table.attributes.firstIndex(where: { $0.attribute.name == name }),
      object.attributes.indices.contains(index),
      case .value(.decimal(let kept)) = object.attributes[index]
    else { return nil }
    let digits = DecimalText.canonical(asked)
    return digits != nil && digits == DecimalText.canonical(kept) ? nil : kept
  }

  /// A decimal is the one that was asked for as far as its column can hold it, as with values of a migration.
  private static func isSame(_ found: PropertyValue, _ asked: AttributeValue) -> Bool {
    switch (found, asked) {
    case (.data(let data), .bytes(let bytes)): data.bytes == bytes
    case (.value(.decimal(let one)), .decimal(let other)): Double(one) == Double(other)
    case (.value(let value), _): value.isExactly(asked)
    default: false
    }
  }
}

extension DecimalText {
  /// Digits without zeros that say nothing; `nil` for what no NSDecimal holds.
  fileprivate static func canonical(_ text: String) -> String? {
    words(text).map { number in
      self.text(
        words: number.words.map { UInt32($0) }, exponent: number.exponent,
        isNegative: number.isNegative)
    }
  }
}

extension Store {
  /// Whether triggers of the app's own write on when its objects change: into tables of which no model speaks.
  fileprivate var hasOwnTriggers: Bool {
    let groups = schema.triggerGroups
    let trees = Set(schema.rtreeIndexes.flatMap(\.triggers).map(\.name))
    return triggerStatements.contains { trigger in
      !trees.contains(trigger.name)
        && !groups.contains { $0.owns(trigger.name, on: trigger.table) }
    }
  }
}

extension StoreEdit.Assignment {
  /// Whether a later assignment decides what the property holds: objects that come in do not decide which go out.
  fileprivate func isOverridden(by later: StoreEdit.Assignment) -> Bool {
    guard property == later.property else { return false }
    guard case .toMany(_, let change, let others) = self,
      case .toMany(_, let next, let named) = later, change != .set, next != .set
    else { return true }
    return !Set(others).isDisjoint(with: named)
  }
}
