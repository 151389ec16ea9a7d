import ManagedModel
import ManagedStore
import TestSupport

@testable import Mapping
@testable import Migration

/// What the tests of custom migrations share: models from short texts, plans by recipes and policies.
enum Classics {
  /// A model of such lines: `Post` begins an entity (`Cat: Animal` a subentity), `title String` is
  /// an optional attribute, `kind String!` a mandatory one, `n Integer 16 = 3` has a default, `post -> Post.comments` is a
  /// to-one, `comments ->> Post.post` a to-many, `pages ->>> Page.book` an ordered one; `->!` is
  /// mandatory, no inverse no dot.
  static func model(_ identifier: String, _ text: String) throws -> Model {
    var xml = "<model userDefinedModelVersionIdentifier=\"\(identifier)\">"
    var isOpen = false
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      guard let first = words.first else { continue }
      if !line.hasPrefix(" ") {
        if isOpen { xml += "</entity>" }
        isOpen = true
        xml += entity(words)
      } else if words.count > 2, words[1].hasPrefix("->") {
        xml += relationship(first, words[1], words[2])
      } else {
        xml += attribute(first, Array(words.dropFirst()))
      }
    }
    return try Library.model(xml + (isOpen ? "</entity>" : "") + "</model>")
  }

  /// `Post`, `Cat: Animal`, `Animal abstract`, `Book unique=isbn`, `Pet was=Cat`.
  private static func entity(_ words: [String]) -> String {
    let name = words[0].filter { $0 != ":" }
    var inside = ""
    var tag = "<entity name=\"\(name)\""
    if words[0].hasSuffix(":"), words.count > 1 { tag += " parentEntity=\"\(words[1])\"" }
    for word in words.dropFirst() {
      if word == "abstract" { tag += " isAbstract=\"YES\"" }
      if word.hasPrefix("was=") { tag += " elementID=\"\(word.dropFirst(4))\"" }
      if word.hasPrefix("unique=") {
        inside =
          "<uniquenessConstraints><uniquenessConstraint><constraint value=\"\(word.dropFirst(7))\"/></uniquenessConstraint></uniquenessConstraints>"
      }
    }
    return tag + ">" + inside
  }

  private static func attribute(_ name: String, _ words: [String]) -> String {
    var words = words
    var more = ""
    if let equals = words.firstIndex(of: "=") {
      more += " defaultValueString=\"\(words[equals + 1])\""
      words.removeLast(words.count - equals)
    }
    if words.last == "external" {
      more += " allowsExternalBinaryDataStorage=\"YES\""
      words.removeLast()
    }
    if let was = words.last, was.hasPrefix("was=") {
      more += " elementID=\"\(was.dropFirst(4))\""
      words.removeLast()
    }
    var type = words.joined(separator: " ")
    if type.hasSuffix("!") { type.removeLast() } else { more += " optional=\"YES\"" }
    return "<attribute name=\"\(name)\" attributeType=\"\(type)\"\(more)/>"
  }

  private static func relationship(_ name: String, _ arrow: String, _ end: String) -> String {
    let heads = arrow.filter { $0 == ">" }.count
    let parts = end.split(separator: ".").map(String.init)
    return "<relationship name=\"\(name)\" destinationEntity=\"\(parts[0])\""
      + (arrow.hasSuffix("!") ? "" : " optional=\"YES\"")
      + (heads == 1 ? " maxCount=\"1\"" : " toMany=\"YES\"")
      + (heads == 3 ? " ordered=\"YES\"" : "")
      + (parts.count > 1 ? " inverseName=\"\(parts[1])\"/>" : "/>")
  }

  /// A store of a model, in a folder.
  static func store(
    _ model: Model, in folder: TemporaryFolder, _ fill: (StoreWriter) throws -> Void
  ) throws -> String {
    let path = folder.path("Store.sqlite")
    let writer = try StoreWriter(
      creating: path, model: model, uuid: "11111111-2222-4333-8444-555555555555")
    try fill(writer)
    try writer.finish()
    return path
  }

  /// A plan by the entity mappings of a recipe from version 1 to version 2.
  static func plan(
    _ path: String, to model: Model, _ entityMappings: String,
    userInfo: String = "{}", policies: [String: EntityMigrationPolicy.Type] = [:]
  ) throws -> MigrationPlan {
    var documents = MappingDocuments()
    documents.add(
      try Recipe(
        text:
          "{ from: '1', to: '2', entityMappings: [\(entityMappings)], userInfo: \(userInfo) }",
        path: "recipe.json5"))
    var bindings = PolicyBindings()
    for (name, type) in policies { bindings[name] = type }
    return try Store(path: path).plan(
      to: model, names: ("1", "2"), documents: documents,
      policies: bindings)
  }

  /// Plans and runs; the objects of the result, whose verification has passed.
  static func migrate(
    _ path: String, to model: Model, _ entityMappings: String,
    userInfo: String = "{}", policies: [String: EntityMigrationPolicy.Type] = [:]
  ) throws -> [String] {
    let plan = try plan(
      path, to: model, entityMappings, userInfo: userInfo, policies: policies)
    _ = try StoreMigration.runAndRead(plan)
    return try StoreDump.lines(at: path)
  }
}
