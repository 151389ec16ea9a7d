import ManagedModel
import ManagedStore
import SQLite

/// What must happen to one table of the clone, decided before anything runs.
enum TableWork {
  /// The columns stay where they are; some may be appended, filled, or take new entity numbers.
  case alter(TableAlteration)
  /// The table is rebuilt and its rows are copied from the source.
  case rebuild
}

struct TableAlteration {
  /// Columns that only change their name: the former one, and the column. One may take the former
  /// name of another.
  var renamed: [(from: String, to: StoreSchema.Column)] = []
  /// Columns to append: name and type.
  var added: [StoreSchema.Column] = []
  /// Column and, for rows of each Z_ENT of the source, the expression over the row `s` itself.
  var assignments: [(column: String, values: [(number: Int64, sql: String)])] = []

  /// The renamings one after the other: by way of names that nobody has, where a name is taken until
  /// another column has given it up.
  var renamings: [(from: String, to: String)] {
    let former = Set(renamed.map(\.from))
    let detours = renamed.enumerated().filter { former.contains($0.element.to.name) }
    let away = detours.map { (from: $0.element.from, to: "strata_\($0.offset)") }
    let back = detours.map { (from: "strata_\($0.offset)", to: $0.element.to.name) }
    let plain = renamed.filter { !former.contains($0.to.name) }.map {
      (from: $0.from, to: $0.to.name)
    }
    return away + plain + back
  }
}

extension StepSchemas {
  /// Decides how a table of the destination comes about.
  ///
  /// Renaming and appending columns costs no more than their values. A column that goes or changes
  /// its place needs the whole table written again, as Core Data does too.
  func work(for table: StoreSchema.Table) -> TableWork {
    let mappings = self.mappings(into: table)
    let sourceTables = Set(mappings.compactMap { $0.source.flatMap { store.table(of: $0)?.table } })
    guard sourceTables == [table.name], let actual = store.database.tables[table.name],
      let former = store.schema.table(named: table.name)
    else { return .rebuild }
    let present = Dictionary(first: actual.map { ($0.name, $0.type) })
    guard !present.keys.contains(where: DeferredColumn.isName) else { return .rebuild }
    let isKept = keptSQL(of: table) != nil
    // No ALTER reaches a constraint that is written into the table.
    guard isKept || store.database.sql[table.name].map(Self.hasConstraint) != true else {
      return .rebuild
    }
    var alteration = TableAlteration()
    alteration.renamed = renames(of: table, present, mappings)
    // Where all names stay, values change their columns, and the table's text is the same then. Row by
    // row a constraint would see two of one value.
    if isKept, !alteration.renamed.isEmpty { return .rebuild }
    let gone = Set(alteration.renamed.map(\.from))
    let renamed = Set(alteration.renamed.map(\.to.name))
    // What is there under its name once columns have been renamed.
    let kept = present.filter { !gone.contains($0.key) && !renamed.contains($0.key) }
    alteration.added = table.columns.filter { kept[$0.name] == nil && !renamed.contains($0.name) }
    let wanted = Set(table.columns.map(\.name))
    // A column of the source model that the destination does not have must go.
    guard former.columns.allSatisfy({ kept[$0.name] == nil || wanted.contains($0.name) }),
      table.columns.allSatisfy({ kept[$0.name].map { $0.uppercased() } ?? $0.type == $0.type })
    else { return .rebuild }
    let numbered = mappings.compactMap { mapping in
      mapping.source.flatMap { store.table(of: $0)?.entityID }.map {
        (number: $0, mapping: mapping)
      }
    }
    var foreign: [(number: Int64, column: String)] = []
    for column in table.columns where !renamed.contains(column.name) {
      var values: [(Int64, String)] = []
      for (number, entityMapping) in numbered {
        let value = value(of: column.content, in: entityMapping)
        guard value.reads.isDisjoint(with: gone) else { return .rebuild }
        // Links are set later, in columns that are empty until then.
        let sql = value.isLater ? "NULL" : value.sql
        guard kept[column.name] != nil else {
          if let sql, !value.isLater, value != .constant(.null) { values.append((number, sql)) }
          continue
        }
        // Columns of other entities are empty in these rows, unless they were theirs before.
        guard let sql else {
          let isHeld =
            entityMapping.destination.map { column.content.isHeld(by: $0, in: destinationModel) }
            ?? false
          guard !isHeld, !held(column.name, before: entityMapping)
          else { return .rebuild }
          foreign.append((number, column.name))
          continue
        }
        // All of a row is set at once, from what it was: any value over its own columns will do.
        if value.plainColumn != column.name { values.append((number, sql)) }
      }
      if !values.isEmpty { alteration.assignments.append((column.name, values)) }
    }
    return hasLeftovers(foreign, in: table.name) ? .rebuild : .alter(alteration)
  }

  /// Whether rows hold something in columns of other entities, as an earlier migration in place can
  /// leave it: they are written again without.
  private func hasLeftovers(_ columns: [(number: Int64, column: String)], in table: String) -> Bool
  {
    guard !columns.isEmpty else { return false }
    let conditions = Dictionary(grouping: columns, by: \.number).map { number, columns in
      "Z_ENT = \(number) AND (\(columns.map { "\(quoted($0.column)) IS NOT NULL" }.joined(separator: " OR ")))"
    }
    let sql =
      "SELECT EXISTS (SELECT 1 FROM \(quoted(table)) WHERE \(conditions.joined(separator: " OR ")))"
    return (try? store.connection.value(sql)) != .integer(0)
  }

  /// Columns that keep their values under another name. One may take the name of another that changes
  /// its own: a composite attribute that comes before an attribute `id` and has an element of that
  /// name turns ZID into ZID1.
  private func renames(
    of table: StoreSchema.Table, _ present: [String: String], _ mappings: [EntityMapping]
  ) -> [(from: String, to: StoreSchema.Column)] {
    let formers = table.columns.compactMap { column in
      formerName(of: column, mappings).flatMap {
        present[$0]?.uppercased() == column.type ? (from: $0, to: column) : nil
      }
    }
    var taken = Set(formers.filter { $0.from == $0.to.name }.map(\.from))
    var renames = formers.filter { $0.from != $0.to.name && taken.insert($0.from).inserted }
    // A name that is taken by a column which stays where it is, or goes, cannot be had.
    while true {
      let free = Set(renames.map(\.from))
      let possible = renames.filter { present[$0.to.name] == nil || free.contains($0.to.name) }
      if possible.count == renames.count { return renames }
      renames = possible
    }
  }

  /// The column that all rows of the table take a new one from as it is.
  private func formerName(of column: StoreSchema.Column, _ mappings: [EntityMapping]) -> String? {
    var names: Set<String> = []
    for entityMapping in mappings {
      // Rows of other entities may hold what an earlier migration left there.
      guard let name = value(of: column.content, in: entityMapping).plainColumn else { return nil }
      names.insert(name)
    }
    return names.count == 1 ? names.first : nil
  }

  /// Whether the mapping's source objects may have something in a column.
  private func held(_ column: String, before entityMapping: EntityMapping) -> Bool {
    guard let from = entityMapping.source,
      let former = store.schema.table(of: from)?.columns.first(where: { $0.name == column })
    else { return true }
    return former.content.isHeld(by: from, in: sourceModel)
  }

  /// Mappings whose objects end in the table of a hierarchy.
  func mappings(into table: StoreSchema.Table) -> [EntityMapping] {
    mapping.mappings(toDestinations: destinationModel.subtree(of: table.root)).filter {
      $0.source != nil
    }
  }
}
