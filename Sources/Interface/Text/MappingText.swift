import ManagedModel
import Migration
import Reports
import Rescue

/// What a mapping does besides copying, line by line, as a person reads it.
package enum MappingText {
  /// A line, and how deep it stands below the mapping.
  package struct Line: Sendable, Equatable {
    /// How far below its property it stands.
    package var depth: Int
    /// Property, or word, that the line begins with.
    var name: String
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
  static func conditions(of mapping: EntityMapping) -> [Line] {
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
  static func children(of mapping: EntityMapping) -> [Line] {
    mapping.children.flatMap { lines(of: $0, depth: 0) }
  }

  /// `= EXPRESSION`, and what a NULL becomes.
  static func value(of attribute: AttributeMapping) -> String {
    let rest = attribute.defaultValue.map { ", else \(literal($0))" } ?? ""
    if let expression = attribute.expression { return "= \(expression.text)\(rest)" }
    if let source = attribute.source { return "= \(source)\(rest)" }
    return "= \(attribute.defaultValue.map(literal) ?? "NULL")"
  }

  /// Text in quotes, as expressions have it: an empty one is seen then.
  private static func literal(_ value: AttributeValue) -> String {
    if case .string(let text) = value { return "'\(text)'" }
    return ValueText(value).text
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

extension CoreDataError {
  /// What to try, with what a person types for the values it names.
  package var typedHint: String? { advice?.typed }
}

extension Advice {
  private static let flags: [Choice: String] = [
    .model: "--model", .source: "--from", .versions: "--via", .documents: "--mapping",
    .output: "--output", .allowedLosses: "--allow-loss", .force: "--force", .backup: "--from",
    .deletesBackup: "--delete-backup", .commandModel: "--model", .entity: "--entity", .fix: "--fix",
    .keep: "--keep", .sibling: "--like", .onlyObjects: "--only",
    .known: "--all", .log: "--wal", .ignoresLog: "--ignore-wal",
    .password: "--password-file",
  ]

  /// Commands by the marks that texts have for them; the values that are known replace its words in
  /// capitals in turn.
  package static let commands = [
    "change-list": "--receipt FILE",
    "checksums": "strata hash STORE and strata hash MODEL", "comparison": "strata diff A B",
    "diagnosis": "strata doctor STORE", "dump": "strata dump STORE",
    "error-explanation": "strata explain --error", "explanation": "strata explain STORE MODEL",
    "former-model": "strata model PATH@REVISION --format xcdatamodel",
    "history": "strata history STORE", "information": "strata info STORE",
    "listing": "strata stores PATH", "mapping": "strata mapping FILE",
    "migration": "strata migrate STORE --to MODEL", "model-listing": "strata model MODEL",
    "model-search": "strata find-model STORE PATH…", "object": "strata object STORE REF",
    "plan": "strata plan STORE --to MODEL",
    "recipe": "strata plan STORE --to MODEL --write-recipe FILE",
    "recipes": "strata help recipes", "repair": "strata repair STORE",
    "repair-keys": "strata repair STORE --fix primary-key",
    "repair-tables": "strata repair STORE --fix table-missing",
    "repair-tables-forced": "strata repair STORE --fix table-missing --force",
    "repair-uniqueness": "strata repair STORE --fix uniqueness --keep newest",
    "rollback": "strata rollback STORE", "rollback-from": "strata rollback STORE --from FILE",
    "reset": "strata reset STORE --model MODEL",
    "rows": "strata rows STORE ENTITY --where PREDICATE",
    "rules": "strata lint --rules", "salvage": "strata salvage STORE --output FILE",
    "stored-model": "strata model STORE", "undeletion": "strata undelete STORE",
    "undeletion-of": "strata undelete STORE ENTITY",
    "undeletion-versions": "strata undelete STORE ENTITY --versions",
    "version-checksums": "strata hash SOURCES@SchemaV1",
  ]

  /// The sentence as a person at the command line or on the screen reads it.
  package var typed: String { text(naming: Self.typed) }

  /// What is typed for one of the values that it names.
  static func typed(_ choice: Choice, _ values: [String]) -> String {
    if let command = commands[choice.id] {
      var rest = values[...]
      return command.split(separator: " ").map { word in
        word.allSatisfy(\.isUppercase) ? rest.popFirst() ?? String(word) : String(word)
      }.joined(separator: " ")
    }
    let flag = flags[choice] ?? choice.name
    return values.isEmpty
      ? flag : values.map { "\(flag) \(ShellText.quoted($0))" }.joined(separator: " ")
  }
}

extension DataCheck {
  /// What to do about it, with what a person types.
  package var typedHint: String { advice?.typed ?? hint }
}
