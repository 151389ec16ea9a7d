/// Objects that somebody holds, by what they stand for: an object is one and the same however it is
/// come by, so that a value which is set in one place is never overwritten from another.
package struct LiveObjects {
  // Held, and let go of in turn: a weak reference costs an object more than making it. No object
  // may lead back to whoever has this table.
  private var entries: [ObjectID: AnyObject] = [:]
  private var limit = 1_024

  /// None yet.
  package init() {}

  /// The object, while somebody holds it.
  package subscript(id: ObjectID) -> AnyObject? {
    get { entries[id] }
    set {
      entries[id] = newValue
      if entries.count >= limit { sweep() }
    }
  }

  /// Lets go of what nobody else holds; it is looked for again when as many have come as were kept.
  private mutating func sweep() {
    var unheld: [ObjectID] = []
    var index = entries.startIndex
    while index != entries.endIndex {
      if isKnownUniquelyReferenced(&entries.values[index]) { unheld.append(entries.keys[index]) }
      entries.formIndex(after: &index)
    }
    for id in unheld { entries[id] = nil }
    limit = max(1_024, entries.count * 2)
  }
}
