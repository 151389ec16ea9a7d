import ManagedModel
import ManagedStore

/// Every object of a store as a line of text, for comparing stores in tests.
public enum StoreDump {
  /// Lines such as `Person/p1 name=string("Ann") → friends: Person/p2`, in a fixed order.
  ///
  /// Dates and other real numbers are rounded to a millionth.
  public static func lines(_ store: Store) throws -> [String] {
    var lines: [String] = []
    for entity in store.model.entities where store.table(of: entity.name) != nil {
      let cursor = try ObjectCursor(store, entity: entity.name)
      while let object = try cursor.next() {
        var parts = ["\(entity.name)/p\(object.key)"]
        for (entry, value) in zip(cursor.table.attributes, object.attributes) {
          parts.append("\(entry.attribute.name)=\(text(value))")
        }
        for (entry, related) in zip(cursor.table.relationships, object.relationships) {
          switch related {
          case .toOne(let id): parts.append("\(entry.relationship.name)→\(id?.description ?? "∅")")
          case .toMany(let ids):
            parts.append(
              "\(entry.relationship.name)→[\(ids.map(\.description).joined(separator: " "))]")
          }
        }
        lines.append(parts.joined(separator: " "))
      }
    }
    return lines
  }

  public static func lines(at path: String) throws -> [String] { try lines(Store(path: path)) }

  /// A value as it stands in a line.
  public static func text(_ value: PropertyValue) -> String {
    switch value {
    case .value(.date(let number)), .value(.double(let number)):
      "\((number * 1e6).rounded() / 1e6)"
    case .value(.null): "∅"
    case .value(.integer(let number)): "\(number)"
    case .value(.boolean(let flag)): "\(flag)"
    case .value(.string(let text)), .value(.uri(let text)), .value(.decimal(let text)): text
    case .value(.uuid(let bytes)), .value(.bytes(let bytes)): ByteText.hex(bytes)
    case .data(let data):
      !data.isReadable ? "missing" : ByteText.hex(Digest.sha256(data.bytes).prefix(8))
    case .toOne(let id): id?.description ?? "∅"
    case .toMany(let many): "\(many.count)"
    }
  }
}
