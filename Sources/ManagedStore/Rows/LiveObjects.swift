/// Objects that somebody holds, by what they stand for: an object is one and the same however it is
/// come by, so that a value which is set in one place is never overwritten from another.
package struct LiveObjects {
  private struct Entry { weak var object: AnyObject? }

  private var entries: [ObjectID: Entry] = [:]
  private var limit = 4_096

  /// None yet.
  package init() {}

  /// The object, while somebody holds it.
  package subscript(id: ObjectID) -> AnyObject? {
    get { entries[id]?.object }
    set {
      guard let newValue else {
        entries[id] = nil
        return
      }
      entries[id] = Entry(object: newValue)
      guard entries.count >= limit else { return }
      entries = entries.filter { $0.value.object != nil }
      // Looked through again when as many have come as were kept.
      limit = max(4_096, entries.count * 2)
    }
  }
}
