import ManagedModel
import ManagedStore
import Reports
import Terminal

/// A value as a person reads it, with the role its look comes from.
struct ValueText: Sendable, Equatable {
  var text: String
  var role: Theme.Role

  init(_ text: String, _ role: Theme.Role) {
    (self.text, self.role) = (text, role)
  }

  /// What a cell or a line of the inspector shows of a value.
  init(_ value: PropertyValue, of column: RowColumn) {
    switch value {
    case .value(let value): self.init(value)
    case .data(let data):
      var isTransformable = false
      if case .attribute(.transformable) = column.kind { isTransformable = true }
      self.init(data, isTransformable: isTransformable)
    case .toOne(nil): self.init("∅", .null)
    case .toOne(let id?):
      if case .toOne(destination: id.entity) = column.kind {
        self.init("→ p\(id.key)", .relationship)
      } else {
        self.init("→ \(id)", .relationship)
      }
    case .toMany(let many):
      self.init("(\(NumberText.grouped(many.count)))", many.count == 0 ? .null : .relationship)
    }
  }

  /// What a cell shows at the end of a key path: of a to-many the first values.
  init(atPath value: PropertyValue, of column: RowColumn) {
    switch value {
    case .toMany(let many):
      guard let values = many.values, !values.isEmpty else {
        self.init("none", .null)
        return
      }
      let shown = values.prefix(20).map { $0 == .null ? "∅" : $0.shown }.joined(separator: ", ")
      self.init(values.count > 20 ? shown + ", …" : shown, ValueText(values[0]).role)
    default: self.init(value, of: column)
    }
  }

  init(_ value: AttributeValue) {
    let role: Theme.Role =
      switch value {
      case .null: .null
      case .integer, .decimal, .double: .number
      case .boolean: .boolean
      case .date: .date
      case .bytes: .data
      case .string: .string
      case .uuid, .uri: .identifier
      }
    self.init(value.shown, role)
  }

  init(_ data: DataValue, isTransformable: Bool) {
    if !data.isReadable {
      var text = "! file unreadable"
      if case .missing = data.location { text = "! file missing" }
      self.init(text, .warning)
      return
    }
    let kind = DataKind(data.bytes, isWhole: data.bytes.count == data.count)
    let isArchive = kind == .keyedArchive || kind == .propertyList
    let name = isTransformable && isArchive ? "archive" : kind.description
    var text = data.count == 0 ? "empty" : "\(name) \(NumberText.bytes(data.count))"
    if case .file = data.location { text += " ext" }
    self.init(text, isTransformable ? .transformable : .data)
  }
}

/// A property of a model in a few words.
enum PropertyText {
  static func text(_ attribute: Attribute) -> String {
    var text = attribute.type.name
    if attribute.isOptional { text += " optional" }
    if attribute.isTransient { text += " transient" }
    if attribute.allowsExternalBinaryDataStorage { text += " external" }
    if let derivation = attribute.derivation { text += " ƒ \(derivation.expression)" }
    if let value = attribute.defaultValue, value != .null { text += " = \(ValueText(value).text)" }
    return text
  }

  static func text(_ relationship: Relationship) -> String {
    var text = (relationship.isToMany ? "⇉ " : "→ ") + relationship.destination
    if relationship.isOrdered { text += " ordered" }
    text += relationship.isOptional ? " optional" : " mandatory"
    if relationship.deleteRule != .nullify {
      text += " \(relationship.deleteRule.name.lowercased())"
    }
    return text
  }
}
