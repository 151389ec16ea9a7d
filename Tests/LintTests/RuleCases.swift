import Lint
import ManagedModel

/// Where each rule fires, and the nearest thing where it does not.
struct RuleCase: CustomStringConvertible {
  let rule: String
  let fires: LintScene
  let not: LintScene

  var description: String { rule }

  private static let name =
    "<attribute name=\"name\" optional=\"YES\" attributeType=\"String\"/>"

  private static func attribute(_ name: String, _ rest: String) -> String {
    "<attribute name=\"\(name)\" \(rest)/>"
  }
  private static func entity(_ name: String, _ inner: String, _ rest: String = "") -> String {
    "<entity name=\"\(name)\" \(rest)>\n\(inner)\n</entity>"
  }
  private static func item(_ inner: String, _ rest: String = "") -> String {
    entity("Item", name + "\n" + inner, rest)
  }
  private static func relationship(
    _ name: String, to destination: String, inverse: String?, _ rest: String
  ) -> String {
    "<relationship name=\"\(name)\" destinationEntity=\"\(destination)\" "
      + (inverse.map { "inverseName=\"\($0)\" " } ?? "") + rest + "/>"
  }
  private static let one = "optional=\"YES\" maxCount=\"1\" deletionRule=\"Nullify\""
  private static let many = "optional=\"YES\" toMany=\"YES\" deletionRule=\"Nullify\""

  private static func pair(_ forward: String, _ back: String) -> String {
    entity("A", relationship("b", to: "B", inverse: "a", forward))
      + entity("B", relationship("a", to: "A", inverse: "b", back))
  }

  private static func schema(
    _ version: Int, _ classes: String, _ list: String = "Item.self"
  ) -> String {
    """
    enum SchemaV\(version): VersionedSchema {
      static var versionIdentifier = Schema.Version(\(version), 0, 0)
      static var models: [any PersistentModel.Type] { [\(list)] }
      \(classes)
    }

    """
  }
  private static func plan(_ versions: Int...) -> String {
    """
    enum Plan: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] {
        [\(versions.map { "SchemaV\($0).self" }.joined(separator: ", "))]
      }
      static var stages: [MigrationStage] {
        [\(zip(versions, versions.dropFirst()).map {
          ".lightweight(fromVersion: SchemaV\($0).self, toVersion: SchemaV\($1).self)"
        }.joined(separator: ", "))]
      }
    }

    """
  }
  private static let itemV1Alone = "@Model class Item { var name: String }"
  private static let kind = "enum Kind: String, Codable { case a, b }\n"
  private static let itemV1 = schema(1, "@Model class Item { var name: String }")
  private static let itemV2 = schema(2, "@Model class Item { var name: String; var n: Int = 0 }")

  private static func cloud(_ inner: String, _ rest: String = "") -> LintScene {
    var scene = LintScene.same(entity("Item", inner, rest))
    scene.options.cloudKit = true
    return scene
  }

  static let all: [RuleCase] = versionCases + stepCases + modelCases + cloudCases

