import ManagedModel
import ManagedStore
import Migration
import Terminal

/// One object told in lines, ready to be shown: what the bytes were is not kept.
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
    /// The attribute that the line is about or stands below; `nil` for a relationship's.
    var attribute: String?
    /// Whether the value is a picture that can be shown: unfolded, it stands in the place of bytes.
    var isPicture = false
    /// Which row of the picture in sight the line is.
    var pictureRow: Int?
  }

  var id: ObjectID
  private(set) var lines: [Line] = []
  /// The entities of to-many relationships that lead to something, by name.
  private(set) var manyDestinations: [String: String] = [:]
  /// The to-many relationships, by name.
  private var many: [String: ToMany] = [:]

  /// Tells an object; archives are unfolded here, so a large one takes a while.
  ///
  /// - Parameter localTime: a date as the clock on the wall shows it, where that is known.
  package init(_ object: StoredObject, localTime: (Double) -> String? = { _ in nil }) {
    id = object.id
    add(PropertyTree(object.columns.map(\.path)).nodes, of: object, depth: 0, localTime)
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
        lines.append(
          Line(
            id: "composite/" + Self.path(node, in: object, depth: depth), depth: depth,
            label: name, type: AttributeType.composite.name,
            value: isNull
              ? ValueText(AttributeValue.null) : ValueText(summary(nodes, of: object), .text),
            isExpandable: !isNull))
        if !isNull { add(nodes, of: object, depth: depth + 1, localTime) }
      }
    }
  }

  /// The objects that lines lead to.
  var targets: [ObjectID] { lines.compactMap(\.target) }

  /// Tells the objects that lines lead to by name: `→ Carrot (Ingredient/p4)`, and the first of a
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
  ) -> String {
    let path = node.indices.first.map { object.columns[$0].path } ?? []
    return path.prefix(depth + 1).joined(separator: ".")
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
      value: ValueText(value, of: column))
    if case .attribute = column.kind { line.attribute = column.name }
    switch value {
    case .value(.string(let text)):
      if text.first == "{" || text.first == "[", let tree = ArchiveTree(json: Array(text.utf8)),
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
