import SQLite

extension SalvagedCopy {
  /// Makes what the store's own schema has of a kind.
  func makeObjects(_ type: String) {
    for entry in source.objects where entry.object.type == type {
      guard let sql = entry.object.sql else { continue }
      do { try create(sql) } catch {
        let message = (error as? SQLiteError)?.message ?? "\(error)"
        notes.append("The \(type) \(entry.object.name) could not be made: \(message).")
      }
    }
  }

  /// Makes the indexes of the store's own schema, else those that Core Data would.
  func makeStatedIndexes() throws {
    if source.isSchemaWhole {
      makeObjects("index")
    } else if let sibling {
      try make(sibling.statements("index"))
    } else if let schema {
      try make(schema.indexStatements().map { ($0.name, $0.sql) } + indexesOfHistory)
    }
  }

  func makeIndexes() throws {
    if hasCopiedTrees {
      for index in trees.emptyIndexes { try connection.execute("REINDEX \(quoted(index))") }
    } else {
      try makeStatedIndexes()
    }
    if source.isSchemaWhole {
      makeObjects("view")
    } else if let sibling {
      try make(sibling.statements("view"))
    }
  }

  /// Makes the triggers, once everything is in that is to be in it.
  package func makeTriggers() throws {
    if source.isSchemaWhole {
      makeObjects("trigger")
    } else if let sibling {
      try make(sibling.statements("trigger"))
    } else if let schema {
      try make(schema.triggerGroups.flatMap(\.statements).map { ($0.name, $0.sql) })
    }
  }

  func make(_ statements: [(name: String, sql: String)]) throws {
    for (name, sql) in statements {
      do { try create(sql) } catch let error as SQLiteError {
        notes.append("\(name) could not be made: \(error.message).")
      }
    }
  }
}
