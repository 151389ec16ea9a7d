import Comparison
import Editing
import ManagedModel
import ManagedStore

/// Changes of objects that a person has prepared: nothing of them is written yet.
struct PreparedEdits: Sendable, Equatable {
  /// Why a prepared value cannot be taken out of the store.
  static let notWritten = "it is prepared, but not in the store yet"

  /// What a property is to hold.
  enum Change: Sendable, Equatable {
    case attribute(AttributeValue)
    case toOne(ObjectID?)
    case toMany(Links)
  }

  /// What becomes of the objects of a to-many relationship.
  struct Links: Sendable, Equatable {
    var added: [ObjectID] = []
    var removed: [ObjectID] = []
    /// All that it is to hold, in their order, where that is not the one that comes by itself: those that stay as
    /// they stand, and those that are added behind them.
    var order: [ObjectID]?

    var isEmpty: Bool { added.isEmpty && removed.isEmpty && order == nil }

    /// Whether objects that stay are to stand in another order than in the store.
    func isReordering(_ old: PropertyValue) -> Bool {
      guard let order, case .toMany(let many) = old else { return false }
      let (added, removed) = (Set(added), Set(removed))
      return order.filter { !added.contains($0) } != many.first.filter { !removed.contains($0) }
    }
  }

  /// A property of an object that is to hold something else.
  struct Value: Sendable, Equatable {
    var object: ObjectID
    var column: RowColumn
    /// What it holds in the store.
    var old: PropertyValue
    var change: Change
  }

  /// An object that is to be deleted.
  struct Deletion: Sendable, Equatable {
    var object: ObjectID
    /// What its delete rules take along, whether or not it is marked as well.
    var along: [ObjectID]
  }

  enum Entry: Sendable, Equatable {
    case value(Value)
    case deletion(Deletion)

    var object: ObjectID {
      switch self {
      case .value(let value): value.object
      case .deletion(let deletion): deletion.object
      }
    }
  }

  /// In the order in which they were prepared.
  private(set) var entries: [Entry] = []
  /// How the objects are called, as far as it is known.
  private(set) var labels: [ObjectID: String] = [:]

  var isEmpty: Bool { entries.isEmpty }
  /// `3 changes`
  var words: String { NumberText.counted(entries.count, "change") }

  var deletions: [Deletion] {
    entries.compactMap { if case .deletion(let deletion) = $0 { deletion } else { nil } }
  }

  private var values: [Value] {
    entries.compactMap { if case .value(let value) = $0 { value } else { nil } }
  }

  /// What is prepared for a property of an object.
  func value(of object: ObjectID, _ property: String) -> Value? {
    values.first { $0.object == object && $0.column.name == property }
  }

  /// Notes how objects are called.
  mutating func name(_ names: [ObjectID: String]) { labels.merge(names) { $1 } }

  // MARK: Preparing

  /// Prepares a value, in the place of what was prepared for the same property. What leaves the property as it is in
  /// the store is no change; what was read last of the store counts.
  mutating func set(_ value: Value) {
    let place = entries.firstIndex {
      if case .value(let known) = $0 {
        known.object == value.object && known.column.name == value.column.name
      } else {
        false
      }
    }
    if value.isNothing {
      if let place { entries.remove(at: place) }
    } else if let place {
      entries[place] = .value(value)
    } else {
      entries.append(.value(value))
    }
  }

  /// Prepares a deletion. What was prepared for the objects that go is dropped, but for marks of their own.
  mutating func delete(_ deletion: Deletion) {
    let gone = Set([deletion.object] + deletion.along)
    entries.removeAll {
      switch $0 {
      case .value(let value): gone.contains(value.object)
      case .deletion(let other): other.object == deletion.object
      }
    }
    entries.append(.deletion(deletion))
  }

  /// Takes an entry back.
  mutating func remove(at index: Int) {
    if entries.indices.contains(index) { entries.remove(at: index) }
  }

