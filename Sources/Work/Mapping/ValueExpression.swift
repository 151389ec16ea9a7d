import Files
import ManagedModel
import SQLite

/// How a value, or whether a condition holds, is computed of a source object.
public struct ValueExpression: Sendable, Equatable {
  package enum Form: Sendable, Equatable {
    /// An SQL expression over the source entity's property names, as recipes have it.
    case sql(String)
    /// An archived NSExpression of a mapping model.
    case expression(Expression)
    /// A predicate's format over the source entity's properties.
    case predicate(String)
  }

  package var form: Form

  init(_ form: Form) { self.form = form }

  /// An SQL expression over the source entity's property names, as recipes have it.
  public static func sql(_ text: String) -> ValueExpression { ValueExpression(.sql(text)) }

  /// The expression as a person writes it: SQL as it is, an NSExpression or a predicate in the
  /// format of predicates.
  public var text: String {
    switch form {
    case .sql(let text), .predicate(let text): text
    case .expression(let expression): expression.description
    }
  }

  /// NSPredicate's format over the source entity's properties.
  public static func predicate(_ format: String) -> ValueExpression {
    ValueExpression(.predicate(format))
  }
}

extension AttributeValue {
  /// Whether rows that take it have nothing.
  package var isNothing: Bool {
    if case .decimal = self { literal == Value.null.literal } else { self == .null }
  }

  /// What a column holds of it, without the mark of external storage; `nil` for a decimal, whose digits only SQLite
  /// turns into what it compares.
  package var stored: Value? {
    switch self {
    case .null: .null
    case .integer(let number): .integer(number)
    case .boolean(let flag): .integer(flag ? 1 : 0)
    case .double(let number), .date(let number): .real(number)
    case .string(let text), .uri(let text): .text(text)
    case .bytes(let bytes), .uuid(let bytes): .blob(bytes)
    case .decimal: nil
    }
  }

  /// The value as an SQL literal, without the mark of external storage.
  package var literal: String {
    if let stored { return stored.literal }
    guard case .decimal(let digits) = self, !digits.isEmpty,
      digits.utf8.allSatisfy({ "+-.0123456789eE".utf8.contains($0) })
    else { return Value.null.literal }
    return "CAST('\(digits)' AS DECIMAL)"
  }
}

extension EvaluatedDefault {
  /// What the expression makes now; `nil` for what only the running app can compute.
  func value(for type: AttributeType) -> AttributeValue? {
    switch (kind, type) {
    case (.uuid, .uuid): .uuid(UUIDText.randomBytes())
    case (.uuid, .string): .string(UUIDText.random())
    case (.now, .date): .date(CoreDataDate.now)
    case (.integer(let range), .integer16), (.integer(let range), .integer32),
      (.integer(let range), .integer64):
      .integer(Int64.random(in: range))
    default: nil
    }
  }

  /// What comes of it for rows that exist.
  package func sentence(of name: String, rows: Int?) -> String {
    guard kind != .unknown else {
      return
        "\(name): only the app can evaluate the default \(expression). SwiftData does so once, and gives the value to all rows; here they get none. A recipe can give one: \"\(name.split(separator: ".").last ?? "")\": …"
    }
    let all = rows.map {
      $0 == 1 ? "the 1 object gets it" : "all \($0) objects get the same value"
    }
    return
      "\(name): the default \(expression) is evaluated once, as SwiftData does: \(all ?? "all objects get the same value")."
  }
}

extension Model {
  /// Whether any attribute has a default that the app evaluates when it makes the model.
  package var hasEvaluatedDefaults: Bool {
    entities.contains { $0.attributes.contains { $0.evaluatedDefault != nil } }
  }
}

extension MappingModel {
  /// The mapping with a value in place of each default that is evaluated once: all rows that the
  /// attribute is added to, and NULLs of one that turned mandatory, get the same.
  package func evaluatingDefaults(from source: Model, to destination: Model) -> MappingModel {
    settingDefaults(to: destination) { entityMapping, mapped, attribute in
      guard mapped.defaultValue == nil else { return nil }
      if let former = mapped.source {
        let isOptional = entityMapping.source.flatMap {
          source.storedAttribute(named: former, of: $0)?.isOptional
        }
        guard isOptional == true, !attribute.isOptional else { return nil }
      }
      return attribute.evaluatedDefault?.value(for: attribute.type)
    }
  }

  /// - Parameter value: the value for an attribute that has such a default; `nil` leaves the mapping.
  package func settingDefaults(
    to destination: Model,
    _ value: (EntityMapping, AttributeMapping, Attribute) throws -> AttributeValue?
  ) rethrows -> MappingModel {
    guard destination.hasEvaluatedDefaults else { return self }
    var copy = self
    // Subentities share the attribute, and so its default.
    var known: [[String]: AttributeValue] = [:]
    for (index, entityMapping) in entityMappings.enumerated() {
      guard let to = entityMapping.destination else { continue }
      for (place, mapped) in entityMapping.attributes.enumerated() where mapped.expression == nil {
        guard let attribute = destination.attribute(named: mapped.name, of: to),
          attribute.evaluatedDefault != nil
        else { continue }
        let holder = [destination.declaringEntity(of: mapped.name, in: to) ?? to, mapped.name]
        guard let made = try value(entityMapping, mapped, attribute) else { continue }
        let shared = known[holder] ?? made
        known[holder] = shared
        copy.entityMappings[index].attributes[place].defaultValue = shared
      }
    }
    return copy.indexed
  }
}
