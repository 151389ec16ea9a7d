import ExportText
import JSON
import ManagedModel
import ManagedStore
import Reports
import Terminal

/// `strata object`: one object with all its values, what it references and what references it.
package enum ObjectCommand {
  private static let reference = Argument("REF")
  private static let limit = Option<Int?>(
    number: "limit", "related objects to list for each relationship (default 50)")
  private static let property = Option(
    "property", "NAME",
    "write the value of this attribute, unchanged, to the file that --output names")
  private static let output = Option.output.help("write the value of --property to this new file")
  package static let command = Command(
    "object", .look, "prints one object and its related objects",
    arguments: [Argument.store, reference],
    options: [limit, property, output, Option.json, Option.model],
    example: "strata object Recipes.sqlite Recipe/p12",
    statuses: "1 if there is no value to write, 3 if the file exists already", run: run)

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let isJSON = arguments[.json]
    let limit = arguments[limit] ?? (isJSON ? 1_000_000_000 : 50)
    let store = try StoreOpening.reading(arguments[.store], model: arguments[.model])
    var id = try object(arguments[reference], in: store)
    guard let object = try store.object(id, related: limit) else {
      _ = console.finish(store)
      throw noObject(id, in: store)
    }
    id = object.id
    guard arguments[property] == nil, arguments[output] == nil else {
      return try write(arguments, of: id, in: store, console)
    }
    let references = try store.references(to: id, limit: limit)
    let cloud = try store.cloudObject(id)
    isJSON
      ? console.json { write(object, references, cloud, of: store, to: &$0) }
      : print(object, references, cloud, of: store, console)
    return console.finish(store)
  }

  /// The refusal of a reference that names no object.
  static func noObject(_ id: ObjectID, in store: Store) -> CoreDataError {
    // What is damaged may have had it.
    store.gaps.isEmpty
      ? CoreDataError(
        .usage, "there is no object \(id)", path: store.path, hint: list(id, in: store))
      : CoreDataError(
        .unreadable, "the object \(id) is not in what can be read of the store", path: store.path,
        hint: list(id, in: store))
  }

  private static func list(_ id: ObjectID, in store: Store) -> String {
    "\(ShellText.command("rows", store.path, id.entity)) lists those there are."
  }

  /// Writes one value to a file of its own.
  private static func write(
    _ arguments: Arguments, of id: ObjectID, in store: Store, _ console: Console
  ) throws -> CommandStatus {
    guard let property = arguments[property], let path = arguments[output] else {
      throw CoreDataError(
        .usage, "--property and --output belong together",
        hint: "Name an attribute and the file for its value.")
    }
    let request = ValueFile(object: id, property: property, path: path)
    guard let bytes = try request.write(from: store, besides: [arguments[.store]]) else {
      throw CoreDataError(
        .refused, "a file has that name", path: path, hint: "Name a new file.")
    }
    guard let bytes else {
      console.note("\(id) has no value of \(property)")
      return console.finish(store, .no)
    }
    arguments[.json]
      ? console.json {
        $0.object(
          "written", ["object": id.description, "property": property, "path": path, "bytes": bytes])
      }
      : console.line("✓ \(NumberText.grouped(bytes)) bytes of \(id) \(property) in \(path)")
    return console.finish(store)
  }

  /// The object that a word names, with the store's path in what is wrong with it.
  static func object(_ text: String, in store: Store) throws(CoreDataError) -> ObjectID {
    do {
      return try store.objectID(text)
    } catch {
      throw error.at(path: store.path)
    }
  }

  private static func print(
    _ object: StoredObject, _ references: [ReferringRelationship], _ cloud: CloudObject?,
    of store: Store, _ console: Console
  ) {
    console.line("\(object.id)  \(object.id.uri(store: store.metadata.uuid))")
    let rows = self.rows(PropertyTree(object.columns.map(\.path)).nodes, of: object, store)
    let widths = (
      rows.map { TextWidth.of($0.name) }.max() ?? 0, rows.map { TextWidth.of($0.kind) }.max() ?? 0
    )
    for row in rows {
      let head = padded(row.name, widths.0) + "  " + padded(row.kind, widths.1) + "  "
      let indent = String(repeating: " ", count: TextWidth.of(head) + 2)
      console.lines(
        ["  " + head + (row.lines.first ?? "")] + row.lines.dropFirst().map { indent + $0 })
    }
    if let cloud { console.line("CloudKit  " + Sanitize.text(cloud.line)) }
    console.line("referenced by" + (references.isEmpty ? " nothing" : ""))
    let names = references.map { "\($0.entity).\($0.relationship.name)" }
    let width = names.map { TextWidth.of($0) }.max() ?? 0
    for (name, reference) in zip(names, references) {
      console.line(
        "  " + padded(name, width) + "  "
          + listed(reference.first, of: reference.count)
          + (reference.relationship.inverse == nil ? "  (no inverse)" : ""))
    }
  }

  private typealias Row = (name: String, kind: String, lines: [String])

  /// A row a property; the elements of a composite attribute stand below it.
  private static func rows(
    _ nodes: [PropertyTree.Node], of object: StoredObject, _ store: Store, indent: String = ""
  ) -> [Row] {
    nodes.flatMap { node -> [Row] in
      switch node {
      case .column(let name, let index):
        let (column, value) = (object.columns[index], object.values[index])
        let lines = CellText.broken(value, in: column).map { [$0] } ?? self.lines(value)
        return [(indent + name, kind(column, of: object, store), lines)]
      case .composite(let name, let nodes):
        let type = AttributeType.composite.name
        guard !node.isNull(in: object.values) else { return [(indent + name, type, ["∅"])] }
        return [(indent + name, type, [])] + rows(nodes, of: object, store, indent: indent + "  ")
      }
    }
  }

  private static func kind(_ column: RowColumn, of object: StoredObject, _ store: Store) -> String {
    switch column.kind {
    case .attribute(let type): return type.name
    case .toOne(let destination): return "→ \(destination)"
    case .toMany(let destination):
      let relationship = store.model.relationship(named: column.name, of: object.id.entity)
      return "→→ \(destination)" + (relationship?.isOrdered == true ? ", ordered" : "")
    }
  }

  private static func lines(_ value: PropertyValue) -> [String] {
    switch value {
    case .value(.date(let seconds)):
      return [CoreDataDate.text(seconds) + (LocalTime.text(seconds).map { "  (\($0))" } ?? "")]
    case .value(.null), .toOne(nil): return ["∅"]
    case .value(.string(let text)):
      return ByteText.lines(text)
    case .toOne(let id?): return ["\(id)"]
    case .toMany(let many): return [listed(many.first, of: many.count)]
    case .value(let plain): return [plain.line]
    case .data(let data):
      if let problem = data.location.problem { return ["! " + problem] }
      let decoded = DecodedData(data.bytes, isWhole: data.bytes.count == data.count)
      let content = decoded.content()
      var head = "\(decoded.heading), \(data.count) bytes"
      if decoded.layers > 0 { head += ", unpacked \(decoded.bytes.count)" }
      if let problem = decoded.problem { head += ", ! " + problem }
      if case .file(let name) = data.location { head += ", in the file \(name)" }
      var hex: [String] = []
      if content.kind == .bytes, !data.bytes.isEmpty {
        let isCut = max(data.count, decoded.bytes.count) > 32
        hex = [ByteText.hex(decoded.bytes.prefix(32)) + (isCut ? "…" : "")]
      }
      return [head] + hex + decoded.lines(of: content)
    }
  }

  private static func listed(_ ids: [ObjectID], of count: Int) -> String {
    let names = ids.map(\.description).joined(separator: ", ")
    if count == 0 { return "none" }
    if count == ids.count { return count == 1 ? names : "\(count): \(names)" }
    return ids.isEmpty ? "\(count)" : "\(count): \(names), …"
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    let safe = Sanitize.text(text)
    return safe + String(repeating: " ", count: max(0, width - TextWidth.of(safe)))
  }

  private static func write(
    _ object: StoredObject, _ references: [ReferringRelationship], _ cloud: CloudObject?,
    of store: Store, to json: inout JSONWriter
  ) {
    let members = { (json: inout JSONWriter) in
      json.objects("referencedBy", references) { reference in
        [
          "count": reference.count, "entity": reference.entity,
          "inverse": reference.relationship.inverse, "objects": reference.first.map(\.description),
          "relationship": reference.relationship.name,
        ]
      }
    }
    json.members(of: object.id, object.columns, object.values, besides: members) { json, value in
      if case .data(let data) = value, data.isReadable {
        write(data, to: &json)
      } else {
        json.value(value, blobs: false)
      }
    }
    if let cloud {
      json.object(
        "cloud", ["record": cloud.record, "state": cloud.state.rawValue, "zone": cloud.zone])
    }
    json.field("uri", object.id.uri(store: store.metadata.uuid))
  }

  private static func write(_ data: DataValue, to json: inout JSONWriter) {
    let isWhole = data.bytes.count == data.count
    let decoded = DecodedData(data.bytes, isWhole: isWhole)
    let content = decoded.content()
    let lines = decoded.lines(of: content)
    json.object { json in
      json.field("bytes", data.count)
      if !lines.isEmpty { json.field("content", lines) }
      json.field("kind", DataKind(data.bytes, isWhole: isWhole).description)
      if decoded.layers > 0 {
        json.field("unpacked", decoded.bytes.count)
        json.field("unpackedKind", content.kind.description)
      }
      if let problem = decoded.problem { json.field("problem", problem) }
      if isWhole { json.field("sha256", ByteText.hex(Digest.sha256(data.bytes))) }
    }
  }
}
