import ManagedModel

/// Replaces the values in a binary property list where they stand: what it is made of stays.
///
/// Of a keyed archive, names of classes and keys stay, which its reader needs; of another list, keys are replaced like
/// values.
struct ArchivePseudonyms {
  private var bytes: [UInt8]
  private let list: PropertyListNodes
  private let data: DataPseudonyms
  private let keepsNumbers: Bool
  private let depth: Int
  /// Objects that stay.
  private var structure: Set<Int> = []
  /// The key that an object is the value of.
  private var names: [Int: String] = [:]

  /// Entries of an archive that its reader needs.
  private static let fixed: Set<String> = [
    "$archiver", "$version", "$classname", "$classes", "$top",
  ]

  init(
    _ bytes: [UInt8], _ list: PropertyListNodes, _ data: DataPseudonyms, keepsNumbers: Bool,
    depth: Int
  ) {
    (self.bytes, self.list, self.data) = (bytes, list, data)
    (self.keepsNumbers, self.depth) = (keepsNumbers, depth)
    let isArchive: Bool
    if case .dictionary(let entries) = list.nodes[list.top] {
      let keys = Set(entries.map(\.name))
      isArchive = keys.isSuperset(of: ["$objects", "$top"])
    } else {
      isArchive = false
    }
    for node in list.nodes.values {
      guard case .dictionary(let entries) = node else { continue }
      for entry in entries {
        names[entry.value] = entry.name
        guard isArchive else { continue }
        structure.insert(entry.key)
        guard Self.fixed.contains(entry.name) else { continue }
        structure.insert(entry.value)
        if case .array(let items) = list.nodes[entry.value] { structure.formUnion(items) }
      }
    }
  }

  /// The list with other values.
  mutating func replaced() -> [UInt8] {
    for (index, node) in list.nodes.sorted(by: { $0.key < $1.key })
    where !structure.contains(index) {
      replace(node, under: names[index])
    }
    return bytes
  }

  private mutating func replace(_ node: PropertyListNode, under name: String?) {
    switch node {
    case .utf8(let range):
      let text = String(decoding: bytes[range], as: UTF8.self)
      guard text != "$null" else { return }
      put(Array(data.names.text(text).utf8), at: range)
    case .utf16(let range):
      let units = stride(from: range.lowerBound, to: range.upperBound, by: 2).map {
        UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
      }
      let text = String(decoding: units, as: UTF16.self)
      put(
        data.names.text(text).utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }, at: range)
    case .data(let range):
      let content = Array(bytes[range])
      put(
        name == "NS.uuidbytes" && content.count == 16
          ? data.names.uuid(content)
          : data.data(content, keepsNumbers: keepsNumbers, depth: depth + 1), at: range)
    case .integer(let range):
      guard !keepsNumbers, range.count <= 8 else { return }
      let number = Int64(bitPattern: unsigned(range))
      let most = range.count == 8 ? Int64.max : 1 << Int64(range.count * 8) - 1
      let least = range.count == 8 ? Int64.min : 0
      put(UInt64(bitPattern: data.names.integer(number, in: least...most)), at: range)
    case .real(let range):
      guard !keepsNumbers else { return }
      if range.count == 4 {
        let number = Float(bitPattern: UInt32(truncatingIfNeeded: unsigned(range)))
        let other = Float(data.names.real(Double(number)))
        put(UInt64((other == number ? number.nextUp : other).bitPattern), at: range)
      } else {
        put(data.names.real(Double(bitPattern: unsigned(range))).bitPattern, at: range)
      }
    case .date(let range):
      guard !keepsNumbers else { return }
      put(data.names.real(Double(bitPattern: unsigned(range))).bitPattern, at: range)
    case .array, .dictionary: return
    }
  }

  private func unsigned(_ range: Range<Int>) -> UInt64 {
    bytes[range].reduce(0) { $0 << 8 | UInt64($1) }
  }

  private mutating func put(_ number: UInt64, at range: Range<Int>) {
    put(
      (0..<range.count).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64($0 * 8)) },
      at: range)
  }

  /// Only what has exactly the room: a text that could not be read as it is, is replaced by letters.
  private mutating func put(_ content: [UInt8], at range: Range<Int>) {
    if content.count == range.count {
      bytes.replaceSubrange(range, with: content)
    } else {
      let random = data.random(Array(bytes[range]))
      bytes.replaceSubrange(range, with: random.map { 0x61 + $0 % 26 })
    }
  }
}
