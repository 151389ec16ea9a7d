import Comparison
import ManagedModel
import ManagedStore
import Migration
import Reports
import Terminal

/// One object in lines, ready to be shown: what the bytes were is not kept.
package struct Inspection: Sendable, Equatable {
  struct Line: TreeLine, Sendable, Equatable {
    /// The path of labels to the line, which names it when it is folded.
    var id: String
    var depth = 0
    var label = ""
    var type = ""
    var value: ValueText
    /// The object that Enter goes to.
    var target: ObjectID?
    var isExpandable = false
    /// The path of the composite attribute that the whole line is about.
    var compositePath: [String]?
    /// The property that the whole line is about.
    var column: RowColumn?
    /// The attribute that the line is about or stands below; `nil` for a relationship's.
    var attribute: String?
    /// Whether the value is a picture that can be shown: unfolded, it stands in the place of bytes.
    var isPicture = false
    /// Which row of the picture in sight the line is.
    var pictureRow: Int?
  }

  var id: ObjectID
  private(set) var lines: [Line] = []
  /// The entities of to-many relationships that reference something, by name.
  private(set) var manyDestinations: [String: String] = [:]
  /// The to-many relationships, by name.
  private var many: [String: ToMany] = [:]

  /// Describes an object; archives are unfolded here, so a large one takes a while.
  ///
  /// - Parameters:
  ///   - cloud: what the mirroring to CloudKit knows of it.
  ///   - localTime: a date as the clock on the wall shows it, where that is known.
  package init(
    _ object: StoredObject, cloud: CloudObject? = nil,
    localTime: (Double) -> String? = { _ in nil }
  ) {
    id = object.id
    add(PropertyTree(object.columns.map(\.path)).nodes, of: object, depth: 0, localTime)
    // A line each: a record's name is long.
    for (index, part) in (cloud?.parts ?? []).enumerated() {
      lines.append(
        Line(
          id: "@cloud/\(index)", label: index == 0 ? "@cloud" : "",
          type: index == 0 ? "CloudKit" : "", value: ValueText(part, .dim)))
    }
  }

  /// Describes an object that was deleted, as far as its change says what it was.
  init(deleted id: ObjectID, _ change: ObjectChange, _ columns: [RowColumn]) {
    self.id = id
    for column in columns {
      var value: PropertyValue?
      if let old = change.attributes.first(where: { $0.path == column.path })?.old {
        value = old.value
      } else if !column.isToMany,
        let related = change.relationships.first(where: { $0.name == column.name })
      {
        value = .toOne(related.removed.first)
      }
      if let value { add(column, value) }
    }
  }

  private mutating func add(
    _ nodes: [PropertyTree.Node], of object: StoredObject, depth: Int,
    _ localTime: (Double) -> String?
  ) {
    for node in nodes {
      let first = lines.count
      switch node {
      case .column(let name, let index):
        guard object.values.indices.contains(index) else { continue }
        let value = object.values[index]
        add(object.columns[index], value)
        if case .value(.date(let seconds)) = value, let local = localTime(seconds),
          let last = lines.indices.last
        {
          lines[last].value.text += "  (\(local))"
        }
        guard depth > 0 else { continue }
        lines[first].label = name
        for line in first..<lines.count { lines[line].depth += depth }
      case .composite(let name, let nodes):
        let isNull = node.isNull(in: object.values)
        let path = Self.path(node, in: object, depth: depth)
        lines.append(
          Line(
            id: "composite/" + path.joined(separator: "."), depth: depth, label: name,
            type: AttributeType.composite.name,
            value: isNull
              ? ValueText(AttributeValue.null) : ValueText(summary(nodes, of: object), .text),
            isExpandable: !isNull, compositePath: path))
        if !isNull { add(nodes, of: object, depth: depth + 1, localTime) }
      }
    }
  }

  /// The objects that lines reference.
  var targets: [ObjectID] { lines.compactMap(\.target) }

  /// Shows the objects that lines reference by name: `→ Carrot (Ingredient/p4)`, and the first of a
  /// to-many in its own line.
  mutating func name(_ found: ObjectNames) {
    var names = RelationNames()
    names.take(found)
    for index in lines.indices {
      if let target = lines[index].target, found.names[target] != nil {
        lines[index].value.text = "→ " + names.text(target)
      }
      guard let many = many[lines[index].id], !many.first.isEmpty else { continue }
      lines[index].value.text = Self.text(many) { id in
        found.names[id].map { "\(id) “\($0)”" } ?? id.description
      }
    }
  }

  private static func text(_ many: ToMany, _ name: (ObjectID) -> String) -> String {
    NumberText.grouped(many.count) + "  "
      + many.first.prefix(4).map(name).joined(separator: " · ") + (many.count > 4 ? " …" : "")
  }

  /// The path of names that leads to a composite.
  private static func path(
    _ node: PropertyTree.Node, in object: StoredObject, depth: Int
  ) -> [String] {
    Array((node.indices.first.map { object.columns[$0].path } ?? []).prefix(depth + 1))
  }

  /// The first values of a composite, `person Ann · id 7`.
  private func summary(_ nodes: [PropertyTree.Node], of object: StoredObject) -> String {
    let parts = nodes.compactMap { node -> String? in
      guard case .column(let name, let index) = node, object.values.indices.contains(index),
        !node.isNull(in: object.values)
      else { return nil }
      let text = ValueText(object.values[index], of: object.columns[index]).text
      return "\(name) \(text.prefix(40))"
    }
    return parts.prefix(4).joined(separator: " · ") + (parts.count > 4 ? " …" : "")
  }

  private mutating func add(_ column: RowColumn, _ value: PropertyValue) {
    var line = Line(
      id: column.name, label: column.name, type: column.typeName,
      value: ValueText(value, of: column), column: column)
    if case .attribute = column.kind { line.attribute = column.name }
    switch value {
    case .value(.string(let text)):
      if text.first == "{" || text.first == "[",
        let tree = DecodedData(Array(text.utf8)).content(maximumLines: 500).tree,
        !tree.children.isEmpty
      {
        line.isExpandable = true
        lines.append(line)
        let children = tree.children.flatMap { Contents.all(of: $0, depth: 1) }
        add(children, under: column.name)
        return
      }
      if text.contains(where: \.isNewline) {
        addText(text, under: &line)
        return
      }
    case .value: break
    case .data(let data):
      if column.kind == .attribute(.string) {
        line.value = ValueText(
          "! not UTF-8: " + String(decoding: data.bytes.prefix(2_000), as: UTF8.self), .warning)
      }
      if case .image(let format, _) = DataKind(data.bytes, isWhole: false),
        format == .png || format == .jpeg
      {
        line.isPicture = true
      }
      var children = Contents.unfolded(data)
      // The root of an archive stands on the property's own line, its contents below.
      if let root = children.first, root.hasChildren {
        line.value.text += "  " + root.value.text
        children.removeFirst()
        for index in children.indices { children[index].depth -= 1 }
      }
      line.isExpandable = !children.isEmpty
      lines.append(line)
      add(children, under: column.name)
      return
    case .toOne(let id):
      line.target = id
      if let id { line.value = ValueText("→ \(id)", .relationship) }
    case .toMany(let many):
      if many.count > 0, case .toMany(let destination) = column.kind {
        manyDestinations[column.name] = destination
      }
      line.isExpandable = !many.first.isEmpty
      line.value =
        many.count == 0
        ? ValueText("none", .null) : ValueText(Self.text(many, \.description), .relationship)
      self.many[column.name] = many
      lines.append(line)
      for id in many.first {
        lines.append(
          Line(
            id: "\(column.name)/\(id)", depth: 1, value: ValueText("→ \(id)", .relationship),
            target: id))
      }
      if many.count > many.first.count, !many.first.isEmpty {
        lines.append(
          Line(
            id: "\(column.name)/…", depth: 1,
            value: ValueText(
              "and \(NumberText.grouped(many.count - many.first.count)) more", .dim)))
      }
      return
    }
    lines.append(line)
  }

  private mutating func addText(_ text: String, under line: inout Line) {
    let parts = text.split(
      maxSplits: 200, omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    line.isExpandable = true
    line.value = ValueText((parts.first.map(String.init) ?? "") + " ⏎…", .string)
    lines.append(line)
    for (index, part) in parts.prefix(200).enumerated() {
      lines.append(
        Line(
          id: "\(line.id)/\(index)", depth: 1,
          value: ValueText(String(part.prefix(2_000)), .string), attribute: line.attribute))
    }
  }

  private mutating func add(_ children: [Contents], under id: String) {
    for (index, child) in children.enumerated() {
      lines.append(
        Line(
          id: "\(id)/\(index)", depth: child.depth, label: child.label, value: child.value,
          isExpandable: child.hasChildren, attribute: id))
    }
  }
}

/// A part of what is inside a value: of an archive, of a property list, of JSON, of text or bytes.
struct Contents {
  var depth = 1
  var label = ""
  var value: ValueText
  var hasChildren = false

  /// What bytes hold: an archive's tree, text, or the first bytes in hexadecimal; for packed ones below a line
  /// for the packing.
  static func unfolded(_ data: DataValue) -> [Contents] {
    guard !data.bytes.isEmpty else { return [] }
    let decoded = DecodedData(data.bytes, isWhole: data.bytes.count == data.count)
    let content = decoded.content(maximumLines: 500)
    guard decoded.layers > 0 || decoded.problem != nil else { return below(decoded, content) }
    let size = NumberText.bytes(decoded.bytes.count)
    let text = decoded.layers > 0 ? "→ \(content.kind) \(size)" : ""
    let problem = decoded.problem.map { (text.isEmpty ? "! " : "\(text), ! ") + $0 }
    // What is still packed has a problem, which is said instead.
    var below = content.kind == .gzip ? [] : below(decoded, content)
    for index in below.indices { below[index].depth += 1 }
    return [
      Contents(
        value: problem.map { ValueText($0, .warning) } ?? ValueText(text, .data),
        hasChildren: !below.isEmpty)
    ] + below
  }

  private static func below(_ decoded: DecodedData, _ content: UnfoldedData) -> [Contents] {
    if let tree = content.tree { return all(of: tree, depth: 1) }
    let lines = decoded.lines(of: content).map { Contents(value: ValueText($0, .string)) }
    let isShown = content.kind == .text || content.kind == .json
    return isShown ? lines : lines + hex(decoded.bytes.prefix(256))
  }

  static func all(of tree: ArchiveTree, depth: Int) -> [Contents] {
    [
      Contents(
        depth: depth, label: tree.label, value: ValueText(tree.text, tree.kind.role),
        hasChildren: !tree.children.isEmpty)
    ] + tree.children.flatMap { all(of: $0, depth: depth + 1) }
  }

  private static func hex(_ bytes: some Collection<UInt8>) -> [Contents] {
    let bytes = Array(bytes)
    return stride(from: 0, to: bytes.count, by: 16).map { start in
      let row = bytes[start..<min(bytes.count, start + 16)]
      let digits = row.map { ByteText.hex([$0]) }.joined(separator: " ")
      let text = String(
        decoding: row.map { (32..<127).contains($0) ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
      return Contents(value: ValueText(digits.padded(to: 48) + text, .data))
    }
  }
}

extension ArchiveTree.Kind {
  fileprivate var role: Theme.Role {
    switch self {
    case .null: .null
    case .boolean: .boolean
    case .number: .number
    case .date: .date
    case .text: .string
    case .data: .data
    case .object: .transformable
    case .rest: .dim
    }
  }
}
