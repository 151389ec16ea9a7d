extension TreeMap {
  /// Notes that pages are lost that led to pages of tables which nothing leads to: without a pointer map they do not
  /// say themselves whose they are. A leaf that was written in a root's place leaves such pages behind.
  mutating func findOrphans() throws {
    // What stands behind the end of the database is of before.
    let header = image.header
    let isCounted = header.pages > 0 && header.changeCounter == header.versionValidFor
    let logged = image.log.flatMap { $0.newest.isEmpty ? nil : $0.pages }
    let end = min(image.pageCount, logged ?? (isCounted ? header.pages : image.pageCount))
    var orphans: [(page: Int, isInterior: Bool)] = []
    var below: Set<Int> = []
    for number in 2..<max(2, end + 1) where role(of: number) == .unknown {
      let kind = try image.kind(of: number).flatMap { TreePage.Kind(rawValue: $0) }
      guard kind?.isOfTable == true, let page = try image.page(number),
        let tree = TreePage(page.bytes, number: number, usable: image.usable), tree.count > 0,
        tree.isSound(in: page.bytes)
      else { continue }
      if tree.kind.isInterior { below.formUnion(tree.children(in: page.bytes)) }
      // One leaf stands for all.
      if tree.kind.isInterior || !orphans.contains(where: { !$0.isInterior }) {
        orphans.append((number, tree.kind.isInterior))
      }
    }
    for orphan in orphans where !below.contains(orphan.page) || !orphan.isInterior {
      holes.append(TreeHole(anywhereIn: orphan.page))
    }
  }
}
