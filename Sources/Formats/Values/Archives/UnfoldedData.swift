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
  /// An archive, a property list or JSON as a tree; `nil` for all else.
  package let tree: ArchiveTree?

  /// - Parameters:
  ///   - bytes: the content, or its beginning.
  ///   - isWhole: whether nothing was cut off; what is cut is named but not unfolded.
  ///   - maximumLines: lines of ``lines``; what comes behind them is shown as `…`.
  public init(_ bytes: [UInt8], isWhole: Bool = true, maximumLines: Int = 200) {
    self.init(bytes, isWhole: isWhole, maximumLines: maximumLines, opening: nil)
  }

  /// - Parameter open: a tree of what bytes in an archive or a property list hold.
  package init(
    _ bytes: [UInt8], isWhole: Bool, maximumLines: Int, opening open: (([UInt8]) -> ArchiveTree?)?
  ) {
    kind = DataKind(bytes, isWhole: isWhole)
    let mostBytes = max(16_384, maximumLines * 80)
    let nodes = maximumLines + 1
    var tree: ArchiveTree?
    var lines: [String] = []
    switch kind {
    case .keyedArchive where isWhole:
      tree = try? KeyedArchive(bytes).tree(maximumNodes: nodes, opening: open)
    case .propertyList where isWhole:
      tree = try? PropertyList.read(bytes).tree(maximumNodes: nodes, opening: open)
    case .json:
      if isWhole { tree = ArchiveTree(json: bytes, maximumNodes: nodes) }
      lines = Self.json(bytes, isWhole: isWhole, mostBytes)
    case .text: lines = Self.text(bytes, mostBytes)
    default: break
    }
    if let tree, kind != .json { lines = tree.lines() }
    if lines.count > maximumLines { lines = lines.prefix(maximumLines) + ["…"] }
    (self.tree, self.lines) = (tree, lines)
  }

  /// JSON of one line gets a line a member; the lines of another are its author's.
  private static func json(_ bytes: [UInt8], isWhole: Bool, _ most: Int) -> [String] {
    guard isWhole, bytes.count <= most,
      !bytes[..<(bytes.lastIndex { $0 > 0x20 } ?? 0)].contains(0x0A)
    else { return text(bytes, most) }
    return IndentedJSON.lines(bytes).map { String($0.prefix(2_000)) }
  }

  private static func text(_ bytes: [UInt8], _ most: Int) -> [String] {
    let lines = String(decoding: bytes.prefix(most), as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map { String($0.prefix(2_000)) }
    return bytes.count > most ? lines + ["…"] : lines
  }
}

/// Pieces of text among bytes of another form, such as the fields of a protocol buffer.
package enum TextRuns {
  /// Every piece of valid UTF-8 without control characters that has some length.
  ///
  /// - Parameters:
  ///   - least: bytes that a piece has at least.
  ///   - take: gets each piece; `true` ends it.
  package static func find(
    in bytes: [UInt8], least: Int, _ take: (String) throws -> Bool
  ) rethrows {
    var start = 0
    var index = 0
    func piece(_ end: Int) throws -> Bool {
      guard end - start >= least else { return false }
      return try take(String(decoding: bytes[start..<end], as: UTF8.self))
    }
    while index < bytes.count {
      let length = scalarLength(bytes, at: index)
      if length > 0 {
        index += length
        continue
      }
      if try piece(index) { return }
      index += 1
      start = index
    }
    _ = try piece(index)
  }

  /// Bytes of the character that begins there; 0 where none does that belongs to a text.
  private static func scalarLength(_ bytes: [UInt8], at index: Int) -> Int {
    let first = bytes[index]
    if first < 0x80 { return first >= 0x20 && first != 0x7F || first == 9 || first == 10 ? 1 : 0 }
    let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
    guard first >= 0xC2, first <= 0xF4, index + length <= bytes.count,
      String(validating: bytes[index..<(index + length)], as: UTF8.self) != nil
    else { return 0 }
    // The control characters of the second half.
    return first == 0xC2 && bytes[index + 1] < 0xA0 ? 0 : length
  }
}
