import ManagedStore

/// The destination objects that a policy holds: an object is one and the same however it is come by,
/// so that a value which is set in one place is never overwritten from another.
struct LiveObjects {
  private struct Entry { weak var object: DestinationObject? }

  private var entries: [ObjectID: Entry] = [:]
  private var limit = 4_096

  subscript(id: ObjectID) -> DestinationObject? { entries[id]?.object }

  mutating func remove(_ id: ObjectID) { entries[id] = nil }

  mutating func add(_ object: DestinationObject) {
    entries[object.id] = Entry(object: object)
    guard entries.count >= limit else { return }
    entries = entries.filter { $0.value.object != nil }
    // Looked through again when as many have come as were kept.
    limit = max(4_096, entries.count * 2)
  }
}
