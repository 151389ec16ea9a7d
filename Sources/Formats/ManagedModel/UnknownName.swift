/// A name in a text that nothing has, in one wording: what has no such thing, what was probably meant,
/// else all that there is.
package struct UnknownName: Sendable, Equatable {
  /// What happened, as a clause.
  package let message: String
  /// What to try.
  package let hint: String?

  /// A name that is not known, in other words.
  package init(message: String, hint: String?) {
    self.message = message
    self.hint = hint
  }

  /// - Parameters:
  ///   - thing: what is looked for, such as `entity`.
  ///   - holder: what has no such thing, such as `the store`.
  ///   - spelled: a known name as the text would have it.
  package init(
    _ thing: String, _ name: String, of holder: String, known: [String],
    spelled: (String) -> String = { $0 }
  ) {
    message = "\(holder) has no \(thing) “\(String(name.prefix(100)).printable)”"
    hint = Nearest.hint(name, in: known, spelled: spelled)
  }
}

extension Attribute {
  /// The refusal of a composite attribute, named by its path, where a value is asked for.
  package var withoutElement: UnknownName {
    UnknownName(
      message: "“\(name.printable)” is made of elements, each of which has a value",
      hint: "Name one: " + storage.columns.map(\.attribute.name).joined(separator: ", "))
  }
}

extension CoreDataError {
  /// An entity that was asked for and is not there; the error has its name apart from the message.
  package init(
    unknownEntity name: String, of holder: String, known: [String], path: String? = nil
  ) {
    self.init(
      .usage, "\(holder) has no such entity", path: path, entity: name,
      hint: Nearest.hint(name, in: known))
  }

  /// A property that was asked for and is not there; the error has its name apart from the message.
  ///
  /// - Parameter thing: what is looked for, such as `property`.
  package init(
    unknown thing: String, _ name: String, of entity: String, known: [String], path: String? = nil
  ) {
    self.init(
      .usage, "the entity has no such \(thing)", path: path, entity: entity, property: name,
      hint: Nearest.hint(name, in: known))
  }
}

/// What of an entity is asked for by name.
package enum AskedProperty: String, Sendable {
  /// An attribute or a relationship.
  case property
  /// An attribute, or an element of a composite one by its path.
  case attribute
  case relationship
  /// An attribute that is made of elements.
  case composite = "composite attribute"
}

extension Model {
  /// The names of an entity's properties, inherited ones first.
  package func names(of kind: AskedProperty, in entity: String) -> [String] {
    let attributes = attributes(of: entity)
    switch kind {
    case .property:
      return names(of: .attribute, in: entity) + names(of: .relationship, in: entity)
    case .attribute:
      return attributes.flatMap { attribute in
        [attribute.name]
          + (attribute.elements.isEmpty ? [] : attribute.storage.columns.map(\.attribute.name))
      }
    case .relationship: return relationships(of: entity).map(\.name)
    case .composite: return attributes.filter { $0.type == .composite }.map(\.name)
    }
  }

  /// A name in a text that is no entity's.
  package func unknownName(ofEntity name: String, calling holder: String) -> UnknownName {
    UnknownName("entity", name, of: holder, known: entities.map(\.name))
  }

  /// The refusal of a property that an entity does not have.
  package func unknown(_ kind: AskedProperty, _ name: String, of entity: String) -> CoreDataError {
    CoreDataError(
      unknown: kind.rawValue, name, of: entity, known: names(of: kind, in: entity))
  }

  /// The same for a name in a text.
  ///
  /// - Parameter holder: what the text calls the entity.
  package func unknownName(
    _ kind: AskedProperty, _ name: String, of entity: String, calling holder: String? = nil,
    spelled: (String) -> String = { $0 }
  ) -> UnknownName {
    UnknownName(
      kind.rawValue, name, of: holder ?? entity, known: names(of: kind, in: entity),
      spelled: spelled)
  }
}

/// The known word that a mistyped one most likely meant.
package enum Nearest {
  /// - Returns: `nil` where nothing is near enough to be worth suggesting.
  package static func match(_ word: String, in known: [String]) -> String? {
    let ranked = known.map { (distance(word, $0), $0) }.min { $0.0 < $1.0 }
    guard let (distance, match) = ranked else { return nil }
    return distance <= max(1, min(word.count, match.count) / 2) ? match : nil
  }

  /// What was probably meant, as a question.
  ///
  /// - Parameter spelled: a known word as it would have to be written.
  package static func question(
    _ word: String, in known: [String], spelled: (String) -> String = { $0 }
  ) -> String? {
    match(word, in: known.filter { $0 != word }).map { "Did you mean \(spelled($0))?" }
  }

  /// What was probably meant, as a question; else all that there is, if anything.
  package static func hint(
    _ word: String, in known: [String], spelled: (String) -> String = { $0 }
  ) -> String? {
    question(word, in: known, spelled: spelled)
      ?? (known.isEmpty ? nil : "It has: " + known.joined(separator: ", "))
  }

  /// What to type for a name that no version has: the nearest, and all that there are.
  package static func hint(ofVersion name: String, in known: [String]) -> String {
    let names = known.map { "“\($0)”" }.joined(separator: ", ")
    return (question(name, in: known) { "“\($0)”" }.map { $0 + " " } ?? "")
      + "Its versions are \(names)."
  }

  /// Letters to insert, remove or replace.
  package static func distance(_ a: String, _ b: String) -> Int {
    let (a, b) = (Array(a.prefix(64)), Array(b.prefix(64)))
    var row = Array(0...b.count)
    for (i, letter) in a.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, other) in b.enumerated() {
        let cost = diagonal + (letter == other ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(cost, row[j] + 1, row[j + 1] + 1)
      }
    }
    return row[b.count]
  }
}

extension Attribute {
  /// A name that is no element of this composite attribute, which is named by its path.
  package func unknownElement(_ element: String) -> UnknownName {
    UnknownName(
      "element", element, of: "the composite attribute \(name)", known: elements.map(\.name)
    ) { AttributeStorage.path(name, $0) }
  }
}

extension Model {
  /// What is wrong with a path into a composite attribute; `nil` where it leads into none.
  package func unknownElement(_ path: String, of entity: String) -> UnknownName? {
    var names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
    guard let first = names.popFirst(),
      var composite = attribute(named: first, of: entity), composite.type == .composite
    else { return nil }
    while let name = names.popFirst() {
      guard let inner = composite.element(named: name).map(composite.pathed) else {
        return composite.unknownElement(name)
      }
      guard inner.type == .composite else {
        return UnknownName(
          message: "nothing can follow “\(inner.name.printable)”",
          hint: "It is an attribute with a value of its own.")
      }
      composite = inner
    }
    return composite.withoutElement
  }
}
