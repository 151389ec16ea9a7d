extension DatabaseImage {
  /// How many pages of the list of free ones are still what they were, leaves of tables with rows in them.
  package func freePagesOfRows() throws -> Int {
    try Freelist(self).pages.sorted().count { number in
      guard try kind(of: number) == TreePage.Kind.tableLeaf.rawValue, let page = try page(number),
        let tree = TreePage(page.bytes, number: number, usable: usable), tree.isPlausible
      else { return false }
      let cells = tree.cells(in: page.bytes)
      return cells.count == tree.count
        && cells.contains {
          Cell(page.bytes, at: $0, present: page.present, usable: usable) != nil
        }
    }
  }
}
