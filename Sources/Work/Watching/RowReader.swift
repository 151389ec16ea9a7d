import Comparison
import ManagedStore
import SQLite

/// Reads the objects that changed rows concern, before and after a change, and says what differs.
///
/// A row of an entity's table is an object, and may be a link from another; a row of a join table is a link between
/// two. What a link leads from counts as changed, too.
final class RowReader {
  /// A row that is or may be an object: its table and its key.
  struct Candidate: Hashable {
    var table: String
    var key: Int64
  }

  /// Which of the two states of the store is read.
  enum Moment {
    case before, after

    /// The other one.
    var other: Moment { self == .before ? .after : .before }
  }

  /// What a candidate is in one state.
  private struct State {
    var side: ObjectSide
    var object: ObjectCursor.Object
    /// Whether it is one of those that were asked for.
    var counts: Bool
    /// Whether its links were read, too, and not only its row.
    var hasLinks: Bool
  }

  /// What reads objects of an entity.
  private struct Reading: Hashable {
    var entity: String
    var hasLinks: Bool
  }

  /// Columns of a table's rows that lead to an object.
  private struct Link: Hashable {
    var owner: String
    var rest: [String]
    /// The table of that object.
    var table: String
  }

  private let store: Store
  private let request: WatchRequest
  private let links: [String: [Link]]
  private let entities: [String: EntityTable]
  private var sides: [Reading: ObjectSide] = [:]
  /// What compares objects, by their entity.
  private var differences: [String: ObjectDifference] = [:]
  private var states: [Moment: [Candidate: State?]] = [:]

  init(_ store: Store, _ request: WatchRequest) {
    (self.store, self.request) = (store, request)
    entities = Dictionary(
      store.entityTables.filter(\.isWholeTable).map { ($0.table, $0) }
    ) { first, _ in first }
    var links: [String: Set<Link>] = [:]
    for table in store.entityTables {
      for entry in table.relationships {
        guard let storage = entry.storage, storage.kind != .toOne else { continue }
        let rest = [storage.destination, storage.position].compactMap { $0 }
        links[storage.table, default: []].insert(
          Link(owner: storage.owner, rest: rest, table: table.table))
        guard storage.kind == .reflexive else { continue }
        links[storage.table, default: []].insert(
          Link(owner: storage.destination, rest: [storage.owner], table: table.table))
      }
    }
    self.links = links.mapValues(Array.init)
  }

  /// The tables whose rows are objects or links.
  var tables: Set<String> {
    Set(entities.keys).union(links.keys).filter { store.database.contains($0) }
  }

  /// Forgets what objects were, for the next change.
  func clear() { states = [:] }

  /// Looks again for what is outside of rows: files of external data.
  func lookAgain() { sides.removeAll() }

  // MARK: Candidates

  /// Rows of a part: objects that are before and after in memory at once.
  private static let partSize = 2000

  /// Rows of tables, whose keys rise, in parts of at most so many.
  static func parts(of rows: [String: [Int64]]) -> [[String: [Int64]]] {
    guard rows.values.reduce(0, { $0 + $1.count }) > partSize else { return [rows] }
    var parts: [[String: [Int64]]] = []
    for (table, keys) in rows.sorted(by: { $0.key.precedes($1.key) }) {
      for start in stride(from: 0, to: keys.count, by: partSize) {
        parts.append([table: Array(keys[start..<min(start + partSize, keys.count)])])
      }
    }
    return parts
  }

  /// The objects that are rows.
  func objects(_ rows: [String: [Int64]]) -> Set<Candidate> {
    var found: Set<Candidate> = []
    for (table, keys) in rows where entities[table] != nil {
      for key in keys { found.insert(Candidate(table: table, key: key)) }
    }
    return found
  }