  private static let versionCases = [
    RuleCase(
      rule: "released-version-edited",
      fires: LintScene(
        shipped: [("App", item(""))], shippedCurrent: "App",
        now: [("App", item(attribute("n", "optional=\"YES\" attributeType=\"Integer 16\"")))],
        current: "App"),
      // A default value and a class name enter no hash.
      not: LintScene(
        shipped: [("App", item(attribute("n", "optional=\"YES\" attributeType=\"Integer 16\"")))],
        shippedCurrent: "App",
        now: [
          (
            "App",
            item(
              attribute(
                "n", "optional=\"YES\" attributeType=\"Integer 16\" defaultValueString=\"4\""),
              "representedClassName=\"Thing\"")
          )
        ], current: "App")),
    RuleCase(
      rule: "version-deleted",
      fires: LintScene(
        shipped: [("App", item("")), ("App 2", entity("Item", name) + entity("B", name))],
        shippedCurrent: "App 2",
        now: [("App 2", entity("Item", name) + entity("B", name))], current: "App 2"),
      // It has another name now.
      not: LintScene(
        shipped: [("App", item("")), ("App 2", entity("Item", name) + entity("B", name))],
        shippedCurrent: "App 2",
        now: [("App 1", item("")), ("App 2", entity("Item", name) + entity("B", name))],
        current: "App 2")),
    RuleCase(
      rule: "current-rolled-back",
      fires: LintScene(
        shipped: [("App", item("")), ("App 2", item("") + entity("B", name))],
        shippedCurrent: "App 2",
        now: [("App", item("")), ("App 2", item("") + entity("B", name))], current: "App"),
      not: LintScene(
        shipped: [("App", item("")), ("App 2", item("") + entity("B", name))],
        shippedCurrent: "App",
        now: [("App", item("")), ("App 2", item("") + entity("B", name))], current: "App 2")),
    RuleCase(
      rule: "current-not-advanced",
      fires: LintScene(
        shipped: [("App", item(""))], shippedCurrent: "App",
        now: [("App", item("")), ("App 2", item("") + entity("B", name))], current: "App"),
      not: .step(item(""), item("") + entity("B", name))),
    RuleCase(
      rule: "no-path",
      fires: LintScene(
        shipped: [
          ("App", item("")), ("App 2", item("") + entity("B", name)),
          ("App 3", item("") + entity("B", name) + entity("C", name)),
        ], shippedCurrent: "App 3",
        now: [
          ("App", item("")), ("App 2", item("") + entity("B", name)),
          ("App 3", item("") + entity("B", name) + entity("C", name)),
          (
            "App 4",
            entity("Item", attribute("name", "optional=\"YES\" attributeType=\"Date\""))
              + entity("B", name) + entity("C", name)
          ),
        ], current: "App 4"),
      not: .step(item(""), item("") + entity("B", name))),
    RuleCase(
      rule: "no-path-from-oldest",
      fires: LintScene(
        shipped: [("App", item("")), ("App 2", item("") + entity("B", name))],
        shippedCurrent: "App 2",
        now: [
          ("App", item("")), ("App 2", item("") + entity("B", name)),
          (
            "App 3",
            entity("Item", attribute("name", "optional=\"YES\" attributeType=\"Date\""))
              + entity("B", name)
          ),
        ], current: "App 3"),
      not: .step(item(""), item("") + entity("B", name))),
    RuleCase(
      rule: "duplicate-checksum",
      fires: .swift(nil, itemV1 + schema(2, "@Model class Item { var name: String }") + plan(1, 2)),
      not: .swift(nil, itemV1 + itemV2 + plan(1, 2))),
    RuleCase(
      rule: "swiftdata-enum-without-value",
      fires: .swift(
        itemV1Alone, kind + "@Model class Item { var name: String; var kind: Kind = Kind.a }"),
      not: .swift(
        itemV1Alone, kind + "@Model class Item { var name: String; var kind: Kind? = Kind.a }")),
    RuleCase(
      rule: "swiftdata-default-evaluated-once",
      fires: .swift(itemV1Alone, "@Model class Item { var name: String; var id: UUID? = UUID() }"),
      // What is there already keeps its values.
      not: .swift(
        "@Model class Item { var name: String; var id: UUID? }",
        "@Model class Item { var name: String; var id: UUID? = UUID() }")),
    RuleCase(
      rule: "swiftdata-live-type-in-frozen-schema",
      fires: .swift(
        nil,
        schema(1, "@Model class Item { var name: String }", "Item.self, Tag.self")
          + schema(2, "@Model class Item { var name: String; var n = 0 }", "Item.self, Tag.self")
          + "@Model class Tag { var text: String }\n" + plan(1, 2)),
      // The last version lives on anyway.
      not: .swift(
        nil,
        itemV1
          + schema(2, "", "Tag.self, Item.self")
          + "@Model class Tag { var text: String }\n@Model class Item { var name: String }"
          + plan(1, 2))),
  ]

