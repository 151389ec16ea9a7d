import ManagedModel
import Salvage
import StoreTables

/// Finds pages whose rows are of another time than the store: of before a migration that gave its entities other
/// entity IDs.
///
/// No page says when it was written, but its rows do. An object keeps its entity: a copy of a live object with
/// another Z_ENT is of a time when that number was another entity's. So is a row that has a value in a column which
/// only other entities have. What else stands on such a page is of that time, too.
struct FormerPages {
  /// A page's rows of one table that are of another time.
  struct Finding {
    /// The place of their table.
    var place: Int
    /// Whether the page's own cells are, too, and not only what stands in its unallocated space.
    var isOfCells: Bool
    /// For each Z_ENT of the rows the one that the entity has now; `nil` where that is not known.
    var numbers: [Int64: Int64?]
  }

  /// What is known of a table's entities.
  private struct Entities {
    /// Their Z_ENT, each with its bit in the masks.
    var bits: [Int64: UInt64] = [:]
    /// Which entities may have a value in each column.
    var holders: [UInt64] = []
    /// The default of each column's attribute: a migration in place gives that of a new one to all rows of the table.
    var defaults: [AttributeValue?] = []
    /// The keys of live objects of each, as far as they are remembered.
    var keys: [Int64: KeySet] = [:]
  }

  /// What the rows of a table show on the page that is read.
  private struct Tally {
    /// Whether a cell of the page, or a row in its unallocated space, is of another time.
    var isShownByCell = false
    var isShownByRoom = false
    /// What Z_ENT the live objects have of which rows are copies, by the rows' own.
    var now: [Int64: Set<Int64>] = [:]
    /// Which entities all rows with a Z_ENT can be of.
    var possible: [Int64: UInt64] = [:]
  }

  private var tables: [Entities] = []
  private var tallies: [Int: Tally] = [:]
  private var remembered = 0
  /// More keys than these, which need not follow each other, are not remembered.
  private static let most = 250_000

  /// - Parameter tables: those of the entities.
  init(_ schema: StoreSchema, _ tables: [SalvagedTable]) {
    let names = Dictionary(schema.numbers.map { ($1, $0) }) { first, _ in first }
    self.tables = tables.map { table in
      var entities = Entities()
      guard (2...UInt64.bitWidth).contains(table.numbers.count) else { return entities }
      for (index, number) in table.numbers.sorted().enumerated() {
        entities.bits[number] = 1 << UInt64(index)
      }
      let columns = schema.table(named: table.name)?.columns ?? []
      entities.holders = table.columns.map { column in
        guard let content = columns.first(where: { $0.name == column.name })?.content else {
          return .max
        }
        return entities.bits.reduce(0) { mask, entry in
          let isHeld = names[entry.key].map { content.isHeld(by: $0, in: schema.model) } ?? true
          return isHeld ? mask | entry.value : mask
        }
      }
      entities.defaults = table.columns.map { column in
        guard let content = columns.first(where: { $0.name == column.name })?.content else {
          return nil
        }
        let (declarer, name) = content.property
        return schema.model.attribute(named: name, of: declarer)?.defaultValue
      }
      return entities
    }
  }

  /// Takes a row of the store: what it has, rows of its entity may have.
  mutating func learn(_ record: borrowing Record, _ place: Int, key: Int64) {
    guard let number = record.integer(1), let bit = tables[place].bits[number] else { return }
    for column in 3..<max(3, min(record.count, tables[place].holders.count))
    where record.kind(column) != .null {
      tables[place].holders[column] |= bit
    }
    guard remembered < Self.most else { return }
    let before = tables[place].keys[number]?.ranges.count ?? 0
    tables[place].keys[number, default: KeySet()].insert(key)
    remembered += (tables[place].keys[number]?.ranges.count ?? 0) - before
  }

  /// To be called once all rows of the store are learnt.
  mutating func sort() {
    for place in tables.indices {
      for number in tables[place].keys.keys { tables[place].keys[number]?.sort() }
    }
  }

  /// Takes a row of the page that is read.
  mutating func add(_ remnant: Remnant, _ record: borrowing Record, _ place: Int) {
    guard let number = record.integer(1) else { return }
    let bit = tables[place].bits[number] ?? 0
    let holders = tables[place].holders
    var possible = bit == 0 ? 0 : UInt64.max
    let defaults = tables[place].defaults
    for column in 3..<max(3, min(record.count, holders.count))
    where record.kind(column) != .null && !Self.isDefault(record, column, defaults[column]) {
      possible &= holders[column]
    }
    // Of a row that does not vouch for itself any byte may be another's.
    let isSound =
      bit != 0 && remnant.certainty == .certain && record.isWhole && !remnant.mayBeOverwritten
    let key = isSound ? remnant.key : nil
    tallies[place, default: Tally()].possible[number, default: .max] &=
      key == nil && bit != 0 ? .max : possible
    guard let key else { return }
    let now = tables[place].keys.first { $0.value.contains(key) }?.key
    if let now { tallies[place]?.now[number, default: []].insert(now) }
    guard now.map({ $0 != number }) ?? false || possible & bit == 0 else { return }
    if remnant.isCell {
      tallies[place]?.isShownByCell = true
    } else {
      tallies[place]?.isShownByRoom = true
    }
  }

  /// Whether a column holds the default of its attribute; of a default that is no number that is not known.
  private static func isDefault(
    _ record: borrowing Record, _ column: Int, _ value: AttributeValue?
  ) -> Bool {
    switch value {
    case .none, .null: false
    case .integer(let number): record.integer(column) == number
    case .boolean(let isTrue): record.integer(column) == (isTrue ? 1 : 0)
    case .double(let number), .date(let number):
      record.value(column) == .real(number)
        || Int64(exactly: number).map { record.integer(column) == $0 } ?? false
    default: true
    }
  }

  /// What the rows of the page show that was read; the next page is begun.
  mutating func finishPage() -> [Finding] {
    defer { tallies.removeAll(keepingCapacity: true) }
    let isOfCells = tallies.values.contains { $0.isShownByCell }
    guard isOfCells || tallies.values.contains(where: { $0.isShownByRoom }) else { return [] }
    return tallies.map { place, tally in
      Finding(place: place, isOfCells: isOfCells, numbers: numbers(tally, tables[place]))
    }
  }

  /// The Z_ENT that each of a page's rows has now: as copies of live objects show it, else the only one whose entity
  /// can have the rows' values.
  private func numbers(_ tally: Tally, _ entities: Entities) -> [Int64: Int64?] {
    var shown: [Int64: Int64] = [:]
    for (number, now) in tally.now where now.count == 1 { shown[number] = now.first }
    let taken = shown.values.reduce(0) { $0 | (entities.bits[$1] ?? 0) }
    var result: [Int64: Int64?] = [:]
    for (number, possible) in tally.possible {
      let left = possible & ~taken
      let only = entities.bits.filter { left & $0.value != 0 }
      result[number] =
        .some(
          shown[number]
            ?? (tally.now[number] == nil && only.count == 1 ? only.first?.key : nil))
    }
    return result
  }
}
