import AtomicStores
import Files
import JSON
import ManagedModel
import ManagedStore
import Migration
import Terminal

/// `strata info`: what a store is, whose model it has, and what is in it.
package enum InfoCommand {
  package static let command = Command(
    "info", .look, "shows identity, files, model match, entity counts and warnings",
    arguments: [Argument.store], options: [Option.model, Option.json],
    example: "strata info Recipes.sqlite --json", run: run)

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let facts = try Waiting.tell("counting objects and files", on: console) {
      try Facts(StoreOpening.reading(arguments[.store], model: arguments[.model]))
    }
    arguments[.json] ? console.json { facts.write(to: &$0) } : facts.print(to: console)
    return console.finish(facts.store, told: facts.warnings)
  }

  private struct Facts {
    let store: Store
    /// What the store is a private copy of.
    let origin: AtomicCopy.Origin?
    let counts: [String: Int]
    let external: ExternalDataReport
    let history: (transactions: Int, changes: Int)?
    let cloudKit: CloudKitBacklog?
    let drift: StoreDrift
    let oneSided: [OneSidedLinks]
    let warnings: [String]
    let notes: [String]

    init(_ store: Store) throws {
      self.store = store
      origin = AtomicCopy.origin(ofCopyAt: store.path)
      var told: (counts: [String: Int], oneSided: [OneSidedLinks])?
      let files = try store.externalData {
        told = (try store.counts(), try store.oneSidedLinks())
      }
      external = origin == nil ? files : ExternalDataReport()
      (counts, oneSided) = (told?.counts ?? [:], told?.oneSided ?? [])
      history = try store.history()
      cloudKit = try store.cloudKit()
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
        store.warnings(naming: \.typed) + unknown.sentences + missing + external.unreadableSentences
        + StoreMigration.leftovers(of: store.path)
      // What is to be known of a private copy's files is nothing of the store's.
      notes =
        origin == nil
        ? store.notes + StoreMigration.leftoversOfApp(besideStore: store.path) : []
    }

    func write(to json: inout JSONWriter) {
      json.fields([
        "path": store.path, "uuid": store.metadata.uuid,
        "storeType": origin?.form.rawValue ?? store.metadata.storeType,
        "frameworkVersion": store.metadata.frameworkVersion,
        "versionIdentifiers": store.metadata.versionIdentifiers,
      ])
      json.object(
        "model",
        [
          "source": store.modelSource == .raw ? nil : store.modelSource.rawValue,
          "matches": store.modelMatches, "configuration": store.configuration,
        ])
      json.objects("entities", store.entityTables) { table in
        [
          "name": table.entity, "id": table.entityID,
          "parent": store.model.entity(named: table.entity)?.parent,
          "count": counts[table.entity] ?? 0,
        ]
      }
      json.object(
        "wal",
        [
          "frames": store.wal.frames, "present": store.wal.isPresent,
          "unapplied": store.unappliedFrames,
          "reason": store.unappliedFrames > 0 ? store.wal.unapplied?.reason.rawValue : nil,
        ])
      json.object(
        "externalData",
        [
          "referenced": external.referenced, "missing": external.missing.count,
          "orphaned": external.unlisted == nil ? external.orphaned.count : nil,
          "unreadable": external.unreadable.count,
        ])
      json.object(
        "history", history.map { ["transactions": $0.transactions, "changes": $0.changes] })
      json.object("cloudKit", cloudKit.map(\.members))
      json.fields(["warnings": warnings, "notes": notes])
      json.object("damage", store.damage) { $0.damage($1) }
      json.key("drift")
      json.drift(drift)
      json.objects("oneSidedLinks", oneSided) { links in
        [
          "entity": links.entity, "relationship": links.relationship, "objects": links.objects,
          "first": links.first.map(\.description),
        ]
      }
    }

    private var match: String {
      if let name = store.configuration {
        return "✓ its configuration “\(name)” has the store's version hashes"
      }
      return store.modelMatches
        ? "✓ its version hashes are the store's" : "✗ its version hashes differ"
    }

    /// How far a model that was made of the objects is the store's: by the hashes that the file states.
    private func rebuiltMatch(_ source: AtomicModelSource?) -> String {
      let all = store.wholeModel.entities.count
      guard case .rebuilt(let proved) = source,
        proved.count < all || store.metadata.versionHashes.isEmpty
      else { return match }
      let entities = NumberText.counted(all, "entity", plural: "entities")
      return "with the store's version hashes for \(proved.count) of \(entities)"
    }

    /// What waits to be sent, and what of history the mirroring has still to look at.
    private static func text(_ backlog: CloudKitBacklog) -> String {
      let parts = backlog.parts.map {
        NumberText.counted($0.count, $0.one, plural: $0.several)
      }
      return parts.isEmpty
        ? "mirrored, nothing is waiting to be uploaded" : parts.joined(separator: ", ")
    }

    func print(to console: Console) {
      let metadata = store.metadata
      let model =
        switch store.modelSource {
        case .raw: "none: tables and columns are shown raw"
        case .store where origin?.source == .given: "not in the store, " + match
        case .store where origin != nil:
          "made of the objects, " + rebuiltMatch(origin?.source)
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
          (origin?.form.rawValue ?? metadata.storeType ?? "unknown")
            + (metadata.frameworkVersion.map { ", framework \($0)" } ?? ""),
        ],
        ["model", model],
        ["identifiers", metadata.versionIdentifiers.joined(separator: ", ")],
      ]
      // An XML or binary store is one file, and what lies beside a private copy is nothing of it.
      if origin == nil {
        rows += [
          ["wal", wal],
          [
            "external",
            "\(external.referenced) referenced, \(external.missing.count) missing, "
              + (external.unlisted.map { "orphaned unknown: \($0)" }
                ?? "\(external.orphaned.count) orphaned"),
          ],
        ]
      }
      rows += [
        history.map { ["history", "\($0.transactions) transactions, \($0.changes) changes"] },
        cloudKit.map { ["CloudKit", Self.text($0)] },
      ].compactMap { $0 }
      console.write(TextTable.text([.left, .left], rows, limit: 400))
      console.line()
      var entities = [["entity", "id", "objects"]]
      for table in store.entityTables {
        let depth = store.model.lineage(of: table.entity).count - 1
        entities.append([
          String(repeating: "  ", count: max(0, depth)) + table.entity, String(table.entityID),
          String(counts[table.entity] ?? 0),
        ])
      }
      console.table([.left, .right, .right], entities)
      for warning in warnings { console.line("! " + warning) }
      for links in oneSided {
        let first = links.first.map(\.description).joined(separator: ", ")
        console.line(
          "· \(links.objects) of \(links.entity).\(links.relationship) reference an object that does not reference them back (first: \(first)): Core Data's own migrations leave such one-to-ones; each side is read as it is."
        )
      }
      for note in notes { console.line("· " + note) }
    }
  }
}