  /// Takes the mark of an object back; it may still go along with another one.
  mutating func keep(_ object: ObjectID) {
    entries.removeAll {
      if case .deletion(let deletion) = $0 { deletion.object == object } else { false }
    }
  }

  // MARK: What comes of them

  /// All of them as the engine takes them.
  var edit: StoreEdit {
    var edit = StoreEdit()
    edit.deletions = deletions.map(\.object)
    for value in values {
      edit.expectations.append(.init(value.object, value.column.name, value.old))
      let assignments = value.assignments
      if let index = edit.objects.firstIndex(where: { $0.id == value.object }) {
        edit.objects[index].assignments += assignments
      } else {
        edit.objects.append(.init(value.object, assignments))
      }
    }
    return edit
  }

  /// What is to become of an object that goes.
  enum Fate: Sendable, Equatable {
    case deleted
    /// With another one, by delete rules.
    case along(ObjectID)
  }

  /// The objects that go.
  var fates: [ObjectID: Fate] {
    var fates: [ObjectID: Fate] = [:]
    for deletion in deletions {
      for id in deletion.along where fates[id] == nil { fates[id] = .along(deletion.object) }
    }
    for deletion in deletions { fates[deletion.object] = .deleted }
    return fates
  }

  /// What is prepared, for each object by the names of its properties.
  var changed: [ObjectID: [String: Value]] {
    values.reduce(into: [:]) { $0[$1.object, default: [:]][$1.column.name] = $1 }
  }

  /// An entry as the change that it will be.
  func change(of entry: Entry) -> ObjectChange {
    let label = labels[entry.object] ?? ""
    switch entry {
    case .deletion(let deletion): return ObjectChange(.delete, of: deletion.object, label: label)
    case .value(let value):
      switch value.change {
      case .attribute(let new):
        return ObjectChange(
          .update, of: value.object, label: label,
          attributes: [.init(value.column.path, from: value.old, to: .value(new))])
      case .toOne(let new):
        var old: ObjectID?
        if case .toOne(let id) = value.old { old = id }
        return ObjectChange(
          .update, of: value.object, label: label,
          relationships: [
            .init(value.column.name, added: new.map { [$0] } ?? [], removed: old.map { [$0] } ?? [])
          ])
      case .toMany(let links):
        var change = ObjectChange.RelationshipChange(
          value.column.name, added: links.added, removed: links.removed)
        change.isReordered = links.isReordering(value.old)
        return ObjectChange(.update, of: value.object, label: label, relationships: [change])
      }
    }
  }

  /// What an entry does, in a few words.
  func words(of entry: Entry) -> String {
    switch entry {
    case .value(let value): "\(value.object) \(value.column.name) = \(text(of: value).text)"
    case .deletion(let deletion):
      "deletion of \(deletion.object)"
        + (deletion.along.isEmpty
          ? "" : " and with it " + NumberText.counted(deletion.along.count, "object"))
    }
  }

  /// What is prepared for a property, as a cell shows it.
  func text(of value: Value) -> ValueText {
    switch value.change {
    case .attribute(.bytes(let bytes)):
      ValueText(
        .data(DataValue(location: .row, count: bytes.count, bytes: bytes)), of: value.column)
    case .attribute(let new): ValueText(.value(new), of: value.column)
    case .toOne(let id):
      if let id, let label = labels[id], !label.isEmpty {
        ValueText("→ \(label) (\(id))", .relationship)
      } else {
        ValueText(.toOne(id), of: value.column)
      }
    case .toMany(let links):
      ValueText(links.words(value.old), .relationship)
    }
  }
}

extension PreparedEdits.Links {
  /// `+1 −2 reordered`
  func words(_ old: PropertyValue) -> String {
    [
      added.isEmpty ? "" : "+\(added.count)", removed.isEmpty ? "" : "−\(removed.count)",
      isReordering(old) ? "reordered" : "",
    ].filter { !$0.isEmpty }.joined(separator: " ")
  }
}

