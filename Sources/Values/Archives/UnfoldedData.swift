/// Bytes as a person can read them: what they are, and their content unfolded where that can be
/// done without any class of the app.
///
/// Any bytes at all end quickly: archives and property lists are bounded in depth and nodes, and
/// circles are named instead of followed.
public struct UnfoldedData: Sendable, Equatable {
  /// What the bytes are, determined by their content.
  public let kind: DataKind
  /// The content in lines, two spaces a level; empty where there is nothing to unfold.
  public let lines: [String]

  /// - Parameters:
  ///   - bytes: the content, or its beginning.
  ///   - isWhole: whether nothing was cut off; what is cut is named but not unfolded.
  public init(_ bytes: [UInt8], isWhole: Bool = true, maximumLines: Int = 200) {
    kind = DataKind(bytes, isWhole: isWhole)
    var lines: [String] = []
    switch kind {
    case .keyedArchive where isWhole:
      lines =
        (try? KeyedArchive(bytes).tree(maximumNodes: maximumLines + 1).lines()) ?? []
    case .propertyList where isWhole:
      lines =
        (try? PropertyList.read(bytes).tree(maximumNodes: maximumLines + 1).lines()) ?? []
    case .json, .text:
      lines = String(decoding: bytes.prefix(16_384), as: UTF8.self)
        .split(separator: "\n", omittingEmptySubsequences: false).map { String($0.prefix(2_000)) }
    default: break
    }
    if lines.count > maximumLines { lines = lines.prefix(maximumLines) + ["…"] }
    self.lines = lines
  }
}

extension PropertyListValue {
  /// The value unfolded, bounded like ``KeyedArchive/tree(maximumDepth:maximumNodes:)``.
  package func tree(maximumDepth: Int = 12, maximumNodes: Int = 2_000) -> ArchiveTree {
    var nodes = max(1, maximumNodes)
    return tree("", depth: 0, min(maximumDepth, 64), &nodes)
  }

  private func tree(
    _ label: String, depth: Int, _ maximumDepth: Int, _ nodes: inout Int
  ) -> ArchiveTree {
    nodes -= 1
    var result = ArchiveTree(label: label, text: "")
    var children: [(String, PropertyListValue)] = []
    switch self {
    case .null: result.text = "nil"
    case .boolean(let value): result.text = value ? "true" : "false"
    case .integer(let value): result.text = String(value)
    case .real(let value): result.text = String(value)
    case .date(let seconds): result.text = CoreDataDate.text(seconds)
    case .data(let bytes):
      result.text =
        "\(bytes.count) bytes" + (bytes.isEmpty ? "" : " \(ByteText.hex(bytes.prefix(16)))")
    case .string(let text): result.text = "\"\(text.prefix(500))\""
    case .uid(let number): result.text = "reference \(number)"
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
        result.children.append(ArchiveTree(label: "", text: "…"))
        break
      }
      result.children.append(child.tree(label, depth: depth + 1, maximumDepth, &nodes))
    }
    return result
  }
}
