import ManagedModel
import SQLite
import Salvage
import StoreTables

/// What a check of a whole file found out about the rows by the way: answers to questions for which each
/// row would be read once more.
///
/// Each answer is `nil` where it is not known: SQLite is asked then.
package struct ReadFacts: Sendable {
  /// What is to be found out of a table, by the names of its columns.
  package struct Question: Sendable {
    /// Whether rows are of several entities, by their Z_ENT.
    var hasKinds: Bool
    /// Whether the rows' own keys are kept.
    var keys = true
    /// Columns that hold keys of other rows.
    var references: [String] = []
    /// Columns whose values may be in files.
    var marked: [String] = []

    /// How many rows of each entity there are, and how many of them hold something in each column.
    package static let counts = Question(hasKinds: true, keys: false)
    /// How many rows there are.
    package static let rows = Question(hasKinds: false, keys: false)
  }

  /// A table as it was read, and which of its columns is where.
  struct Table: Sendable {
    var facts: RowFacts
    var places: [String: Int]
    var filled: Set<Int>
    /// The name of the rows' key, where the table has one of its own.
    var key: String?

    var isEmpty: Bool { facts.kinds.allSatisfy { $0.rows == 0 } }
  }

  private var tables: [String: Table] = [:]

  mutating func add(_ table: Table, of name: String) { tables[name] = table }

  /// How many rows a table has.
  package func rows(ofTable name: String) -> Int? {
    tables[name].flatMap { table in
      table.facts.isUnclear ? nil : table.facts.kinds.reduce(0) { $0 + $1.rows }
    }
  }

  /// How many rows there are of exactly an entity.
  package func rows(of entity: EntityTable) -> Int? {
    tables[entity.table].flatMap { table in
      table.facts.isUnclear ? nil : own(of: entity, table)?.reduce(0) { $0 + $1.rows }
    }
  }

  /// How many rows of exactly an entity hold NULL in a column.
  package func nulls(in column: String, of entity: EntityTable) -> Int? {
    guard let (table, place) = readable(column, of: entity.table) else { return nil }
    return own(of: entity, table)?.reduce(0) { $0 + $1.nulls(in: place) }
  }

  /// How many rows of a whole table hold NULL in a column.
  package func nulls(in column: String, ofTable name: String) -> Int? {
    readable(column, of: name).map { table, place in
      table.facts.kinds.reduce(0) { $0 + $1.nulls(in: place) }
    }
  }

  /// Whether each reference of a relationship is that of an object of its destination; an end of a join
  /// table may be NULL.
  package func isSound(_ audit: LinkAudit) -> Bool? {
    let answers = audit.keys.map(isSound)
    return answers.contains(nil) ? nil : answers.allSatisfy { $0 == true }
  }

  /// How many references of a relationship dangle, where that needs no look at any: none where all are sound, and all
  /// that are set where an end has no rows at all.
  package func dangling(_ audit: LinkAudit) -> Int? {
    if isSound(audit) == true { return 0 }
    guard audit.keys.contains(where: { objects($0.destination)?.isEmpty == true }),
      let rows = rows(ofTable: audit.storage.table)
    else { return nil }
    let empty = audit.keys.map { nulls(in: $0.column, ofTable: $0.table) }
    // Of rows that lack both ends or one of them it is not known how many these are.
    guard empty.count == 1 || empty.allSatisfy({ $0 == 0 }) else { return nil }
    return empty.first?.map { rows - $0 }
  }

  /// Whether each key in a column is that of a row of its kind.
  package func isSound(_ key: KeyColumn) -> Bool? {
    guard let (table, place) = readable(key.column, of: key.table),
      let other = objects(key.destination),
      let question = table.facts.question.references.firstIndex(of: place)
    else { return nil }
    let kinds = other.facts.kinds.filter { kind in
      key.kind.map { numbers in kind.number.map(numbers.contains) ?? false } ?? true
    }
    return table.facts.references[question].isSubset(of: kinds.map(\.keys))
  }

  /// Keys of rows of exactly an entity whose value in a column may be in a file.
  package func rowsInFiles(_ column: String, of entity: EntityTable) -> [Int64]? {
    guard let (table, place) = readable(column, of: entity.table), objects(entity.table) != nil,
      let question = table.facts.question.marked.firstIndex(of: place),
      let own = own(of: entity, table)
    else { return nil }
    let lists = own.map { $0.marked[question] }
    guard lists.allSatisfy({ $0.count <= RowFacts.mostMarked }) else { return nil }
    return lists.flatMap { $0 }
  }

  private func readable(_ column: String, of name: String) -> (Table, Int)? {
    guard let table = tables[name], !table.facts.isUnclear, let place = table.places[column],
      column != table.key, !table.filled.contains(place) || table.facts.reaches(place)
    else { return nil }
    return (table, place)
  }

  /// A table whose rows' keys are their Z_PK.
  private func objects(_ name: String) -> Table? {
    tables[name].flatMap { $0.key == "Z_PK" && !$0.facts.isUnclear ? $0 : nil }
  }

  private func own(of entity: EntityTable, _ table: Table) -> [RowFacts.Kind]? {
    if entity.ownRows() == nil { return table.facts.kinds }
    guard table.facts.question.kind != nil else { return nil }
    return table.facts.kinds.filter { $0.number == entity.entityID }
  }
}