  /// The objects of which links came or went with rows: from what ``values(of:)`` were before and after.
  func owners(
    _ rows: [String: [Int64]], _ before: [Candidate: [[Value]]], _ after: [Candidate: [[Value]]]
  ) -> Set<Candidate> {
    var found: Set<Candidate> = []
    for (table, keys) in rows {
      for key in keys {
        let row = Candidate(table: table, key: key)
        for (place, link) in (links[table] ?? []).enumerated() {
          let states = [before[row], after[row]].map { values in
            values.flatMap { $0.indices.contains(place) ? $0[place] : nil }
          }
          guard states[0] != states[1] else { continue }
          for owner in states.compactMap({ $0?.first?.integer }) {
            found.insert(Candidate(table: link.table, key: owner))
          }
        }
      }
    }
    return found
  }

  /// The objects that are rows of a part, and owners of links in it.
  ///
  /// - Parameter all: the rows of all parts, in rising order of keys: those of another part come with it.
  func candidates(
    _ rows: [String: [Int64]], of all: [String: [Int64]], _ owners: Set<Candidate>
  ) -> Set<Candidate> {
    objects(rows).union(owners.filter { !Self.contains($0.key, all[$0.table] ?? []) })
  }

  private static func contains(_ key: Int64, _ sorted: [Int64]) -> Bool {
    var (low, high) = (0, sorted.count)
    while low < high {
      let middle = (low + high) / 2
      if sorted[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low < sorted.count && sorted[low] == key
  }

  /// What rows hold in the columns of each link of their table, as the store is now; nothing for a row that is not
  /// there.
  func values(of rows: [String: [Int64]]) throws -> [Candidate: [[Value]]] {
    var found: [Candidate: [[Value]]] = [:]
    for (table, keys) in rows {
      guard let links = links[table] else { continue }
      let columns = links.map { [$0.owner] + $0.rest }
      let statement = try store.connection.cached(
        """
        SELECT \(columns.joined().map(quoted).joined(separator: ", ")) FROM \(quoted(table))
        WHERE rowid = ?
        """)
      defer { statement.reset() }
      for key in keys {
        try statement.bind([.integer(key)])
        guard try statement.step() else { continue }
        var row = statement.row()[...]
        found[Candidate(table: table, key: key)] = columns.map { columns in
          defer { row = row.dropFirst(columns.count) }
          return Array(row.prefix(columns.count))
        }
      }
    }
    return found
  }

  // MARK: Objects

  /// Reads objects as they are now, which is before or after the change.
  ///
  /// One object may have hundreds of thousands of links: they are read where they are needed.
  ///
  /// - Parameter owners: the objects whose links are read. Those that are not there, or are of another entity, at the
  ///   other moment are read with their links in any case.
  func read(_ candidates: Set<Candidate>, _ moment: Moment, owners: Set<Candidate>) throws {
    for candidate in missing(of: candidates, moment, owners: owners) {
      var hasLinks = owners.contains(candidate)
      if let other = states[moment.other]?[candidate], other == nil { hasLinks = true }
      var found = try state(of: candidate, hasLinks: hasLinks)
      if let other = states[moment.other]?[candidate], let known = found, !known.hasLinks,
        known.side.table.entity != other?.side.table.entity
      {
        found = try state(of: candidate, hasLinks: true)
      }
      states[moment, default: [:]].updateValue(found, forKey: candidate)
    }
  }

  /// Objects that must be read, once more for those whose links are needed and were not read.
  func missing(
    of candidates: Set<Candidate>, _ moment: Moment, owners: Set<Candidate>
  ) -> Set<Candidate> {
    candidates.filter { candidate in
      guard let known = states[moment]?[candidate] else { return true }
      guard let known, !known.hasLinks else { return false }
      guard !owners.contains(candidate) else { return true }
      guard let other = states[moment.other]?[candidate] else { return false }
      return other?.side.table.entity != known.side.table.entity
    }
  }

  /// Adds what differs of objects that were read both before and after the change.
  func compare(
    _ candidates: Set<Candidate>, into save: inout ObservedSave, _ outlet: SaveOutlet
  ) throws {
    var found: [(entity: String, key: Int64, old: State?, new: State?)] = []
    for candidate in candidates {
      let old = states[.before]?[candidate] ?? nil
      let new = states[.after]?[candidate] ?? nil
      let isSame = old?.side.table.entity == new?.side.table.entity
      if isSame || old == nil || new == nil {
        guard let side = (new ?? old)?.side else { continue }
        found.append((side.table.entity, candidate.key, old, new))
      } else {
        // The key went to an object of another entity.
        for (old, new) in [(old, nil), (nil, new)] as [(State?, State?)] {
          guard let side = (new ?? old)?.side else { continue }
          found.append((side.table.entity, candidate.key, old, new))
        }
      }
    }
    found.sort { one, other in
      one.entity == other.entity ? one.key < other.key : one.entity.precedes(other.entity)
    }
    for (entity, _, old, new) in found {
      guard old?.counts == true || new?.counts == true,
        let change = try change(from: old, to: new)
      else { continue }
      let known = save.counts.lastIndex { $0.entity == entity }
      if known == nil { save.counts.append(.init(entity: entity)) }
      let place = known ?? save.counts.count - 1
      switch change.kind {
      case .insert: save.counts[place].inserted += 1
      case .update: save.counts[place].updated += 1
      case .delete: save.counts[place].deleted += 1
      }
      try outlet.add(change, to: &save)
    }
  }

  private func change(from old: State?, to new: State?) throws -> ObjectChange? {
    switch (old, new) {
    case (let old?, let new?):
      var unreadable = 0
      let table = new.side.table
      let difference = differences[table.entity] ?? ObjectDifference(of: table)
      differences[table.entity] = difference
      return try difference.change(
        from: old.object, to: new.object, old.side, new.side, unreadable: &unreadable)
    case (let old?, nil): return try old.side.change(.delete, old.object)
    case (nil, let new?): return try new.side.change(.insert, new.object)
    case (nil, nil): return nil
    }
  }

  /// What a row is as the store is now; `nil` where it is not there, or not asked for.
  private func state(of candidate: Candidate, hasLinks: Bool) throws -> State? {
    guard let root = entities[candidate.table], store.database.contains(root.table) else {
      return nil
    }
    var entity = root.entity
    if root.numbers.count > 1 {
      let statement = try store.connection.cached(
        "SELECT Z_ENT FROM \(quoted(root.table)) WHERE Z_PK = ?")
      defer { statement.reset() }
      try statement.bind([.integer(candidate.key)])
      guard try statement.step(), let name = store.entityNames[statement.integer(at: 0)] else {
        return nil
      }
      entity = name
    }
    guard let side = try side(of: entity, hasLinks: hasLinks),
      let object = try side.object(candidate.key)
    else { return nil }
    return State(
      side: side, object: object, counts: try side.counts(candidate.key), hasLinks: hasLinks)
  }

  private func side(of entity: String, hasLinks: Bool) throws -> ObjectSide? {
    let reading = Reading(entity: entity, hasLinks: hasLinks)
    if let side = sides[reading] { return side }
    guard let table = store.table(of: entity) else { return nil }
    if !request.entities.isEmpty {
      let kinds = store.model.lineage(of: entity).map(\.name)
      guard kinds.contains(where: request.entities.contains) else { return nil }
    }
    let filter = request.predicate.flatMap {
      try? RowFilter($0, entity: entity, store: store)
    }
    let side = try ObjectSide(
      store, table, filter: filter, isFiltered: request.predicate != nil,
      fileLimit: Self.fileLimit, properties: hasLinks ? nil : Self.properties(inRowsOf: table))
    sides[reading] = side
    return side
  }

  /// Names of the properties that stand in an object's own row.
  private static func properties(inRowsOf table: EntityTable) -> Set<String> {
    let own = table.relationships.filter { $0.storage?.kind == .toOne }
    return Set(table.attributes.map(\.attribute.name) + own.map(\.relationship.name))
  }

  /// Bytes of an external data file that are read: whether two files differ their digests show.
  private static let fileLimit = 4096
}
