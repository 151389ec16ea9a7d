import JSON
import ManagedModel

extension ArchiveTree {
  /// JSON text as a tree, its keys in the order of the text; `nil` for anything else.
  ///
  /// - Parameter maximumNodes: what does not fit is shown as `…`.
  package init?(json bytes: [UInt8], maximumNodes: Int = 500) {
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
    case .null: tree.text = "null"
    case .boolean(let value): tree.text = value ? "true" : "false"
    case .integer(let number): tree.text = String(number)
    case .number(let number): tree.text = number.description
    case .string(let text, _): tree.text = "\"\(text.prefix(500))\""
    case .array(let elements):
      tree.text = "list of \(elements.count)"
      children = elements.prefix(nodes + 1).enumerated().map { (String($0.offset), $0.element) }
    case .object(let members):
      tree.text = "object of \(members.count)"
      children = members.prefix(nodes + 1).map { ($0.key, $0.value) }
    }
    for (label, child) in children {
      guard nodes > 0 else {
        tree.children.append(ArchiveTree(label: "", text: "…"))
        break
      }
      tree.children.append(child.outline(label, &nodes))
    }
    return tree
  }
}
