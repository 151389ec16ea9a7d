import ManagedModel
import ManagedStore
import Migration

/// `strata info`: what a store is, whose model it has, and what is in it.
enum InfoCommand {
  @Sendable static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let facts = try Waiting.tell("counting objects and files", on: console) {
      try Facts(StoreOpening.reading(arguments[0], model: arguments.value("model")))
    }
    if arguments.flag("json") {
      console.json { facts.write(to: &$0) }
    } else {
      facts.print(to: console)
    }
    return console.finish(facts.store, told: facts.warnings)
  }

  private struct Facts {
    let store: Store
    let counts: [String: Int]
    let external: ExternalDataReport
    let history: (transactions: Int, changes: Int)?
    let cloudKit: (pendingUploads: Int, pendingDeletes: Int)?
    let drift: StoreDrift
    let oneSided: [OneSidedLinks]
    let warnings: [String]

    init(_ store: Store) throws {
      self.store = store
      counts = try store.counts()
      external = try store.externalData()
      history = try store.history()
      cloudKit = try store.cloudKit()
      oneSided = try store.oneSidedLinks()
      var drift = store.drift
      drift.rows = try store.rowsOfUnknownEntities()
      self.drift = drift
      var unknown = StoreDrift()
      unknown.rows = drift.rows
      let missing =
        external.missing.isEmpty
        ? []
        : [
          "External data files are missing: \(external.missing.count) of \(external.referenced). Was the store copied without its hidden folder \(FileSystem.name(of: FileSystem.parent(of: store.files.externalDataFolder) ?? ""))?"
        ]
      warnings =
        store.warnings(naming: \.typed) + unknown.sentences + missing + external.linkSentences
        + StoreMigration.leftovers(of: store.path)
    }

    func write(to json: inout JSONWriter) {
      json.key("path")
      json.string(store.path)
      json.key("uuid")
      json.string(store.metadata.uuid)
      json.key("storeType")
      json.string(store.metadata.storeType)
      json.key("frameworkVersion")
      if let version = store.metadata.frameworkVersion { json.number(version) } else { json.null() }
      json.key("versionIdentifiers")
      json.array { json in for name in store.metadata.versionIdentifiers { json.string(name) } }
      json.key("model")
      json.object { json in
        json.key("source")
        json.string(store.modelSource == .raw ? nil : store.modelSource.rawValue)
        json.key("matches")
        json.bool(store.modelMatches)
        json.key("configuration")
        json.string(store.configuration)
      }
      json.key("entities")
      json.array { json in
        for table in store.entityTables {
          json.object { json in
            json.key("name")
            json.string(table.entity)
            json.key("id")
            json.number(table.number)
            json.key("parent")
            json.string(store.model.entity(named: table.entity)?.parent)
            json.key("count")
            json.number(counts[table.entity] ?? 0)
          }
        }
      }
      json.key("wal")
      json.object { json in
        json.key("frames")
        json.number(store.wal.frames)
        json.key("present")
        json.bool(store.wal.isPresent)
        json.key("unapplied")
        json.number(store.unappliedFrames)
        json.key("reason")
        json.string(store.unappliedFrames > 0 ? store.wal.unapplied?.reason.rawValue : nil)
      }
      json.key("externalData")
      json.numbers([
        ("referenced", external.referenced), ("missing", external.missing.count),
        ("orphaned", external.orphaned.count),
      ])
      json.key("history")
      if let history {
        json.numbers([("transactions", history.transactions), ("changes", history.changes)])
      } else {
        json.null()
      }
      json.key("cloudKit")
      if let cloudKit {
        json.numbers([
          ("pendingUploads", cloudKit.pendingUploads), ("pendingDeletes", cloudKit.pendingDeletes),
        ])
      } else {
        json.null()
      }
      json.key("warnings")
      json.array { json in for warning in warnings { json.string(warning) } }
      json.key("notes")
      json.array { json in for note in store.notes { json.string(note) } }
      json.key("damage")
      if let damage = store.damage { json.damage(damage) } else { json.null() }
      json.key("drift")
      json.drift(drift)
      json.key("oneSidedLinks")
      json.array { json in
        for links in oneSided {
          json.object { json in
            json.key("entity")
            json.string(links.entity)
            json.key("relationship")
            json.string(links.relationship)
            json.key("objects")
            json.number(links.objects)
            json.key("first")
            json.array { json in for id in links.first { json.string(id.description) } }
          }
        }
      }
    }

    private var match: String {
      if let name = store.configuration {
        return "✓ its configuration “\(name)” has the store's version hashes"
      }
      return store.modelMatches
        ? "✓ its version hashes are the store's" : "✗ its version hashes differ"
    }

    func print(to console: Console) {
      let metadata = store.metadata
      let model =
        switch store.modelSource {
        case .raw: "none: tables and columns are shown raw"
        case .store: "in the store, " + match
        case .file: "from a file, " + match
        }
      let unapplied = store.unappliedFrames
      let wal =
        (store.wal.isPresent ? "\(store.wal.frames) frames" : "none")
        + (unapplied > 0 ? ", \(unapplied) not applied" : "")
      var rows = [
        ["store", store.path], ["uuid", metadata.uuid],
        [
          "type",
          (metadata.storeType ?? "unknown")
            + (metadata.frameworkVersion.map { ", framework \($0)" } ?? ""),
        ],
        ["model", model],
        ["identifiers", metadata.versionIdentifiers.joined(separator: ", ")],
        ["wal", wal],
        [
          "external",
          "\(external.referenced) referenced, \(external.missing.count) missing, "
            + "\(external.orphaned.count) orphaned",
        ],
      ]
      if let history {
        rows.append([
          "history", "\(history.transactions) transactions, \(history.changes) changes",
        ])
      }
      if let cloudKit {
        rows.append([
          "CloudKit",
          "\(cloudKit.pendingUploads) to upload, \(cloudKit.pendingDeletes) to delete",
        ])
      }
      console.write(TextTable.text([.left, .left], rows, limit: 200))
      console.line()
      var entities = [["entity", "id", "objects"]]
      for table in store.entityTables {
        let depth = store.model.lineage(of: table.entity).count - 1
        entities.append([
          String(repeating: "  ", count: max(0, depth)) + table.entity, String(table.number),
          String(counts[table.entity] ?? 0),
        ])
      }
      console.table([.left, .right, .right], entities)
      for warning in warnings { console.line("! " + warning) }
      for links in oneSided {
        let first = links.first.map(\.description).joined(separator: ", ")
        console.line(
          "· \(links.objects) of \(links.entity).\(links.relationship) lead to objects that do not lead back (first: \(first)): Core Data's own migrations leave such one-to-ones, each side is read as it is."
        )
      }
      for note in store.notes { console.line("· " + note) }
    }
  }
}

extension JSONWriter {
  /// What is wrong with a file, and which keys that costs.
  mutating func damage(_ damage: FileDamage) {
    object { json in
      json.key("problems")
      json.array { json in for problem in damage.problems { json.string(problem) } }
      json.key("holes")
      json.array { json in
        for hole in damage.holes {
          json.object { json in
            json.key("table")
            json.string(hole.table)
            json.key("first")
            json.number(hole.first)
            json.key("last")
            if let last = hole.last { json.number(last) } else { json.null() }
            json.key("rows")
            if let counts = hole.counts {
              json.number(counts.values.reduce(0, +))
            } else {
              json.null()
            }
          }
        }
      }
    }
  }

  /// An object of counts.
  mutating func numbers(_ members: [(String, Int)]) {
    object { json in
      for (name, value) in members {
        json.key(name)
        json.number(value)
      }
    }
  }
}
