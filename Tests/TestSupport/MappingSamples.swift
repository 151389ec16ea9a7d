import ModelWriting

/// Mapping models in both of Xcode's formats, made by the tests.
public enum MappingSamples {
  public static let before = """
    <model userDefinedModelVersionIdentifier="1">
    <entity name="Company">
      <attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="staff" optional="YES" toMany="YES" destinationEntity="Person" inverseName="employer"/>
    </entity>
    <entity name="Person">
      <attribute name="active" optional="YES" attributeType="Boolean"/>
      <attribute name="age" optional="YES" attributeType="Integer 16"/>
      <attribute name="balance" optional="YES" attributeType="Decimal"/>
      <attribute name="born" optional="YES" attributeType="Date"/>
      <attribute name="code" optional="YES" attributeType="UUID"/>
      <attribute name="name" optional="YES" attributeType="String"/>
      <attribute name="photo" optional="YES" attributeType="Binary"/>
      <attribute name="score" optional="YES" attributeType="Double"/>
      <relationship name="boss" optional="YES" maxCount="1" destinationEntity="Person" inverseName="reports"/>
      <relationship name="employer" optional="YES" maxCount="1" destinationEntity="Company" inverseName="staff"/>
      <relationship name="reports" optional="YES" toMany="YES" destinationEntity="Person" inverseName="boss"/>
    </entity>
    </model>
    """

  public static let after = """
    <model userDefinedModelVersionIdentifier="2">
    <entity name="Company">
      <attribute name="name" optional="YES" attributeType="String"/>
      <attribute name="size" optional="YES" attributeType="Integer 32"/>
      <relationship name="staff" optional="YES" toMany="YES" destinationEntity="Human" inverseName="employer"/>
    </entity>
    <entity name="Human">
      <attribute name="age" optional="YES" attributeType="Integer 16"/>
      <attribute name="rank" optional="YES" attributeType="Integer 16" defaultValueString="3"/>
      <attribute name="title" optional="YES" attributeType="String"/>
      <relationship name="employer" optional="YES" maxCount="1" destinationEntity="Company" inverseName="staff"/>
      <relationship name="peers" optional="YES" toMany="YES" destinationEntity="Human" inverseName="peersOf"/>
      <relationship name="peersOf" optional="YES" toMany="YES" destinationEntity="Human" inverseName="peers"/>
    </entity>
    <entity name="Note">
      <attribute name="text" optional="YES" attributeType="String" defaultValueString="empty"/>
    </entity>
    </model>
    """

  /// The two models, and a third that neither mapping is made for.
  public static func models() throws -> (before: Model, after: Model) {
    (try Model(contents: Array(before.utf8)), try Model(contents: Array(after.utf8)))
  }

  /// A property of a mapping: its name, and its value expression in predicate format.
  public typealias Property = (name: String, expression: String?)

  /// An entity mapping of the samples.
  public struct Mapping: Sendable {
    public var name: String
    public var type: Int64 = 0
    public var source: String?
    public var destination: String?
    public var predicate = "TRUEPREDICATE"
    public var policy: String?
    public var attributes: [Property] = []
    public var relationships: [Property] = []

    public init(_ name: String, source: String?, destination: String?) {
      self.name = name
      self.source = source
      self.destination = destination
    }
  }

  /// Mappings of every kind between the two models.
  public static var mappings: [Mapping] {
    var person = Mapping("PersonToHuman", source: "Person", destination: "Human")
    person.predicate = "age > 17 OR name BEGINSWITH \"X\""
    person.attributes = [
      ("age", "$source.age + 1"), ("title", "$source.name"), ("rank", nil),
    ]
    person.relationships = [
      ("employer", objects("CompanyToCompany", "$source.employer")),
      (
        "peers",
        objects(
          "PersonToHuman", "$source.boss.reports")
      ),
    ]
    var company = Mapping("CompanyToCompany", source: "Company", destination: "Company")
    company.policy = "App.CompanyPolicy"
    company.attributes = [("name", "$source.name"), ("size", "$source.staff.@count")]
    company.relationships = [
      (
        "staff",
        "FUNCTION($manager, \"destinationInstancesForSourceRelationshipNamed:sourceInstances:\", \"staff\", $source.staff)"
      )
    ]
    var note = Mapping("Note", source: nil, destination: "Note")
    note.attributes = [("text", nil)]
    return [person, company, note]
  }

  /// The format of a value that leads to what another mapping made.
  public static func objects(_ mapping: String, _ path: String) -> String {
    "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"\(mapping)\", \(path))"
  }

