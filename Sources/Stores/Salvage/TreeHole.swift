/// A place in a table's tree where a page could not be read, and the keys that it had.
public struct TreeHole: Sendable, Equatable {
  /// The first page of the table's tree.
  public var root: Int
  /// The page.
  public var page: Int
  /// Its keys are greater than this; `nil` where they may be any from the least on.
  public var above: Int64?
  /// Its keys are at most this; `nil` where they may be any up to the greatest.
  public var upTo: Int64?

  /// The keys that it may have had, without those that Core Data gives to no object.
  package var keys: ClosedRange<Int64> {
    let first = above.map { $0 == .max ? $0 : $0 + 1 } ?? 1
    return first...max(first, upTo ?? .max)
  }

  /// Whether a key could have been there.
  package func holds(_ key: Int64) -> Bool { key > above ?? .min && key <= upTo ?? .max }
}

extension TreeHole {
  /// One that may have had any key of a tree.
  package init(anywhereIn root: Int) { self.init(root: root, page: root, above: nil, upTo: nil) }

  /// Whether it may have had any key.
  package var isOpen: Bool { above == nil && upTo == nil }
}

extension TreeHole {
  /// The places under the interior page that stands here, and whether all of them could be read.
  func children(in image: DatabaseImage) throws -> (places: [TreeHole], isSound: Bool) {
    guard let bytes = try image.page(page),
      let tree = TreePage(bytes.bytes, number: page, usable: image.usable)
    else { return ([], true) }
    let cells = tree.cells(in: bytes.bytes)
    var result: [TreeHole] = []
    var above = above
    for cell in cells where cell + 4 < bytes.present {
      guard let (bits, _) = Varint.read(bytes.bytes, cell + 4) else { continue }
      let key = Int64(bitPattern: bits)
      let child = Int(BigEndian.word(bytes.bytes, cell))
      result.append(TreeHole(root: root, page: child, above: above, upTo: key))
      above = key
    }
    result.append(TreeHole(root: root, page: tree.last, above: above, upTo: upTo))
    return (
      result,
      tree.isPlausible && cells.count >= tree.count && bytes.present >= bytes.bytes.count
    )
  }
}

/// The page above each page that has one, four bytes a page: without a schema nearly every page has.
struct StrayParents {
  private var parents: [Int32]

  init(pageCount: Int) { parents = [Int32](repeating: 0, count: max(0, pageCount)) }

  /// The page above a page; `nil` where none is known.
  subscript(page: Int) -> Int? {
    get {
      guard parents.indices.contains(page - 1), parents[page - 1] > 0 else { return nil }
      return Int(parents[page - 1])
    }
    set {
      guard parents.indices.contains(page - 1) else { return }
      parents[page - 1] = Int32(clamping: newValue ?? 0)
    }
  }
}
