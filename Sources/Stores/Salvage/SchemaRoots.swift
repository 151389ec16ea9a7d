/// What the list of tables says of the first page of each table and index: which kind of b-tree begins there.
package struct SchemaRoots {
  /// Whether a table with row ids begins at a page; else an index, or a table that is kept as one.
  private let isOfTable: [Int: Bool]

  /// - Parameter isPartial: whether what can be read of the list is enough, also on pages of it that stand where it has
  ///   other rows.
  /// - Returns: `nil` where the list cannot be read whole.
  /// - Throws: `CoreDataError` where the file cannot be read.
  init?(_ image: DatabaseImage, isPartial: Bool = false) throws {
    let master = try TreeMap(image, roots: [1], isComplete: true)
    var kinds: [Int: Bool] = [:]
    var scan = RowScan(image, master)
    let encoding = image.header.encoding
    try scan.rows(where: { role, _ in role == .leaf || isPartial && role == .adopted }) {
      row, record in
      guard master.owner(of: row.page) == 1 || master.outOfPlace.contains(row.page),
        record.count == 5, let type = record.content(0).map(encoding.text),
        type == "table" || type == "index", let root = record.integer(3), root > 1
      else { return }
      let sql = record.content(4).map(encoding.text)?.uppercased() ?? ""
      kinds[Int(clamping: root)] = type == "table" && !sql.contains("WITHOUT ROWID")
    }
    guard isPartial || master.holes.isEmpty && scan.unreadable == 0, !kinds.isEmpty else {
      return nil
    }
    isOfTable = kinds
  }

  /// The pages that trees begin at.
  var pages: [Int] { isOfTable.keys.sorted() }

  /// Whether a sound page stands where a tree of the other kind begins; `nil` where no tree begins, or the page is not
  /// sound.
  func isStranger(_ number: Int, in image: DatabaseImage) throws -> Bool? {
    guard let isOfTable = isOfTable[number], let tree = try Self.tree(number, in: image) else {
      return nil
    }
    return tree.page.kind.isOfTable != isOfTable
  }

  /// How many pages the trees lead to, and how many of these are of the other kind, or are led to twice.
  func strangers(in image: DatabaseImage) throws -> (count: Int, of: Int) {
    var seen = [Bool](repeating: false, count: image.pageCount)
    var waiting = isOfTable.sorted { $0.key < $1.key }.map { (page: $0.key, isOfTable: $0.value) }
    var (count, all) = (0, 0)
    while let place = waiting.popLast() {
      guard seen.indices.contains(place.page - 1) else { continue }
      guard !seen[place.page - 1] else {
        count += 1
        continue
      }
      seen[place.page - 1] = true
      guard let tree = try Self.tree(place.page, in: image) else { continue }
      all += 1
      guard tree.page.kind.isOfTable == place.isOfTable else {
        count += 1
        continue
      }
      waiting += tree.page.children(in: tree.bytes).map { (page: $0, isOfTable: place.isOfTable) }
    }
    return (count, all)
  }

  /// Whether a tree of a table stands at a page, or one of an index; `nil` where no sound page does.
  package static func isOfTable(_ number: Int, in image: DatabaseImage) throws -> Bool? {
    try tree(number, in: image)?.page.kind.isOfTable
  }

  private static func tree(
    _ number: Int, in image: DatabaseImage
  ) throws -> (bytes: [UInt8], page: TreePage)? {
    guard let page = try image.page(number), page.present == page.bytes.count,
      let tree = TreePage(page.bytes, number: number, usable: image.usable),
      tree.isSound(in: page.bytes)
    else { return nil }
    return (page.bytes, tree)
  }
}