  /// A compiled mapping model.
  public static func compiled(
    _ mappings: [Mapping] = mappings, from before: Model, to after: Model
  ) throws -> [UInt8] {
    var writer = KeyedArchiveWriter()
    let list = try mappings.map { mapping in
      func properties(_ list: [Property]) throws -> PropertyListValue {
        let items = try list.map { property in
          let value = try property.expression.map {
            writer.add(expression: try Expression(format: $0))
          }
          return writer.add(
            class: ["NSPropertyMapping", "NSObject"],
            [
              "NSDestinationPropertyName": writer.string(property.name),
              "NSValueExpression": value ?? KeyedArchiveWriter.null,
            ])
        }
        return writer.array(items)
      }
      func hash(_ model: Model, _ entity: String?) -> PropertyListValue {
        entity.flatMap { model.versionHashes[$0] }.map { writer.add(.data($0.bytes)) }
          ?? KeyedArchiveWriter.null
      }
      var fields: [String: PropertyListValue] = [
        "NSMappingName": writer.string(mapping.name), "NSMappingType": .integer(mapping.type),
        "NSSourceEntityName": writer.string(mapping.source),
        "NSDestinationEntityName": writer.string(mapping.destination),
        "NSSourceEntityVersionHash": hash(before, mapping.source),
        "NSDestinationEntityVersionHash": hash(after, mapping.destination),
        "NSEntityMigrationPolicyClassName": writer.string(mapping.policy),
        "NSUserInfo": writer.dictionary([
          (key: writer.string("step"), value: writer.add(.integer(2)))
        ]),
      ]
      fields["NSAttributeMappings"] = try properties(mapping.attributes)
      fields["NSRelationshipMappings"] = try properties(mapping.relationships)
      if let source = mapping.source {
        let fetch = Expression.fetch(
          request: .function(
            "fetchRequestForSourceEntityNamed:predicateString:", receiver: .variable("manager"),
            arguments: [
              .constant(.string(source)), .constant(.string(mapping.predicate)),
            ]),
          context: .keyPath("sourceContext", of: .variable("manager")), countOnly: false)
        fields["NSSourceExpression"] = writer.add(expression: fetch)
      }
      return writer.add(class: ["NSEntityMapping", "NSObject"], fields)
    }
    let root = writer.add(
      class: ["NSMappingModel", "NSObject"], ["NSEntityMappings": writer.array(list)])
    return writer.bytes(root: root)
  }

  /// An xcmapping.xml that says the same, as far as Xcode's format can: without predicates, and with
  /// compiled models in place of Xcode's own copies; without models when none are given.
  public static func document(
    _ mappings: [Mapping] = mappings, models: (before: Model, after: Model)?
  ) throws -> [UInt8] {
    var objects: [String] = []
    var number = 200
    func properties(_ list: [Property], _ type: String) throws -> String {
      try list.map { property in
        number += 1
        var value = ""
        if let expression = property.expression {
          var writer = KeyedArchiveWriter()
          let root = writer.add(expression: try Expression(format: expression))
          let text = ByteText.base64(writer.bytes(root: root))
          value = "<attribute name=\"valueexpressiondata\" type=\"binary\">\(text)</attribute>"
        } else if type == "XDDEVRELATIONSHIPMAPPING" {
          value = "<attribute name=\"autogenerateexpression\" type=\"bool\">1</attribute>"
        }
        objects.append(
          """
          <object type="\(type)" id="z\(number)"><attribute name="name" type="string">\(property.name)</attribute>\(value)
          </object>
          """)
        return "z\(number)"
      }.joined(separator: " ")
    }
    var ids: [String] = []
    for (index, mapping) in mappings.enumerated() {
      let attributes = try properties(mapping.attributes, "XDDEVATTRIBUTEMAPPING")
      let relationships = try properties(mapping.relationships, "XDDEVRELATIONSHIPMAPPING")
      ids.append("e\(index)")
      objects.append(
        """
        <object type="XDDEVENTITYMAPPING" id="e\(index)">
        <attribute name="mappingtypename" type="string">Undefined</attribute>
        <attribute name="mappingnumber" type="int16">\(index + 1)</attribute>
        <attribute name="sourcename" type="string">\(mapping.source ?? "")</attribute>
        <attribute name="destinationname" type="string">\(mapping.destination ?? "")</attribute>
        <attribute name="migrationpolicyclassname" type="string">\(mapping.policy ?? "")</attribute>
        <relationship name="attributemappings" type="0/0" destination="XDDEVATTRIBUTEMAPPING" idrefs="\(attributes)"></relationship>
        <relationship name="relationshipmappings" type="0/0" destination="XDDEVRELATIONSHIPMAPPING" idrefs="\(relationships)"></relationship>
        </object>
        """)
    }
    func data(_ name: String, _ model: Model?) -> String {
      model.map {
        "<attribute name=\"\(name)\" type=\"binary\">\(ByteText.base64($0.archived()))</attribute>"
      } ?? ""
    }
    // The last of them first: the order in the file means nothing.
    let text = """
      <?xml version="1.0" standalone="yes"?>
      <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
      <database><databaseInfo><version>134481920</version></databaseInfo>
      \(objects.joined(separator: "\n"))
      <object type="XDDEVMAPPINGMODEL" id="z101">
      \(data("sourcemodeldata", models?.before))
      \(data("destinationmodeldata", models?.after))
      <relationship name="entitymappings" type="0/0" destination="XDDEVENTITYMAPPING" idrefs="\(ids.reversed().joined(separator: " "))"></relationship>
      </object>
      </database>
      """
    return Array(text.utf8)
  }
}
