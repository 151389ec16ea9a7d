import JSON

/// An archive unfolded for reading: a node for each value, with its key and what it is.
///
/// Depth and size are bounded, and a circle ends in a node that says so, so that any archive can be
/// shown.
package struct ArchiveTree: Sendable, Equatable {
  /// What a node stands for, which decides its colour.
  package enum Kind: Sendable {
    case null, boolean, number, date, text, data
    /// An object or a collection.
    case object
    /// A place where the tree goes on and is not followed.
    case rest
  }

  /// The key, the index, or nothing for the root.
  package var label: String
  /// A plain value as text, or the class of an object or collection with its count.
  package var text: String
  /// What an object or a collection holds; a plain value holds nothing, but for bytes that were opened.
  package var children: [ArchiveTree]
  package var kind: Kind

  /// A node with what it holds.
  package init(
    label: String, text: String, kind: Kind = .object, children: [ArchiveTree] = []
  ) {
    self.label = label
    self.text = text
    self.kind = kind
    self.children = children
  }

  static let rest = ArchiveTree(label: "", text: "…", kind: .rest)

  /// Bytes in a tree, which may be an archive of their own.
  init(label: String, data bytes: [UInt8], _ open: (([UInt8]) -> ArchiveTree?)?) {
    self.init(
      label: label,
      text: "\(bytes.count) bytes" + (bytes.isEmpty ? "" : " \(ByteText.hex(bytes.prefix(16)))"),
      kind: .data)
    guard let inner = open?(bytes) else { return }
    text = "\(bytes.count) bytes: \(inner.text)"
    children = inner.children
  }

  /// The tree as lines, two spaces a level, without control characters.
  package func lines(depth: Int = 0) -> [String] {
    let indent = String(repeating: "  ", count: depth)
    let head = label.isEmpty ? text.printable : "\(label.printable): \(text.printable)"
    return [indent + head] + children.flatMap { $0.lines(depth: depth + 1) }
  }
}

extension KeyedArchive {
  /// What was archived, unfolded.
  ///
  /// - Parameters:
  ///   - maximumDepth: levels below the root; deeper ones are shown as `…`.
  ///   - maximumNodes: nodes in all; what does not fit is shown as `…`.
  ///   - open: a tree of what bytes in the archive hold.
  package func tree(
    maximumDepth: Int = 12, maximumNodes: Int = 2_000,
    opening open: (([UInt8]) -> ArchiveTree?)? = nil
  ) -> ArchiveTree {
    var unfolding = Unfolding(
      maximumDepth: min(maximumDepth, 64), open: open, nodes: max(maximumNodes, 1))
    return unfolding.node("", root, depth: 0)
  }
}

private struct Unfolding {
  let maximumDepth: Int
  let open: (([UInt8]) -> ArchiveTree?)?
  var nodes: Int
  var path: [Int] = []

  mutating func node(_ label: String, _ reference: ArchivedReference, depth: Int) -> ArchiveTree {
    nodes -= 1
    let value = reference.value
    if let uid = reference.uid, path.contains(uid) {
      let name = value.object?.className ?? "collection"
      return ArchiveTree(label: label, text: "↻ \(name)", kind: .rest)
    }
    var tree = ArchiveTree(label: label, text: "")
    var children: [(String, ArchivedReference)] = []
    switch value {
    case .null: (tree.text, tree.kind) = ("nil", .null)
    case .boolean(let value): (tree.text, tree.kind) = (value ? "true" : "false", .boolean)
    case .integer(let value): (tree.text, tree.kind) = (String(value), .number)
    case .real(let value): (tree.text, tree.kind) = (String(value), .number)
    case .decimal(let digits): (tree.text, tree.kind) = (digits, .number)
    case .date(let seconds): (tree.text, tree.kind) = (CoreDataDate.text(seconds), .date)
    case .data(let bytes): return ArchiveTree(label: label, data: bytes, open)
    case .string(let text):
      (tree.text, tree.kind) = (JSONText.quoted(String(text.prefix(500))), .text)
    case .uuid(let bytes): (tree.text, tree.kind) = (UUIDText.text(bytes), .text)
    case .url(let text): (tree.text, tree.kind) = (String(text.prefix(500)), .text)
    case .array(let items):
      tree.text = "array of \(items.count)"
      children = items.prefix(nodes + 1).enumerated().map { (String($0.offset), $0.element) }
    case .set(let items):
      tree.text = "set of \(items.count)"
      children = items.prefix(nodes + 1).map { ("", $0) }
    case .dictionary(let pairs):
      tree.text = "dictionary of \(pairs.count)"
      children = pairs.prefix(nodes + 1).map { (key($0.key), $0.value) }
    case .object(let object):
      tree.text = object.className
      children = object.keys.prefix(nodes + 1).map { ($0, object.reference($0)) }
    }
    guard !children.isEmpty else { return tree }
    if let uid = reference.uid { path.append(uid) }
    defer { if reference.uid != nil { path.removeLast() } }
    for (label, child) in children {
      guard nodes > 0, depth < maximumDepth else {
        tree.children.append(.rest)
        break
      }
      tree.children.append(node(label, child, depth: depth + 1))
    }
    return tree
  }

