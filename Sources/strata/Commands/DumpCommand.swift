import ManagedStore

/// `strata dump`: every object of a store, a line of JSON each, in a fixed order.
enum DumpCommand {
  @Sendable static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let store = try StoreOpening.reading(arguments[0], model: arguments.value("model"))
    let warnings = store.warnings
    for warning in warnings { console.note("! " + warning) }
    // A bar among the lines of the dump would spoil both.
    let bar = console.isTerminal ? nil : ProgressBar(console)
    let total = bar?.isVisible == true ? try store.counts().values.reduce(0, +) : nil
    defer { bar?.clear() }
    try dump(
      store, blobs: arguments.flag("blobs"), report: { bar?.show("dump", $0, of: total, "objects") }
    ) { console.write($0) }
    bar?.clear()
    return console.finish(store, told: warnings)
  }

  /// - Parameter report: called now and then with the number of objects written.
  static func dump(
    _ store: Store, blobs: Bool, report: (Int) -> Void = { _ in }, to write: ([UInt8]) -> Void
  ) throws {
    var count = 0
    var json = JSONWriter()
    for entity in store.model.entities where store.table(of: entity.name) != nil {
      let cursor = try ObjectCursor(store, entity: entity.name)
      let tree = PropertyTree(cursor.table.attributes.map(\.path))
      while let object = try cursor.next() {
        line(object, of: cursor.table, tree, blobs: blobs, to: &json)
        count += 1
        if json.bytes.count > 1 << 16 {
          report(count)
          write(json.bytes)
          json.removeAll()
        }
      }
    }
    write(json.bytes)
  }

  private static func line(
    _ object: ObjectCursor.Object, of table: EntityTable, _ tree: PropertyTree, blobs: Bool,
    to json: inout JSONWriter
  ) {
    json.object { json in
      json.key("attributes")
      json.write(tree.nodes, object.attributes) { $0.value($1, blobs: blobs) }
      json.key("entity")
      json.string(table.entity)
      json.key("pk")
      json.number(object.key)
      json.key("relationships")
      json.object { json in
        for (entry, related) in zip(table.relationships, object.relationships) {
          json.key(entry.relationship.name)
          switch related {
          case .toOne(let id): json.string(id?.description)
          case .toMany(let ids):
            json.array { json in for id in ids { json.string(id.description) } }
          }
        }
      }
    }
    json.newline()
  }
}
