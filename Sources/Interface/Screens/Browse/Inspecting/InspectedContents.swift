import ManagedModel
import ManagedStore
import Terminal

/// A part of what is inside a value: of an archive, of a property list, of JSON, of text or bytes.
struct Contents {
  var depth = 1
  var label = ""
  var value: ValueText
  var hasChildren = false

  /// What bytes hold: an archive's tree, text, or the first bytes in hexadecimal.
  static func unfolded(_ data: DataValue) -> [Contents] {
    guard !data.bytes.isEmpty else { return [] }
    let kind = DataKind(data.bytes, isWhole: data.bytes.count == data.count)
    if kind == .propertyList || kind == .keyedArchive {
      if let archive = try? KeyedArchive(data.bytes) {
        return all(of: archive.tree(maximumNodes: 500), depth: 1)
      }
      if let list = try? PropertyList.read(data.bytes) {
        return all(of: list, called: "", depth: 1)
      }
    }
    if kind == .json, let tree = ArchiveTree(json: data.bytes) {
      return all(of: tree, depth: 1)
    }
    if kind == .text || kind == .json {
      return String(decoding: data.bytes.prefix(1 << 16), as: UTF8.self)
        .split(maxSplits: 200, omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        .prefix(200)
        .map { Contents(value: ValueText(String($0.prefix(2_000)), .string)) }
    }
    return hex(data.bytes.prefix(256))
  }

  static func all(of tree: ArchiveTree, depth: Int) -> [Contents] {
    [
      Contents(
        depth: depth, label: tree.label, value: ValueText(tree.text, .transformable),
        hasChildren: !tree.children.isEmpty)
    ] + tree.children.flatMap { all(of: $0, depth: depth + 1) }
  }

  private static func all(
    of list: PropertyListValue, called label: String, depth: Int
  ) -> [Contents] {
    func child(_ text: String, _ role: Theme.Role, _ children: [Contents] = []) -> [Contents] {
      [
        Contents(
          depth: depth, label: label, value: ValueText(text, role), hasChildren: !children.isEmpty)
      ] + children
    }
    guard depth < 20 else { return child("…", .dim) }
    switch list {
    case .null: return child("null", .null)
    case .boolean(let truth): return child(truth ? "true" : "false", .boolean)
    case .integer(let number): return child(String(number), .number)
    case .real(let number): return child("\(number)", .number)
    case .date(let seconds): return child(DateText.utc(seconds), .date)
    case .data(let bytes):
      return child("\(DataKind(bytes).description) \(NumberText.bytes(bytes.count))", .data)
    case .string(let text): return child(String(text.prefix(2_000)), .string)
    case .uid(let number): return child("uid \(number)", .dim)
    case .array(let items):
      return child(
        "array of \(items.count)", .transformable,
        items.prefix(100).enumerated().flatMap {
          all(of: $0.element, called: String($0.offset), depth: depth + 1)
        })
    case .dictionary(let fields):
      return child(
        "dictionary of \(fields.count)", .transformable,
        fields.sorted { $0.key < $1.key }.prefix(100).flatMap {
          all(of: $0.value, called: $0.key, depth: depth + 1)
        })
    }
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