extension JSONWriter {
  /// What is wrong with a file, and which keys that costs.
  mutating func damage(_ damage: FileDamage) {
    field("problems", damage.problems)
    objects("holes", damage.holes) { hole in
      [
        "table": hole.table, "first": hole.first, "last": hole.last,
        "rows": hole.counts?.values.reduce(0, +),
      ]
    }
  }
}

extension JSONWriter {
  /// What of a store's tables does not fit its model; `info` prints it as a member.
  mutating func drift(_ drift: StoreDrift) {
    object { json in
      json.objects("missingTables", drift.missingTables) {
        ["entity": $0.entity, "table": $0.table]
      }
      for (name, columns) in [
        ("missingColumns", drift.missingColumns), ("unexpectedColumns", drift.unexpectedColumns),
        ("otherTypes", drift.otherTypes),
      ] {
        json.objects(name, columns) {
          [
            "table": $0.table, "column": $0.column, "entity": $0.entity, "property": $0.property,
            "expected": $0.expected, "found": $0.found,
          ]
        }
      }
      json.objects("numbers", drift.numbers) { number in
        var only = StoreDrift()
        only.numbers = [number]
        return [
          "entity": number.entity, "id": number.number.map(String.init),
          "problem": only.sentences.first,
        ]
      }
      json.objects("rows", drift.rows) { ["table": $0.table, "id": $0.number, "count": $0.count] }
      json.objects("joins", drift.joins) {
        [
          "entity": $0.entity, "relationship": $0.relationship, "expected": $0.expected,
          "found": $0.found,
        ]
      }
      json.objects("columnNames", drift.columnNames) {
        [
          "table": $0.table, "entity": $0.entity, "relationship": $0.relationship,
          "expected": $0.expected, "found": $0.found,
        ]
      }
    }
  }
}
