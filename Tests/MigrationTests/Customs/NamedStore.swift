import ManagedModel
import ManagedStore
import TestSupport

/// A store's objects called by what they hold, to compare stores whose keys differ: Core Data gives
/// new keys wherever it carries out a mapping model.
struct NamedStore {
  /// By name, such as `Country/710`: properties as text, links by the names of what they lead to.
  var objects: [String: [String: String]] = [:]

  /// - Parameter names: the attribute that names the objects of an entity; others keep their keys.
  init(_ store: Store, by names: [String: String] = [:]) throws {
    var called: [ObjectID: String] = [:]
    var read: [(id: ObjectID, values: [String: String], links: [(Relationship, [ObjectID])])] = []
    for entity in store.model.entities where store.table(of: entity.name) != nil {
      let cursor = try ObjectCursor(store, entity: entity.name)
      while let object = try cursor.next() {
        let id = ObjectID(entity: entity.name, key: object.key)
        var values: [String: String] = [:]
        for (entry, value) in zip(cursor.table.attributes, object.attributes) {
          values[entry.attribute.name] = StoreDump.text(value)
        }
        let links = zip(cursor.table.relationships, object.relationships).map { entry, related in
          switch related {
          case .toOne(let id): (entry.relationship, id.map { [$0] } ?? [])
          case .toMany(let ids): (entry.relationship, ids)
          }
        }
        called[id] = names[entity.name].flatMap { values[$0] }.map { "\(entity.name)/\($0)" }
        read.append((id, values, links))
      }
    }
    for (id, values, links) in read {
      var properties = values
      for (relationship, ids) in links {
        let names = ids.map { called[$0] ?? $0.description }
        properties[relationship.name] =
          (relationship.isOrdered ? names : names.sorted()).joined(separator: ", ")
      }
      objects[called[id] ?? id.description] = properties
    }
  }

  /// Objects of an entity by name.
  func names(of entity: String) -> [String] {
    objects.keys.filter { $0.hasPrefix(entity + "/") }.sorted()
  }

  /// What is otherwise in another store: objects that only one has, and properties that both have.
  func differences(from other: NamedStore, ignoring ignored: Set<String> = []) -> [String] {
    var found: [String] = []
    for name in Set(objects.keys).union(other.objects.keys).sorted() {
      guard let ours = objects[name], let theirs = other.objects[name] else {
        found.append("\(name) is only in \(objects[name] == nil ? "the other" : "this")")
        continue
      }
      for (property, value) in ours.sorted(by: { $0.key < $1.key }) {
        guard !ignored.contains(property), let their = theirs[property], their != value else {
          continue
        }
        found.append("\(name).\(property): \(value) ≠ \(their)")
      }
    }
    return found
  }
}
