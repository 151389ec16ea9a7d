import JSON
import ManagedModel

extension JSONWriter {
  /// A value in the form that `dump` promises, see the article *Formats and JSON*.
  package mutating func value(_ value: AttributeValue, blobs: Bool) {
    switch value {
    case .null: null()
    case .integer(let number): self.number(number)
    case .boolean(let flag): bool(flag)
    case .double(let number): self.number(number)
    case .decimal(let digits): string(digits)
    case .string(let text): string(text)
    case .date(let seconds): number(seconds)
    case .uuid(let bytes): string(UUIDText.text(bytes))
    case .uri(let text): string(text)
    case .bytes(let bytes): data(bytes, blobs: blobs)
    }
  }

  /// What a row holds for one property.
  package mutating func value(_ value: PropertyValue, blobs: Bool) {
    switch value {
    case .value(let plain): self.value(plain, blobs: blobs)
    case .data(let data):
      switch data.location {
      case .row, .file: self.data(data.bytes, blobs: blobs)
      case .missing: object { $0.field("missing", true) }
      case .unreadable: object { $0.field("unreadable", true) }
      }
    case .toOne(let id): string(id?.description)
    case .toMany(let many):
      array { writer in for id in many.first { writer.string(id.description) } }
    }
  }

  private mutating func data(_ bytes: [UInt8], blobs: Bool) {
    guard blobs else { return digest(ByteText.hex(Digest.sha256(bytes)), bytes: bytes.count) }
    object { $0.field("base64", ByteText.base64(bytes)) }
  }

  /// Bytes by their number and their SHA-256.
  package mutating func digest(_ sha256: String, bytes: Int) {
    object { $0.fields(["bytes": bytes, "sha256": sha256]) }
  }
}

extension JSONWriter {
  /// The attributes among columns as an object, a composite one as an object of its elements.
  package mutating func attributes(
    _ columns: [RowColumn], _ values: [PropertyValue],
    _ write: (inout JSONWriter, PropertyValue) -> Void
  ) {
    // Relationships come behind the attributes, each by its own name.
    let nodes = PropertyTree(columns.map(\.path)).nodes.filter { node in
      guard case .column(_, let index) = node else { return true }
      if case .attribute = columns[index].kind { return true } else { return false }
    }
    let parts = Set(columns.indices.filter { columns[$0].isPart })
    self.write(nodes, values, parts: parts, write)
  }

  /// - Parameter parts: columns whose composite is not there as a whole: it is not reported to be null.
  package mutating func write(
    _ nodes: [PropertyTree.Node], _ values: [PropertyValue], parts: Set<Int> = [],
    _ write: (inout JSONWriter, PropertyValue) -> Void
  ) {
    object { json in
      for node in nodes {
        json.key(node.name)
        switch node {
        case .column(_, let index):
          if values.indices.contains(index) { write(&json, values[index]) } else { json.null() }
        case .composite(_, let inner):
          if node.isNull(in: values), parts.isEmpty || parts.isDisjoint(with: node.indices) {
            json.null()
          } else {
            json.write(inner, values, parts: parts, write)
          }
        }
      }
    }
  }
}

extension AttributeValue: JSONField {
  /// The value without its bytes.
  package func write(to json: inout JSONWriter) { json.value(self, blobs: false) }
}

extension PropertyValue: JSONField {
  /// The value without its bytes.
  package func write(to json: inout JSONWriter) { json.value(self, blobs: false) }
}

extension CoreDataError.Code: JSONField {
  /// The number.
  package func write(to json: inout JSONWriter) { json.number(rawValue) }
}
