import Comparison
import ManagedModel
import ManagedStore
import Terminal
import Watching

/// What is done when another program saves to the store.
package enum RefreshMode: String, Sendable, CaseIterable {
  /// Rows are read again where they stand, and what changed is marked.
  case live
  /// Rows stay as they are, and what changed is marked.
  case mark
  /// Nothing is read or marked.
  case ask
}

/// What one save changed, or several that cannot be separated, and the local time when it was noticed.
package struct SeenSave: Sendable, Equatable {
  var save: ObservedSave
  /// `12:04:11`
  var time: String
  /// Whether ``StoreChange/saved(_:)`` has counted it already.
  var isCounted: Bool

  /// How much of it is kept: itself and its objects.
  package var weight: Int { 1 + save.changes.count }

  /// A save, with the local time of day.
  package init(_ save: ObservedSave, time: String, isCounted: Bool = false) {
    (self.save, self.time, self.isCounted) = (save, time, isCounted)
  }
}

/// What is different between another file, as it was, and the store.
package struct StoreDifferences: Sendable, Equatable {
  /// The other file.
  var path: String
  var counts: [ComparisonSummary.EntityCount]
  /// The first objects of each entity that differ.
  var changes: [ObjectChange]
  /// What else differs, as sentences.
  var notes: [String]

  /// What a comparison found.
  package init(
    path: String, counts: [ComparisonSummary.EntityCount], changes: [ObjectChange],
    notes: [String]
  ) {
    (self.path, self.counts, self.changes, self.notes) = (path, counts, changes, notes)
  }

  /// The same from the store to the other file.
  var swapped: StoreDifferences {
    var swapped = self
    swapped.counts = counts.map { count in
      var count = count
      (count.inserted, count.deleted) = (count.deleted, count.inserted)
      return count
    }
    swapped.changes = changes.map(\.swapped)
    return swapped
  }
}

/// What other programs did to the store since it was opened.
package struct StoreNews: Sendable, Equatable {
  /// Objects that are marked, and those that are kept of saves; beyond that memory stays flat.
  private static let (mostMarks, mostChanges) = (10_000, 3_000)

  /// What became of its files since it was read with ^R; `nil` where nothing did.
  private(set) var change: StoreChange?
  /// How often it was saved to since then; `nil` where not all saves can be counted.
  private(set) var count: Int? = 0
  /// When it was read: `12:04`.
  private(set) var since = ""
  /// What became of objects since then, or is different in another file.
  private(set) var marks: [ObjectID: ObjectChange] = [:]
  /// When the store was opened, and what was saved since, the oldest first.
  private(set) var opened = ""
  private(set) var saves: [SeenSave] = []
  /// Saves that are not kept any more.
  private(set) var forgotten = 0
  /// How many of ``saves`` there were before the first that is kept.
  private(set) var dropped = 0
  /// Whether there is a copy that saves are compared with.
  enum Watch: Sendable, Equatable {
    case awaited, begun
    /// It is made at the first save, for the reason given.
    case postponed(String)
    case failed(String)

    /// - Parameter error: why there is no copy; `nil` if there is one.
    init(_ error: CoreDataError?) {
      self =
        switch error {
        case nil: .begun
        case let error? where error.kind == .refused: .postponed(error.message)
        case let error?: .failed(error.message)
        }
    }
  }

  var watch = Watch.awaited
  /// Whether saves come faster than they can be listed.
  var isLate = false
  /// What was found different in another file last.
  private(set) var differences: StoreDifferences?
  /// Whether that came after the last save that is known.
  private(set) var endsWithDifferences = false
  /// Saves of which it is not known what they changed; `nil` where nothing counts them.
  private(set) var unlisted: Int? = 0

  /// The store was read at this time: nothing is new.
  mutating func begin(at clock: String) {
    (change, count, marks) = (nil, 0, [:])
    since = String(clock.prefix(5))
    if opened.isEmpty { opened = since }
  }

  mutating func take(_ change: StoreChange) {
    switch change {
    case .saved(0): return
    case .saved(let saves):
      count(saves)
      unlisted = unlisted.flatMap { known in saves.map { known + $0 } }
    case .replaced:
      self.change = change
      count = nil
    case .gone: self.change = change
    }
  }

  private mutating func count(_ saves: Int?) {
    if change != .replaced { change = .saved(nil) }
    count = count.flatMap { known in saves.map { known + $0 } }
  }

  /// Takes saves; their objects are marked unless nothing is read before ^R.
  mutating func take(_ saves: [SeenSave], marks: Bool) {
    for seen in saves {
      if seen.isCounted {
        unlisted = unlisted.flatMap { known in seen.save.saves.map { max(0, known - $0) } }
      } else {
        count(seen.save.saves)
      }
      if marks { mark(seen.save.changes) }
    }
    self.saves += saves
    if !saves.isEmpty { endsWithDifferences = false }
    forgetOldest()
  }

  private mutating func forgetOldest() {
    var weight = saves.reduce(0) { $0 + $1.weight }
    let most = saves.dropLast().prefix { seen in
      defer { weight -= seen.weight }
      return weight > Self.mostChanges
    }
    forgotten += most.reduce(0) { $0 + ($1.save.saves ?? 1) }
    dropped += most.count
    saves.removeFirst(most.count)
  }

  /// Keeps what is different in another file.
  mutating func keep(_ differences: StoreDifferences) {
    (self.differences, endsWithDifferences) = (differences, true)
  }

  /// Marks what is different in another file, in place of what was saved.
  mutating func mark(against differences: StoreDifferences) {
    marks = [:]
    mark(differences.changes)
  }

  private mutating func mark(_ changes: [ObjectChange]) {
    for change in changes {
      guard let id = change.b ?? change.a, marks[id] != nil || marks.count < Self.mostMarks else {
        continue
      }
      marks.add(change, of: id)
    }
  }

  /// A save and those after it.
  ///
  /// - Parameter first: its place among all, those that are not kept any more included.
  func saves(since first: Int) -> [SeenSave] { Array(saves.dropFirst(max(0, first - dropped))) }

  /// The changes of those saves together, each object once. One that was inserted and deleted is left out.
  func changes(since first: Int) -> [ObjectChange] {
    var (sums, order): ([ObjectID: ObjectChange], [ObjectID]) = ([:], [])
    var known: Set<ObjectID> = []
    for change in saves(since: first).flatMap(\.save.changes) {
      guard let id = change.b ?? change.a else { continue }
      if known.insert(id).inserted { order.append(id) }
      sums.add(change, of: id)
    }
    return order.compactMap { sums[$0] }
  }

  /// What is not known, as a clause: the first saves may come before what they are compared with.
  var unlistedWords: String {
    let late = isLate ? "; saves come too fast to be listed now" : ""
    guard unlisted != 0 else { return late }
    let saves = unlisted.map { NumberText.counted($0, "save") } ?? "saves"
    return "; what \(saves) changed is not known" + late
  }

  /// `3 saves`, or that it changed where nothing counts how often.
  var words: String {
    guard let count, count > 0 || !isLate else { return "changed" }
    return (isLate ? "more than " : "") + NumberText.counted(count, "save")
  }
}

