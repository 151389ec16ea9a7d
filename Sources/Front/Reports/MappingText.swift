import ManagedModel
import Migration

/// What a mapping does besides copying, line by line, as a person reads it.
package enum MappingText {
  /// A line, and how deep it stands below the mapping.
  package struct Line: Sendable, Equatable {
    /// How far below its property it stands.
    package var depth: Int
    /// Property, or word, that the line begins with.
    package var name: String
    /// The rest: `= EXPRESSION`, `← SOURCE`, a condition.
    package var text: String

    /// The line as one text, without its indentation.
    package var whole: String { text.isEmpty ? name : name + " " + text }
  }

  /// Conditions first, then computed values, links that go another way, and children as a tree.
  package static func lines(of mapping: EntityMapping) -> [Line] {
    var lines = conditions(of: mapping)
    for attribute in mapping.attributes where attribute.expression != nil {
      lines.append(Line(depth: 0, name: attribute.name, text: value(of: attribute)))
    }
    for relationship in mapping.relationships {
      if let path = path(of: relationship) {
        lines.append(Line(depth: 0, name: relationship.name, text: "← " + path))
      }
    }
    return lines + children(of: mapping)
  }

  /// Which objects it takes, and what becomes of the others.
  package static func conditions(of mapping: EntityMapping) -> [Line] {
    var lines: [Line] = []
    func add(_ name: String, _ text: String) {
      lines.append(Line(depth: 0, name: name, text: text))
    }
    if let condition = mapping.condition { add("where", condition.text) }
    if let distinct = mapping.distinct { add("one for each", distinct.text) }
    if let policy = mapping.policy { add("policy", policy) }
    if mapping.isDeletionIntended {
      add(mapping.destination == nil ? "deleted on purpose" : "all others deleted on purpose", "")
    }
    return lines
  }

  /// What else it makes of an object, as a tree.
  package static func children(of mapping: EntityMapping) -> [Line] {
    mapping.children.flatMap { lines(of: $0, depth: 0) }
  }

  /// `= EXPRESSION`, and what a NULL becomes.
  package static func value(of attribute: AttributeMapping) -> String {
    let rest = attribute.defaultValue.map { ", else \(literal($0))" } ?? ""
    if let expression = attribute.expression { return "= \(expression.text)\(rest)" }
    if let source = attribute.source { return "= \(source)\(rest)" }
    return "= \(attribute.defaultValue.map(literal) ?? "NULL")"
  }

  /// Text in quotes, as expressions have it: an empty one is seen then.
  private static func literal(_ value: AttributeValue) -> String {
    if case .string(let text) = value { return "'\(text)'" }
    return value.shown
  }

  /// Where links come from, unless it is a relationship of the object by whichever mapping took them.
  package static func path(of relationship: RelationshipMapping) -> String? {
    // Inference's own mappings are what everybody expects.
    let through =
      relationship.through.flatMap { $0.hasPrefix("IEM_") ? nil : " through \($0)" } ?? ""
    if let fetched = relationship.fetched {
      return "\(fetched) where \(relationship.condition?.text ?? "true")\(through)"
    }
    guard let source = relationship.source else { return nil }
    if source == RelationshipMapping.ofSourceObject {
      return through.isEmpty
        ? "what became of the object itself" : "the object itself\(through)"
    }
    return through.isEmpty && !source.contains(".") ? nil : source + through
  }

  private static func lines(of child: ChildMapping, depth: Int) -> [Line] {
    let each = child.each.map { " for each of \($0.text)" } ?? ""
    return [Line(depth: depth, name: "+ \(child.relationship):", text: child.destination + each)]
      + child.attributes.map { Line(depth: depth + 1, name: $0.name, text: value(of: $0)) }
      + child.children.flatMap { lines(of: $0, depth: depth + 1) }
  }
}

/// Where a property of a mapping's destination comes from.
package enum PropertyOrigin: Sendable, Equatable {
  /// An expression.
  case computed
  /// Links that go another way than by a relationship of the object.
  case path(String)
  /// Nothing: a default value, or none.
  case new
  /// A property of another name, or of the same.
  case renamed(String), kept(String)

  fileprivate init(_ source: String?, of name: String) {
    self = source.map { $0 == name ? .kept($0) : .renamed($0) } ?? .new
  }
}

extension AttributeMapping {
  /// Where its value comes from.
  package var origin: PropertyOrigin {
    expression == nil ? PropertyOrigin(source, of: name) : .computed
  }
}

extension RelationshipMapping {
  /// Where its links come from.
  package var origin: PropertyOrigin {
    MappingText.path(of: self).map { .path($0) } ?? PropertyOrigin(source, of: name)
  }
}

extension AttributeValue {
  /// The value as screens and reports show it.
  package var shown: String {
    switch self {
    case .null: "—"
    case .integer, .decimal, .boolean, .bytes: line
    case .double(let number): Int64(exactly: number).map { "\($0).0" } ?? line
    case .date(let seconds): DateText.utc(seconds)
    // The rest of a very long text would not be read.
    case .string(let text): String(text.prefix(2_000))
    case .uuid, .uri: String(line.prefix(2_000))
    }
  }
}

/// Dates for people, in UTC.
package enum DateText {
  /// `2024-03-01 12:00Z`, with seconds where there are any.
  package static func utc(_ seconds: Double) -> String {
    var text = CoreDataDate.text(seconds)
    guard text.hasSuffix("Z"), let mark = text.firstIndex(of: "T") else { return text }
    text.replaceSubrange(mark...mark, with: " ")
    if text.hasSuffix(":00Z") { text = text.dropLast(4) + "Z" }
    return text
  }
}
