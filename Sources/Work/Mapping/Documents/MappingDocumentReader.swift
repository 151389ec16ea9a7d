import ManagedModel

/// Reads an xcmapping.xml: a Core Data store of Xcode's in XML, in which the mapping model, its
/// entity mappings and their property mappings are objects that refer to each other by id.
///
/// A class, since the XML reader's callback fills it in place.
final class MappingDocumentReader {
  /// An object of the store, and what was found in it.
  private struct Object {
    var type: String
    var attributes: [String: String] = [:]
    var relationships: [String: [String]] = [:]
  }

  private var objects: [String: Object] = [:]
  private var order: [String] = []
  private var path: [String] = []
  private var id = ""
  private var object: Object?
  private var attribute: String?
  private var text = ""
  private var expressions = ArchivedExpressionReader()
  private var taken: Set<String> = []

  static func read(_ bytes: [UInt8]) throws -> MappingSource {
    let reader = MappingDocumentReader()
    try XMLReader.read(bytes) { event, xml throws(CoreDataError) in try reader.take(event, xml) }
    return try reader.source()
  }

  /// The name that Xcode gives a mapping when it compiles the file.
  static func name(from source: String?, to destination: String?) -> String {
    switch (source, destination) {
    case (let source?, let destination?): "\(source)To\(destination)"
    case (nil, let destination?): destination
    case (let source?, nil): source
    case (nil, nil): ""
    }
  }

  private func take(_ event: XMLReader.Event, _ xml: XMLReader) throws(CoreDataError) {
    switch event {
    case .start(let name, let attributes):
      path.append(name)
      var tag = XMLTag(name: name, attributes: attributes, xml: xml)
      switch path.count {
      case 1 where name != "database":
        throw xml.error("expected the <database> of a mapping model, found <\(name)>")
      case 2 where name == "object":
        object = Object(type: try tag.required("type"))
        id = try tag.required("id")
      case 3 where object != nil && name == "attribute":
        attribute = try tag.required("name")
        text = ""
      case 3 where object != nil && name == "relationship":
        let name = try tag.required("name")
        object?.relationships[name] = tag.text("idrefs")?.split(separator: " ").map(String.init)
      default: break
      }
    case .text(let piece): if attribute != nil { text += piece }
    case .end:
      path.removeLast()
      switch path.count {
      case 2:
        if let attribute { object?.attributes[attribute] = text }
        attribute = nil
      case 1:
        if let object {
          guard objects.updateValue(object, forKey: id) == nil else {
            throw xml.error("two objects have the id \(id)")
          }
          order.append(id)
        }
        object = nil
      default: break
      }
    }
  }

  private func source() throws -> MappingSource {
    let roots = order.compactMap { objects[$0] }.filter { $0.type == "XDDEVMAPPINGMODEL" }
    guard let root = roots.first else {
      throw CoreDataError(.unreadable, "the document contains no mapping model")
    }
    // Objects that nothing refers to are left over from editing.
    let mappings = try members(root.relationships["entitymappings"]).map { id, object in
      (number: Int(Self.nonEmpty(object, "mappingnumber") ?? "") ?? Int.max, id: id, object: object)
    }.sorted { ($0.number, $0.id) < ($1.number, $1.id) }
    return MappingSource(
      origin: origin(root), entityMappings: try mappings.map { try entity($0.object) })
  }

  private func origin(_ root: Object) -> MappingSource.Origin {
    guard let source = snapshot(root, "sourcemodeldata"),
      let destination = snapshot(root, "destinationmodeldata")
    else { return .names }
    return .models(source: source, destination: destination)
  }

  private func snapshot(_ root: Object, _ key: String) -> EditorModel? {
    guard let bytes = root.attributes[key].flatMap({ ByteText.bytes(base64: $0) }) else {
      return nil
    }
    return (try? KeyedArchive(bytes)).flatMap { try? EditorModel($0) }
  }

  /// The objects of ids; an id may name nothing. Each object belongs to one other at most, so that no
  /// file can have its objects read more than once.
  private func members(_ ids: [String]?) throws -> [(id: String, object: Object)] {
    try (ids ?? []).compactMap { id in
      guard let object = objects[id] else { return nil }
      guard taken.insert(id).inserted else {
        throw CoreDataError(.unreadable, "the object \(id) belongs to two others")
      }
      return (id, object)
    }
  }

  private func entity(_ object: Object) throws -> MappingSource.Entity {
    let source = Self.nonEmpty(object, "sourcename")
    let destination = Self.nonEmpty(object, "destinationname")
    var mapping = MappingSource.Entity(
      name: Self.name(from: source, to: destination),
      type: Self.type(Self.nonEmpty(object, "mappingtypename")), source: source,
      destination: destination)
    mapping.policy = Self.nonEmpty(object, "migrationpolicyclassname")
    mapping.sourceExpression = try expression(object, "sourceexpressiondata")
    // No file with a filter was at hand; Xcode's field of that name is the only text it could be.
    mapping.predicate = object.attributes.keys.sorted().first { $0.contains("predicate") }
      .flatMap { Self.nonEmpty(object, $0) }
    mapping.attributes = try properties(object.relationships["attributemappings"])
    mapping.relationships = try properties(object.relationships["relationshipmappings"])
    if let bytes = try data(object, "userinfodata") {
      mapping.userInfo = try UserInfoReader.read(KeyedArchive(bytes).root.value)
    }
    return mapping
  }

  private func properties(_ ids: [String]?) throws -> [MappingSource.Property] {
    try members(ids).map { _, object in
      guard let name = Self.nonEmpty(object, "name") else {
        throw CoreDataError(.unreadable, "a property mapping has no name")
      }
      if let expression = try expression(object, "valueexpressiondata") {
        return MappingSource.Property(name: name, value: .expression(expression))
      }
      if object.attributes["autogenerateexpression"] == "0" {
        return MappingSource.Property(name: name, value: .untouched)
      }
      return MappingSource.Property(
        name: name,
        value: .automatic(
          keyPath: Self.nonEmpty(object, "sourcekeypath"),
          through: Self.nonEmpty(object, "sourcemappingname")))
    }
  }

  private func expression(_ object: Object, _ key: String) throws -> Expression? {
    guard let bytes = try data(object, key) else { return nil }
    let value = try KeyedArchive(bytes).root.value
    return value.isNull ? nil : try expressions.expression(value)
  }

  private func data(_ object: Object, _ key: String) throws -> [UInt8]? {
    guard let text = Self.nonEmpty(object, key) else { return nil }
    guard let bytes = ByteText.bytes(base64: text) else {
      throw CoreDataError(.unreadable, "the mapping model's \(key) is not Base64")
    }
    return bytes
  }

  private static func nonEmpty(_ object: Object, _ key: String) -> String? {
    object.attributes[key].map(\.trimmed).flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The words are those of Xcode's menu.
  private static func type(_ name: String?) -> Int64 {
    switch name?.lowercased() {
    case "custom": 1
    case "add": 2
    case "remove": 3
    case "copy": 4
    case "transform": 5
    default: 0
    }
  }
}
