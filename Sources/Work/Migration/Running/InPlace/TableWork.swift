import ManagedModel
import ManagedStore
import Mapping
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
  /// Z_ENT of the source's rows that stay.
  var kept: Set<Int64> = []
  /// Z_ENT of rows that nothing takes.
  var removed: [Int64] = []

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
  /// Decides how a table of the destination comes about: how its rows differ from those that it has.
  ///
  /// Renaming and appending columns costs no more than their values. A column that goes or changes
  /// its place needs the whole table written again, as Core Data does too.
  ///
  /// - Parameter rows: those that the step gives it, as ``rows(for:)`` has them.
  func work(for table: StoreSchema.Table, _ rows: [RowProgram]) -> TableWork {
    guard !rows.isEmpty, rows.allSatisfy({ $0.source == .objects(of: table.name) }),
      let actual = store.database.tables[table.name],
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
    alteration.renamed = renames(of: table, present, rows)
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
    let sources = rows.compactMap { row in
      mapping.mapping(named: row.mapping)?.source.flatMap(store.table(of:)).map { ($0, row) }
    }
    alteration.kept = Set(sources.map { $0.0.entityID })
    alteration.removed = sourceModel.subtree(of: former.root).compactMap {
      store.table(of: $0)?.entityID
    }.filter { !alteration.kept.contains($0) }
    var foreign: [(number: Int64, column: String)] = []
    for (index, column) in table.columns.enumerated() where !renamed.contains(column.name) {
      var values: [(Int64, String)] = []
      for (source, row) in sources {
        let number = source.entityID
        let value = row.own[row.own.startIndex + index].value.meanwhile
        guard value.reads.isDisjoint(with: gone) else { return .rebuild }
        // Links are set later, in columns that are empty until then.
        let sql = value.isLater ? "NULL" : value.sql
        guard kept[column.name] != nil else {
          if let sql, !value.isLater, value != .constant(.null) { values.append((number, sql)) }
          continue
        }
        // Columns of other entities are empty in these rows, unless they were theirs before.
        guard let sql else {
          guard !column.content.isHeld(by: row.entity, in: destinationModel),
            !held(column.name, before: source.entity)
          else { return .rebuild }
          foreign.append((number, column.name))
          continue
        }
        // All of a row is set at once, from what it was: any value over its own columns will do.
        if value.plainColumn != column.name { values.append((number, sql)) }
      }
      if !values.isEmpty { alteration.assignments.append((column.name, values)) }
    }
    let numbers = sources.compactMap { source, row -> (Int64, String)? in
      guard case .constant(.integer(let new))? = row.value(of: "Z_ENT"), new != source.entityID
      else { return nil }
      return (source.entityID, String(new))
    }
    if !numbers.isEmpty { alteration.assignments.append(("Z_ENT", numbers)) }
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
    of table: StoreSchema.Table, _ present: [String: String], _ rows: [RowProgram]
  ) -> [(from: String, to: StoreSchema.Column)] {
    let formers = table.columns.enumerated().compactMap { index, column in
      formerName(rows.map { $0.own[$0.own.startIndex + index].value.meanwhile }).flatMap {
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
  private func formerName(_ values: [ColumnValue]) -> String? {
    // Rows of other entities may hold what an earlier migration left there.
    let names = values.map(\.plainColumn)
    return names.allSatisfy { $0 == names.first } ? names.first ?? nil : nil
  }

  /// Whether a source entity's objects may have something in a column.
  private func held(_ column: String, before from: String) -> Bool {
    store.schema.table(of: from)?.columns.first { $0.name == column }?.content
      .isHeld(by: from, in: sourceModel) ?? true
  }

  /// Mappings whose objects end in the table of a hierarchy.
  func mappings(into table: StoreSchema.Table) -> [EntityMapping] {
    mapping.mappings(toDestinations: destinationModel.subtree(of: table.root)).filter {
      $0.source != nil
    }
  }
}