  private static let stepCases = [
    RuleCase(
      rule: "not-inferable",
      // Two hierarchies would become one.
      fires: .step(
        entity("A", name) + entity("B", name),
        entity("A", "", "parentEntity=\"P\"") + entity("B", "", "parentEntity=\"P\"")
          + entity("P", name, "isAbstract=\"YES\"")),
      not: .step(
        entity("A", name) + entity("B", name),
        entity("A", "", "parentEntity=\"P\"") + entity("B", name)
          + entity("P", name, "isAbstract=\"YES\""))),
    RuleCase(
      rule: "attribute-dropped",
      fires: .step(item(attribute("n", "optional=\"YES\" attributeType=\"Date\"")), item("")),
      not: .step(
        item(attribute("n", "optional=\"YES\" attributeType=\"Date\"")),
        item(attribute("day", "optional=\"YES\" attributeType=\"Date\" elementID=\"n\"")))),
    RuleCase(
      rule: "entity-dropped",
      fires: .step(item("") + entity("Odd", name), item("")),
      not: .step(
        item("") + entity("Odd", name), item("") + entity("Even", name, "elementID=\"Odd\""))
    ),
    RuleCase(
      rule: "relationship-dropped",
      fires: .step(pair(one, many), entity("A", name) + entity("B", name)),
      // One side goes on alone.
      not: .step(
        pair(one, many),
        entity("A", relationship("b", to: "B", inverse: nil, one)) + entity("B", name))),
    RuleCase(
      rule: "looks-like-rename",
      fires: .step(
        item(attribute("created", "optional=\"YES\" attributeType=\"Date\"")),
        item(attribute("createdAt", "optional=\"YES\" attributeType=\"Date\""))),
      not: .step(
        item(attribute("created", "optional=\"YES\" attributeType=\"Date\"")),
        item(attribute("createdAt", "optional=\"YES\" attributeType=\"String\"")))),
    RuleCase(
      rule: "mandatory-without-default",
      fires: .step(item(""), item(attribute("n", "attributeType=\"Integer 16\""))),
      not: .step(
        item(""), item(attribute("n", "attributeType=\"Integer 16\" defaultValueString=\"0\"")))),
    RuleCase(
      rule: "became-mandatory",
      fires: .step(item(""), entity("Item", attribute("name", "attributeType=\"String\""))),
      not: .step(
        item(""),
        entity("Item", attribute("name", "attributeType=\"String\" defaultValueString=\"none\"")))),
    RuleCase(
      rule: "type-changed",
      fires: .step(
        item(attribute("n", "optional=\"YES\" attributeType=\"Double\"")),
        item(attribute("n", "optional=\"YES\" attributeType=\"Integer 16\""))),
      not: .step(
        item(attribute("n", "optional=\"YES\" attributeType=\"Integer 16\"")),
        item(attribute("n", "optional=\"YES\" attributeType=\"Integer 64\"")))),
    RuleCase(
      rule: "to-many-became-to-one",
      fires: .step(pair(many, one), pair(one, one)),
      not: .step(pair(one, one), pair(many, one))),
    RuleCase(
      rule: "unique-added",
      fires: .step(
        item(""),
        item(
          "<uniquenessConstraints><uniquenessConstraint><constraint value=\"name\"/></uniquenessConstraint></uniquenessConstraints>"
        )),
      // A new entity has no objects that could be equal.
      not: .step(
        item(""),
        item("")
          + entity(
            "New",
            name
              + "<uniquenessConstraints><uniquenessConstraint><constraint value=\"name\"/></uniquenessConstraint></uniquenessConstraints>"
          ))),
    RuleCase(
      rule: "renaming-identifier-dangling",
      fires: .step(
        item(""), item(attribute("n", "optional=\"YES\" attributeType=\"Date\" elementID=\"m\""))),
      // What the version before said already.
      not: .step(
        item(attribute("n", "optional=\"YES\" attributeType=\"Date\" elementID=\"m\"")),
        item(attribute("n", "optional=\"YES\" attributeType=\"Date\" elementID=\"m\""))
          + entity("B", name))),
    RuleCase(
      rule: "renaming-identifier-shared",
      // Of the version before: its stored properties must have identifiers of their own.
      fires: .step(
        item(attribute("a", "optional=\"YES\" attributeType=\"String\" elementID=\"name\"")),
        item("")),
      not: .step(item(attribute("a", "optional=\"YES\" attributeType=\"String\"")), item(""))),
    RuleCase(
      rule: "element-id-stale",
      fires: .step(
        item(""), item(attribute("n", "optional=\"YES\" attributeType=\"Date\" elementID=\"name\""))
      ),
      not: .step(
        item(""),
        entity(
          "Item", attribute("title", "optional=\"YES\" attributeType=\"String\" elementID=\"name\"")
        ))
    ),
  ]

