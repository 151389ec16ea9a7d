import JSON

/// An archive unfolded for reading: a node for each value, with its key and what it is.
///
/// Depth and size are bounded, and a circle ends in a node that says so, so that any archive can be
/// shown.
package struct ArchiveTree: Sendable, Equatable {
  /// The key, the index, or nothing for the root.
  package var label: String
  /// A plain value as text, or the class of an object or collection with its count.
  package var text: String
  /// What an object or a collection holds; a plain value holds nothing.
  package var children: [ArchiveTree]

  /// A node with what it holds.
  package init(label: String, text: String, children: [ArchiveTree] = []) {
    self.label = label
    self.text = text
    self.children = children
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
  package func tree(maximumDepth: Int = 12, maximumNodes: Int = 2_000) -> ArchiveTree {
    var unfolding = Unfolding(maximumDepth: min(maximumDepth, 64), nodes: max(maximumNodes, 1))
    return unfolding.node("", root, depth: 0)
  }
}

private struct Unfolding {
  let maximumDepth: Int
  var nodes: Int
  var path: [Int] = []

  mutating func node(_ label: String, _ reference: ArchivedReference, depth: Int) -> ArchiveTree {
    nodes -= 1
    let value = reference.value
    if let uid = reference.uid, path.contains(uid) {
      let name = value.object?.className ?? "collection"
      return ArchiveTree(label: label, text: "↻ \(name)")
    }
    var tree = ArchiveTree(label: label, text: "")
    var children: [(String, ArchivedReference)] = []
    switch value {
    case .null: tree.text = "nil"
    case .boolean(let value): tree.text = value ? "true" : "false"
    case .integer(let value): tree.text = String(value)
    case .real(let value): tree.text = String(value)
    case .decimal(let digits): tree.text = digits
    case .date(let seconds): tree.text = "date \(seconds)"
    case .data(let bytes):
      tree.text =
        "\(bytes.count) bytes" + (bytes.isEmpty ? "" : " \(ByteText.hex(bytes.prefix(16)))")
    case .string(let text): tree.text = JSONText.quoted(String(text.prefix(500)))
    case .uuid(let bytes): tree.text = UUIDText.text(bytes)
    case .url(let text): tree.text = String(text.prefix(500))
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
        tree.children.append(ArchiveTree(label: "", text: "…"))
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