  private func key(_ reference: ArchivedReference) -> String {
    switch reference.value {
    case .string(let text): text
    case .integer(let value): String(value)
    case .object(let object): object.className
    default: "key"
    }
  }
}

extension PropertyListValue {
  /// The value unfolded, bounded like ``KeyedArchive/tree(maximumDepth:maximumNodes:opening:)``.
  package func tree(
    maximumDepth: Int = 12, maximumNodes: Int = 2_000,
    opening open: (([UInt8]) -> ArchiveTree?)? = nil
  ) -> ArchiveTree {
    var nodes = max(1, maximumNodes)
    return tree("", depth: 0, min(maximumDepth, 64), &nodes, open)
  }

  private func tree(
    _ label: String, depth: Int, _ maximumDepth: Int, _ nodes: inout Int,
    _ open: (([UInt8]) -> ArchiveTree?)?
  ) -> ArchiveTree {
    nodes -= 1
    var result = ArchiveTree(label: label, text: "")
    var children: [(String, PropertyListValue)] = []
    switch self {
    case .null: (result.text, result.kind) = ("nil", .null)
    case .boolean(let value): (result.text, result.kind) = (value ? "true" : "false", .boolean)
    case .integer(let value): (result.text, result.kind) = (String(value), .number)
    case .real(let value): (result.text, result.kind) = (String(value), .number)
    case .date(let seconds): (result.text, result.kind) = (CoreDataDate.text(seconds), .date)
    case .data(let bytes): return ArchiveTree(label: label, data: bytes, open)
    case .string(let text): (result.text, result.kind) = ("\"\(text.prefix(500))\"", .text)
    case .uid(let number): (result.text, result.kind) = ("reference \(number)", .rest)
    case .array(let items):
      result.text = "array of \(items.count)"
      children = items.prefix(nodes + 1).enumerated().map { (String($0.offset), $0.element) }
    case .dictionary(let fields):
      result.text = "dictionary of \(fields.count)"
      children = fields.sortedByBytes(\.key)
        .prefix(nodes + 1).map { ($0.key, $0.value) }
    }
    for (label, child) in children {
      guard nodes > 0, depth < maximumDepth else {
        result.children.append(.rest)
        break
      }
      result.children.append(child.tree(label, depth: depth + 1, maximumDepth, &nodes, open))
    }
    return result
  }
}

extension ArchiveTree {
  /// JSON text as a tree, its keys in the order of the text; `nil` for anything else.
  ///
  /// - Parameter maximumNodes: what does not fit is shown as `…`.
  init?(json bytes: [UInt8], maximumNodes: Int = 500) {
    guard bytes.count <= 1 << 20, let value = try? JSON5.read(bytes) else { return nil }
    var nodes = max(1, maximumNodes)
    self = value.outline("", &nodes)
  }
}

extension JSON5 {
  fileprivate func outline(_ label: String, _ nodes: inout Int) -> ArchiveTree {
    nodes -= 1
    var tree = ArchiveTree(label: label, text: "")
    var children: [(String, JSON5)] = []
    switch kind {
    case .null: (tree.text, tree.kind) = ("null", .null)
    case .boolean(let value): (tree.text, tree.kind) = (value ? "true" : "false", .boolean)
    case .integer(let number): (tree.text, tree.kind) = (String(number), .number)
    case .number(let number): (tree.text, tree.kind) = (number.description, .number)
    case .string(let text, _): (tree.text, tree.kind) = ("\"\(text.prefix(500))\"", .text)
    case .array(let elements):
      tree.text = "list of \(elements.count)"
      children = elements.prefix(nodes + 1).enumerated().map { (String($0.offset), $0.element) }
    case .object(let members):
      tree.text = "object of \(members.count)"
      children = members.prefix(nodes + 1).map { ($0.key, $0.value) }
    }
    for (label, child) in children {
      guard nodes > 0 else {
        tree.children.append(.rest)
        break
      }
      tree.children.append(child.outline(label, &nodes))
    }
    return tree
  }
}