extension PreparedEdits.Value {
  /// Whether the property holds that already.
  fileprivate var isNothing: Bool {
    switch (change, old) {
    case (.attribute(.bytes(let new)), .data(let old)):
      old.isReadable && old.count == new.count && old.bytes == new
    case (.attribute(let new), .value(let old)): new.isExactly(old)
    case (.toOne(let new), .toOne(let old)): new == old
    case (.toMany(let links), _): links.isEmpty
    default: false
    }
  }

  fileprivate var assignments: [StoreEdit.Assignment] {
    let name = column.name
    switch change {
    case .attribute(let value): return [.attribute(name, value)]
    case .toOne(let id): return [.toOne(name, id)]
    case .toMany(let links):
      if let order = links.order { return [.toMany(name, .set, order)] }
      return (links.removed.isEmpty ? [] : [.toMany(name, .remove, links.removed)])
        + (links.added.isEmpty ? [] : [.toMany(name, .add, links.added)])
    }
  }

  /// What leads from the old value to the text of the new one: a reference's text has an arrow already.
  var arrow: String { if case .toOne(_?) = change { "" } else { "→ " } }
}

extension PreparedEdits {
  /// The longest value that is part of a command line.
  private static let longest = 200

  /// The arguments of the command that does the same; `nil` where several objects change, or a value is long or of
  /// bytes.
  var arguments: String? {
    let values = values
    var words: [String] = []
    if let first = values.first {
      guard values.allSatisfy({ $0.object == first.object }) else { return nil }
      let texts = values.compactMap(\.typed)
      guard texts.count == values.count else { return nil }
      words = [first.object.description] + texts.flatMap { $0 }
    }
    words += deletions.flatMap { ["--delete", $0.object.description] }
    guard !words.isEmpty, words.allSatisfy({ $0.count <= Self.longest }) else { return nil }
    return words.map(ShellText.quoted).joined(separator: " ")
  }
}

extension PreparedEdits.Value {
  /// The arguments of the command line; `nil` for bytes.
  fileprivate var typed: [String]? {
    switch change {
    case .attribute(.bytes): nil
    case .attribute(let value): ["\(column.name)=\(AssignmentText.text(of: value))"]
    case .toOne(let id): ["\(column.name)=\(id?.description ?? "null")"]
    case .toMany(let links):
      (links.order.map { [($0, "=")] } ?? [(links.removed, "-="), (links.added, "+=")])
        .filter { !$0.0.isEmpty }.map { ids, sign in
          column.name + sign + ids.map(\.description).joined(separator: ",")
        }
    }
  }
}

/// Preparing, and taking back, from the state.
extension State {
  /// Changes what is prepared; `u` takes it back.
  mutating func prepare(_ work: (inout PreparedEdits) -> Void) {
    let former = arrangement
    work(&known.prepared)
    did(since: former)
  }

  /// What was prepared is written, or fits the store no more: none of it can be had again.
  mutating func forgetPrepared() {
    known.prepared = PreparedEdits()
    done.changeAll { $0.prepared = PreparedEdits() }
  }

  /// The store is another one, or of another shape: what was prepared for the former cannot be written.
  mutating func dropPrepared(unlessFor former: StoreSummary?, _ store: StoreSummary) {
    guard !known.prepared.isEmpty, let former, !former.isAlike(store) else { return }
    notice = Notice(
      "\(known.prepared.words) of the former store were discarded: this is another store now",
      .warning)
    forgetPrepared()
  }

  /// Checks what is prepared, and asks whether it is to be written.
  mutating func writePrepared() -> [Effect] {
    let order = EditOrder(edit: known.prepared.edit, words: known.prepared.words)
    return show(EditCheckLayer(order)) { $0.begin(in: &$1) }
  }
}
