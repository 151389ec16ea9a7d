/// Digests by name, in the order of the names' bytes.
package struct NamedDigests {
  private var entries: [(name: String, digest: [UInt8])] = []

  /// None yet.
  package init() {}

  /// Keeps a digest in the place of its name, instead of another of that name.
  package mutating func set(_ name: String, _ digest: [UInt8]) {
    var place = entries.count
    while place > 0, name.precedes(entries[place - 1].name) { place -= 1 }
    if place > 0, entries[place - 1].name == name {
      entries[place - 1].digest = digest
    } else {
      entries.insert((name, digest), at: place)
    }
  }

  /// Adds them all to what is hashed.
  package func append(to bytes: inout [UInt8]) { for entry in entries { bytes += entry.digest } }
}

extension [UInt8] {
  /// Adds a text as UTF-8.
  package mutating func append(text: String) { append(contentsOf: text.utf8) }

  /// Adds a number, its lowest byte first.
  package mutating func append(number: UInt32) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }
}