  private static let modelCases = [
    RuleCase(
      rule: "renaming-identifier-ignored",
      fires: .step(
        item(""),
        item(
          attribute("n", "optional=\"YES\" attributeType=\"Date\" renamingIdentifier=\"name\""))),
      not: .step(
        item(attribute("m", "optional=\"YES\" attributeType=\"Date\"")),
        item(
          attribute(
            "n",
            "optional=\"YES\" attributeType=\"Date\" elementID=\"m\" renamingIdentifier=\"m\"")))),
    RuleCase(
      rule: "inverse-missing",
      fires: .same(entity("A", relationship("b", to: "B", inverse: nil, one)) + entity("B", name)),
      not: .same(pair(one, many))),
    RuleCase(
      rule: "inverse-inconsistent",
      fires: .same(
        entity(
          "A",
          relationship("b", to: "B", inverse: "a", one)
            + relationship("c", to: "B", inverse: "a", one))
          + entity("B", relationship("a", to: "A", inverse: "b", one))),
      // A subentity's inverse leads to the parent that declares the relationship.
      not: .same(
        pair(one, one) + entity("A2", "", "parentEntity=\"A\""))),
    RuleCase(
      rule: "delete-rule-cascades-both-ways",
      fires: .same(
        pair(one, many).replacing("Nullify", with: "Cascade")),
      not: .same(pair("optional=\"YES\" maxCount=\"1\" deletionRule=\"Cascade\"", many))),
    RuleCase(
      rule: "delete-rule-denies-forever",
      fires: .same(pair("maxCount=\"1\" deletionRule=\"Deny\"", many)),
      not: .same(pair("optional=\"YES\" maxCount=\"1\" deletionRule=\"Deny\"", many))),
    RuleCase(
      rule: "transformable-insecure",
      fires: .same(item(attribute("t", "optional=\"YES\" attributeType=\"Transformable\""))),
      not: .same(
        item(
          attribute(
            "t",
            "optional=\"YES\" attributeType=\"Transformable\" valueTransformerName=\"NSSecureUnarchiveFromData\""
          )))),
  ]

  private static let cloudCases = [
    RuleCase(
      rule: "cloudkit-unique-constraint",
      fires: cloud(
        name
          + "<uniquenessConstraints><uniquenessConstraint><constraint value=\"name\"/></uniquenessConstraint></uniquenessConstraints>"
      ), not: cloud(name)),
    RuleCase(
      rule: "cloudkit-mandatory-without-default",
      fires: cloud(attribute("n", "attributeType=\"Integer 16\"")),
      not: cloud(attribute("n", "attributeType=\"Integer 16\" defaultValueString=\"0\""))),
    RuleCase(
      rule: "cloudkit-relationship-mandatory",
      fires: cloud(relationship("i", to: "Item", inverse: "i", "maxCount=\"1\"")),
      not: cloud(relationship("i", to: "Item", inverse: "i", one))),
    RuleCase(
      rule: "cloudkit-relationship-without-inverse",
      fires: cloud(relationship("i", to: "Item", inverse: nil, one)),
      not: cloud(relationship("i", to: "Item", inverse: "i", one))),
    RuleCase(
      rule: "cloudkit-deny-rule",
      fires: cloud(
        relationship("i", to: "Item", inverse: "i", one.replacing("Nullify", with: "Deny"))),
      not: cloud(relationship("i", to: "Item", inverse: "i", one))),
    RuleCase(
      rule: "cloudkit-ordered-relationship",
      fires: cloud(relationship("i", to: "Item", inverse: "i", many + " ordered=\"YES\"")),
      not: cloud(relationship("i", to: "Item", inverse: "i", many))),
    RuleCase(
      rule: "cloudkit-undefined-attribute",
      fires: cloud("<attribute name=\"n\" optional=\"YES\"/>"),
      not: cloud("<attribute name=\"n\" optional=\"YES\" transient=\"YES\"/>")),
    RuleCase(
      rule: "cloudkit-changed-after-deployment",
      fires: mirrored(
        .step(
          item(""),
          entity(
            "Item",
            attribute("title", "optional=\"YES\" attributeType=\"String\" elementID=\"name\"")))),
      not: mirrored(
        .step(item(""), item(attribute("title", "optional=\"YES\" attributeType=\"String\""))))),
  ]

  private static func mirrored(_ scene: LintScene) -> LintScene {
    var scene = scene
    scene.options.cloudKit = true
    return scene
  }
}

extension String {
  fileprivate func replacing(_ text: String, with other: String) -> String {
    split(separator: text, omittingEmptySubsequences: false).joined(separator: other)
  }
}