extension [ObjectID: ObjectChange] {
  /// Adds a change of an object to those before it.
  fileprivate mutating func add(_ change: ObjectChange, of id: ObjectID) {
    self[id] = self[id].map { $0.followed(by: change) } ?? change
  }
}

extension ObjectChange {
  /// This change and a later one of the same object as one; `nil` where together they change nothing.
  func followed(by later: ObjectChange) -> ObjectChange? {
    let (wasThere, isThere) = (kind != .insert, later.kind != .delete)
    guard wasThere || isThere else { return nil }
    var change = later
    change.kind = wasThere ? isThere ? .update : .delete : .insert
    (change.a, change.b) = (wasThere ? a : nil, isThere ? later.b : nil)
    change.attributes = attributes
    for attribute in later.attributes {
      if let index = change.attributes.firstIndex(where: { $0.path == attribute.path }) {
        change.attributes[index].new = attribute.new
      } else {
        change.attributes.append(attribute)
      }
    }
    change.attributes.removeAll { $0.old == $0.new }
    change.relationships = relationships
    for relationship in later.relationships {
      guard
        let index = change.relationships.firstIndex(where: { $0.name == relationship.name })
      else {
        change.relationships.append(relationship)
        continue
      }
      change.relationships[index].follow(with: relationship)
    }
    change.relationships.removeAll { $0.added.isEmpty && $0.removed.isEmpty && !$0.isReordered }
    let isNothing = change.attributes.isEmpty && change.relationships.isEmpty
    return change.kind == .update && isNothing ? nil : change
  }

  /// The sign that stands before the object, so that no colour is needed.
  var sign: String {
    switch kind {
    case .insert: "+"
    case .update: "~"
    case .delete: "−"
    }
  }

  var role: Theme.Role {
    switch kind {
    case .insert: .added
    case .update: .changed
    case .delete: .removed
    }
  }

  /// What became of the object, as a word.
  var word: String {
    switch kind {
    case .insert: "inserted"
    case .update: "changed"
    case .delete: "deleted"
    }
  }

  /// Whether a column shows something that changed.
  func changes(_ column: RowColumn) -> Bool {
    attributes.contains { $0.path == column.path }
      || relationships.contains { $0.name == column.name }
  }

  /// What was in a column before, as a text; `nil` where nothing of it changed.
  func former(_ column: RowColumn) -> ValueText? {
    if let change = attributes.first(where: { $0.path == column.path }) {
      return change.old.map { ValueText($0.value, of: column) } ?? ValueText(.null)
    }
    guard let change = relationships.first(where: { $0.name == column.name }) else { return nil }
    if column.isToMany { return ValueText(change.words, .relationship) }
    return ValueText(.toOne(change.removed.first), of: column)
  }
}

extension ObjectChange.RelationshipChange {
  fileprivate mutating func follow(with later: ObjectChange.RelationshipChange) {
    let (gone, back) = (Set(later.removed), Set(later.added))
    let (added, removed) = (Set(self.added), Set(self.removed))
    self.added =
      self.added.filter { !gone.contains($0) } + later.added.filter { !removed.contains($0) }
    self.removed =
      self.removed.filter { !back.contains($0) } + later.removed.filter { !added.contains($0) }
    isReordered = isReordered || later.isReordered
  }

  /// `+2 −1`
  var words: String {
    var parts: [String] = []
    if !added.isEmpty { parts.append("+\(NumberText.grouped(added.count))") }
    if !removed.isEmpty { parts.append("−\(NumberText.grouped(removed.count))") }
    if isReordered { parts.append("reordered") }
    return parts.joined(separator: " ")
  }
}