extension ReadFacts.Table {
  /// A table that is about to be read for an answer; `nil` where it has not the columns.
  init?(_ table: IndexedTable, asked question: ReadFacts.Question) {
    let places = Dictionary(
      table.columns.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    self.places = places
    filled = table.filled
    key = table.key.flatMap { table.columns.indices.contains($0) ? table.columns[$0] : nil }
    let kind = places["Z_ENT"]
    if question.hasKinds, kind == nil { return nil }
    facts = RowFacts(
      RowFacts.Question(
        kind: question.hasKinds ? kind : nil, keys: question.keys,
        references: question.references.compactMap { places[$0] },
        marked: question.marked.compactMap { places[$0] }, mark: MarkedBytes.fileMark))
  }
}

extension StoreSchema {
  /// What is worth knowing of all rows and links of a store that is made by this schema.
  package var questions: [String: ReadFacts.Question] {
    questions(model.entities.compactMap { entityTable(of: $0.name) })
  }

  /// What is worth knowing of whether references are sound.
  package var linkQuestions: [String: ReadFacts.Question] {
    questions.mapValues { question in
      var question = question
      question.marked = []
      return question
    }
  }

  /// How many rows and links there are, and how many hold something in each column.
  package var counts: [String: ReadFacts.Question] {
    var questions: [String: ReadFacts.Question] = [:]
    for table in tables { questions[table.name] = .counts }
    for join in joins { questions[join.name] = .rows }
    return questions
  }

  /// What is worth knowing of all rows and links.
  ///
  /// - Parameter entities: where a store has the objects of each entity.
  package func questions(_ entities: [EntityTable]) -> [String: ReadFacts.Question] {
    var questions: [String: ReadFacts.Question] = [:]
    for table in tables {
      questions[table.name] = ReadFacts.Question(hasKinds: true)
      for column in table.columns {
        if case .owner = column.content { questions[table.name]?.references.append(column.name) }
      }
    }
    for entity in entities {
      for relationship in entity.relationships {
        guard let column = relationship.storage?.toOneColumn,
          questions[entity.table]?.references.contains(column) == false
        else { continue }
        questions[entity.table]?.references.append(column)
      }
      for attribute in entity.attributes
      where attribute.attribute.allowsExternalBinaryDataStorage
        && questions[entity.table]?.marked.contains(attribute.column) == false
      {
        questions[entity.table]?.marked.append(attribute.column)
      }
    }
    for join in joins {
      questions[join.name] = ReadFacts.Question(
        hasKinds: false, references: [join.first, join.second])
    }
    return questions
  }
}

extension IndexedTable {
  /// What a database's schema says about a table.
  ///
  /// - Parameter schema: the database on the connection.
  /// - Returns: `nil` where an index is over more than columns, leaves rows out, or compares texts in a
  ///   way that is not SQLite's own; for a table without pages, too.
  package init?(_ name: String, in connection: Connection, of schema: String = "main") throws {
    func root(_ type: String, _ name: String) throws -> Int? {
      try connection.value(
        "SELECT rootpage FROM \(schema).sqlite_master WHERE type = ? AND name = ?",
        [.text(type), .text(name)])?.integer.flatMap { $0 > 0 ? Int($0) : nil }
    }
    guard let own = try root("table", name) else { return nil }
    var filled: Set<Int> = []
    var names: [String] = []
    var keys: [(column: Int, type: String)] = []
    for row in try connection.rows("PRAGMA \(schema).table_xinfo(\(quoted(name)))") {
      // A column that is computed has no place of its own in a row.
      guard row.count >= 7, let column = row[0].integer, row[6].integer == 0 else { return nil }
      names.append(row[1].text ?? "")
      if let text = row[4].text, text.lowercased() != "null" { filled.insert(Int(column)) }
      if row[5].integer != 0 { keys.append((Int(column), row[2].text?.uppercased() ?? "")) }
    }
    let isUnicode16 = try connection.value("PRAGMA \(schema).encoding")?.text != "UTF-8"
    let list = try connection.rows("PRAGMA \(schema).index_list(\(quoted(name)))")
    let isKept = list.contains { $0.count >= 5 && $0[3].text == "pk" }
    let alias = !isKept && keys.count == 1 && keys[0].type == "INTEGER" ? keys[0].column : nil
    var indexes: [Index] = []
    for row in list {
      guard row.count >= 5, let index = row[1].text, row[4].integer == 0,
        let root = try root("index", index)
      else { return nil }
      var columns: [Column] = []
      for part in try connection.rows("PRAGMA \(schema).index_xinfo(\(quoted(index)))") {
        guard part.count >= 6, let column = part[1].integer, column >= -1 else { return nil }
        // What follows the columns is the row's key.
        guard part[5].integer == 1 else { continue }
        guard let collation = Collation(named: part[4].text),
          collation == .binary || !isUnicode16
        else { return nil }
        columns.append(
          Column(
            place: column < 0 || Int(column) == alias ? nil : Int(column), collation: collation,
            isDescending: part[3].integer == 1))
      }
      indexes.append(
        Index(name: index, root: root, columns: columns, isUnique: row[2].integer == 1))
    }
    self.init(
      root: own, indexes: indexes, filled: filled, columns: names, key: alias)
  }
}

extension IndexedTable.Collation {
  fileprivate init?(named name: String?) {
    switch name?.uppercased() {
    case "BINARY", nil: self = .binary
    case "NOCASE": self = .noCase
    case "RTRIM": self = .rtrim
    default: return nil
    }
  }
}
