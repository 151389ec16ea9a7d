import ManagedModel

/// Bytes with their gzip wrapping taken away, however often they were packed.
///
/// Whatever the bytes are, this ends soon and in little memory: what is packed more often, is too large or was
/// packed to exhaust its reader is left packed, and ``problem`` says so.
public struct DecodedData: Sendable, Equatable {
  /// Most bytes of an unpacked value.
  public static let mostBytes = 64 << 20
  /// Most bytes that come of a packed one; a value of less than a megabyte may have more.
  public static let mostRatio = 1_000
  /// How often a value may be packed.
  public static let mostLayers = 8

  /// How often the bytes were packed.
  public private(set) var layers = 0
  /// What they unpack to, as far as that goes.
  public private(set) var bytes: [UInt8]
  /// Whether nothing was cut off.
  public private(set) var isWhole: Bool
  /// Why they are not unpacked to the end, as a clause; `nil` where they are.
  public private(set) var problem: String?

  /// - Parameters:
  ///   - bytes: the content, or its beginning.
  ///   - isWhole: whether nothing was cut off.
  public init(_ bytes: [UInt8], isWhole: Bool = true) {
    self.init(bytes, isWhole: isWhole, mostLayers: Self.mostLayers, mostBytes: Self.mostBytes)
  }

  /// - Parameters:
  ///   - mostLayers: how often it may be packed, where it was unpacked from another value.
  ///   - mostBytes: what is left of ``mostBytes``, where others were unpacked before.
  package init(_ bytes: [UInt8], isWhole: Bool, mostLayers: Int, mostBytes: Int) {
    (self.bytes, self.isWhole) = (bytes, isWhole)
    while problem == nil, isPacked {
      guard layers < mostLayers else {
        problem = "packed more than \(Self.mostLayers) times"
        return
      }
      guard unpack(mostBytes) else { return }
      layers += 1
    }
  }

  /// Whether the bytes are still packed.
  private var isPacked: Bool { bytes.starts(with: [0x1F, 0x8B, 8]) }

  private enum Refusal: Error { case tooLarge, tooDense }

  /// Takes one layer away.
  ///
  /// - Returns: false where nothing came of it.
  private mutating func unpack(_ most: Int) -> Bool {
    var result: [UInt8] = []
    do {
      let inflation = try Inflation(.gzip)
      let packed = bytes.count
      let isSound = try inflation.read(bytes) { piece in
        let count = result.count + piece.count
        guard count <= most else { throw Refusal.tooLarge }
        guard count <= 1 << 20 || count / Self.mostRatio <= packed else { throw Refusal.tooDense }
        result += piece
      }
      if !isSound || isWhole && !inflation.isFinished { problem = "the gzip data is damaged" }
      if !inflation.isFinished { isWhole = false }
    } catch Refusal.tooLarge {
      problem = "it unpacks to more than \(Self.mostBytes >> 20) MB"
      return false
    } catch Refusal.tooDense {
      problem = "it unpacks to more than \(Self.mostRatio) times its size"
      return false
    } catch {
      problem = "it cannot be unpacked"
      return false
    }
    guard !result.isEmpty || problem == nil else { return false }
    bytes = result
    return true
  }
}

/// What is in them, as `object`, the inspector and the popup of a value show it.
extension DecodedData {
  /// Bytes that are text and shorter are chance.
  private static let leastRun = 6

  /// The content, unfolded where its form is known: what lies packed in an archive is unfolded as well.
  ///
  /// - Parameter maximumLines: lines, or nodes of a tree; what comes behind them is shown as `…`.
  package func content(maximumLines: Int = 200) -> UnfoldedData {
    var left = Self.mostBytes
    return Self.unfolded(self, depth: layers, maximumLines, &left)
  }

  private static func unfolded(
    _ data: DecodedData, depth: Int, _ maximumLines: Int, _ left: inout Int
  ) -> UnfoldedData {
    // What a tree opens is counted over the whole of it.
    var rest = left
    defer { left = rest }
    var nodes = maximumLines
    return UnfoldedData(data.bytes, isWhole: data.isWhole, maximumLines: maximumLines) { bytes in
      guard depth < mostLayers, nodes > 0, bytes.count >= 8 else { return nil }
      let inner = DecodedData(
        bytes, isWhole: true, mostLayers: mostLayers - depth, mostBytes: rest)
      if inner.layers > 0 { rest -= inner.bytes.count }
      if let problem = inner.problem {
        return ArchiveTree(label: "", text: "\(inner.heading), ! \(problem)", kind: .data)
      }
      let content = unfolded(inner, depth: depth + inner.layers + 1, nodes, &rest)
      guard var tree = content.tree else {
        guard inner.layers > 0 else { return nil }
        let lines = inner.lines(of: content)
        nodes -= lines.count
        return ArchiveTree(
          label: "", text: inner.heading, kind: .data,
          children: lines.map { ArchiveTree(label: "", text: $0, kind: .text) })
      }
      nodes -= tree.count
      tree.text = "\(inner.heading), \(tree.text)"
      return tree
    }
  }

  /// `keyed archive`, `gzip of JSON`.
  package var heading: String {
    String(repeating: "gzip of ", count: layers)
      + DataKind(bytes, isWhole: isWhole).description
  }

  /// The lines of a content; of unpacked bytes that have no form, the texts in them.
  ///
  /// - Parameters:
  ///   - maximumLines: most of these lines.
  ///   - longest: most characters of one; what is left out of a line or behind the last is shown as `…`.
  package func lines(
    of content: UnfoldedData, maximumLines: Int = 200, longest: Int = 2_000
  ) -> [String] {
    guard content.kind == .bytes, layers > 0 else { return content.lines }
    var lines: [String] = []
    TextRuns.find(in: bytes, least: Self.leastRun) { text in
      lines += text.split(separator: "\n").map { line in
        let cut = line.prefix(longest)
        return cut.endIndex == line.endIndex ? String(cut) : cut + "…"
      }
      return lines.count > maximumLines
    }
    return lines.count > maximumLines ? lines.prefix(maximumLines) + ["…"] : lines
  }
}

extension ArchiveTree {
  /// Nodes in all.
  fileprivate var count: Int { children.reduce(1) { $0 + $1.count } }
}
