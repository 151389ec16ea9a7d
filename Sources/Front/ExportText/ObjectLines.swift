import Files
import JSON
import ManagedStore

/// The objects of a store as lines of JSON, with all that they hold.
package enum ObjectLines {
  /// The largest file that is printed as a whole; memory holds it four times over.
  private static let blobLimit = 64 << 20
  /// What is read of a file whose digest is printed: the rest a piece at a time.
  private static let pieceLimit = 1 << 20

  /// Every object, entity by entity, in the order of keys.
  ///
  /// - Parameters:
  ///   - report: called now and then with the number of objects written.
  ///   - blobs: whether bytes are written, as Base64; else their number and SHA-256.
  ///   - note: called with what is printed in another form than was asked for.
  package static func write(
    _ store: Store, blobs: Bool, report: (Int) -> Void = { _ in },
    note: (String) -> Void = { _ in }, to write: ([UInt8]) -> Void
  ) throws {
    var count = 0
    var unreadable = (count: 0, first: "")
    let external = ExternalFolder(store.files)
    var json = JSONWriter()
    for entity in store.model.entities where store.table(of: entity.name) != nil {
      let cursor = try ObjectCursor(
        store, entity: entity.name, fileLimit: blobs ? blobLimit : pieceLimit)
      let tree = PropertyTree(cursor.table.attributes.map(\.path))
      let names = cursor.table.relationships.map(\.relationship.name)
      while let object = try cursor.next() {
        let digests = try digestsOfLargeFiles(object, external)
        line(object, of: entity.name, tree, names, blobs: blobs, digests, to: &json)
        for name in blobs ? digests.keys.sorted() : [] {
          note(
            "The file \(name) of \(entity.name)/p\(object.key) is larger than \(blobLimit >> 20) MB: its size and SHA-256 are printed instead."
          )
        }
        for case .data(let data) in object.attributes {
          guard case .unreadable = data.location, let problem = data.location.problem else {
            continue
          }
          if unreadable.count == 0 {
            unreadable.first = "\(entity.name)/p\(object.key): \(problem)"
          }
          unreadable.count += 1
        }
        count += 1
        if json.bytes.count > 1 << 16 {
          report(count)
          write(json.bytes)
          json.removeAll()
        }
      }
    }
    write(json.bytes)
    if unreadable.count > 0 {
      note("Values in files that cannot be read: \(unreadable.count). First: \(unreadable.first).")
    }
  }

  /// SHA-256 of each file that was too large to be held, by its name.
  private static func digestsOfLargeFiles(
    _ object: ObjectCursor.Object, _ external: ExternalFolder
  ) throws -> [String: String] {
    var digests: [String: String] = [:]
    for case .data(let data) in object.attributes where data.bytes.count < data.count {
      guard case .file(let name) = data.location,
        case .file(let file) = external.place(of: name)
      else { continue }
      digests[name] = try file.sha256()
    }
    return digests
  }

  private static func line(
    _ object: ObjectCursor.Object, of entity: String, _ tree: PropertyTree, _ names: [String],
    blobs: Bool, _ digests: [String: String], to json: inout JSONWriter
  ) {
    json.object { json in
      json.key("attributes")
      json.write(tree.nodes, object.attributes) { json, value in
        if case .data(let data) = value, case .file(let name) = data.location,
          let digest = digests[name]
        {
          json.digest(digest, bytes: data.count)
        } else {
          json.value(value, blobs: blobs)
        }
      }
      json.key("entity")
      json.string(entity)
      json.key("pk")
      json.number(object.key)
      json.object("relationships") { json in
        for (name, related) in zip(names, object.relationships) {
          json.key(name)
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
