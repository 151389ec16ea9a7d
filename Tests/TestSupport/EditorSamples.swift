import ManagedModel
import ModelWriting

/// Models as Xcode 3's model editor archived them, written by what is known of its objects.
package enum EditorSamples {
  /// The `elements` of an .xcdatamodel, of which indexes and the bounds of values are left out.
  package static func elements(_ model: Model) -> [UInt8] {
    var writer = KeyedArchiveWriter()
    var made: [String: PropertyListValue] = [:]
    for entity in model.entities { made[entity.name] = writer.reserve() }
    for entity in model.entities {
      var properties: [(String, PropertyListValue)] = []
      for attribute in entity.attributes {
        let values: [(String, PropertyListValue)] = [
          ("XD_PPSK_isOptional", writer.add(.boolean(attribute.isOptional))),
          ("XD_PPSK_isTransient", writer.add(.boolean(attribute.isTransient))),
          ("XD_PPSK_elementID", writer.string(attribute.renamingIdentifier)),
          ("XD_PPSK_versionHashModifier", writer.string(attribute.versionHashModifier)),
          ("XD_PAttK_attributeType", writer.add(.integer(Int64(attribute.type.rawValue)))),
          (
            "XD_PAttK_allowsExternalBinaryDataStorage",
            writer.add(.boolean(attribute.allowsExternalBinaryDataStorage))
          ),
          (
            "XD_PAttK_defaultValueAsString",
            writer.string(attribute.defaultValue.flatMap(DefaultValueText.text))
          ),
        ]
        properties.append(
          (attribute.name, object("XDPMAttribute", attribute.name, values, [:], &writer)))
      }
      for relationship in entity.relationships {
        let inverse = relationship.inverse.map {
          writer.add(class: ["XDPMRelationship"], ["_name": writer.string($0)])
        }
        let values: [(String, PropertyListValue)] = [
          ("XD_PPSK_isOptional", writer.add(.boolean(relationship.isOptional))),
          ("XD_PRK_destination", made[relationship.destination] ?? KeyedArchiveWriter.null),
          ("XD_PRK_inverseRelationship", inverse ?? KeyedArchiveWriter.null),
          ("XD_PRK_isToMany", writer.add(.boolean(relationship.isToMany))),
          ("XD_PRK_ordered", writer.add(.boolean(relationship.isOrdered))),
          ("XD_PRK_minCount", writer.add(.integer(Int64(relationship.minCount)))),
          ("XD_PRK_maxCount", writer.add(.integer(Int64(relationship.maxCount)))),
          ("XD_PRK_deleteRule", writer.add(.integer(Int64(relationship.deleteRule.rawValue)))),
        ]
        properties.append(
          (relationship.name, object("XDPMRelationship", relationship.name, values, [:], &writer)))
      }
      let own = storage(properties, &writer)
      var fields: [String: PropertyListValue] = ["XDBucketForOwnedAttributesstorage": own]
      if let parent = entity.parent.flatMap({ made[$0] }) {
        let general = writer.add(class: ["XDUMLGeneralization"], ["_general": parent])
        fields["XDBucketForGeneralizationsstorage"] = writer.array([general])
      }
      let values: [(String, PropertyListValue)] = [
        ("XD_PSK_isAbstract", writer.add(.boolean(entity.isAbstract))),
        ("XD_PSK_elementID", writer.string(entity.renamingIdentifier)),
        ("XD_PSK_versionHashModifier", writer.string(entity.versionHashModifier)),
        ("XD_PSK_entityClassName", writer.string(entity.className)),
      ]
      fields["XDBucketForStereotypesstorage"] = stereotypes(values, &writer)
      fields["_name"] = writer.string(entity.name)
      if let reference = made[entity.name] {
        writer.fill(reference, class: ["XDPMEntity", "NSObject"], fields)
      }
    }
    let entities = model.entities.compactMap { entity in made[entity.name].map { (entity.name, $0) }
    }
    let package = writer.add(
      class: ["XDUMLPackageImp"], ["XDBucketForClassesstorage": storage(entities, &writer)])
    let root = writer.add(
      class: ["XDPMModel", "NSObject"],
      [
        "_xd_rootPackage": package,
        "_modelVersionIdentifier": writer.string(model.versionIdentifiers.first),
      ])
    return writer.bytes(root: root)
  }

  private static func object(
    _ name: String, _ own: String, _ values: [(String, PropertyListValue)],
    _ fields: [String: PropertyListValue], _ writer: inout KeyedArchiveWriter
  ) -> PropertyListValue {
    var fields = fields
    fields["_name"] = writer.string(own)
    fields["XDBucketForStereotypesstorage"] = stereotypes(values, &writer)
    return writer.add(class: [name, "NSObject"], fields)
  }

  private static func stereotypes(
    _ values: [(String, PropertyListValue)], _ writer: inout KeyedArchiveWriter
  ) -> PropertyListValue {
    let entries = values.map { key, value in
      (key, writer.add(class: ["XDUMLAttributeImp"], ["_default": value]))
    }
    let one = writer.add(
      class: ["XDUMLStereotypeImp"],
      ["XDBucketForOwnedAttributesstorage": storage(entries, &writer)])
    return storage([("stereotype", one)], &writer)
  }

  private static func storage(
    _ entries: [(String, PropertyListValue)], _ writer: inout KeyedArchiveWriter
  ) -> PropertyListValue {
    writer.dictionary(entries.map { (writer.string($0.0), $0.1) })
  }
}
