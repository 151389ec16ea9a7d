extension TreeMap {
  /// The leaves that were given to trees and of whose rows none can be one of the list of tables; the first is page 1.
  ///
  /// Where that list lost its first page, every leaf of every table may be one of it: most show at once that they are
  /// not, and none of their rows has to be read whole.
  package func pagesWithoutLists() throws -> [Bool] {
    var result = [Bool](repeating: false, count: image.pageCount)
    for number in 2..<max(2, image.pageCount + 1)
    where role(of: number) == .adopted && owner(of: number) != 1 {
      guard let page = try image.page(number),
        let tree = TreePage(page.bytes, number: number, usable: image.usable)
      else { continue }
      result[number - 1] = !listsTables(page, tree, upTo: tree.count)
    }
    return result
  }

  /// Whether any of the first rows of a leaf could be one of the list of tables.
  func listsTables(_ page: DatabaseImage.Page, _ tree: TreePage, upTo count: Int) -> Bool {
    page.bytes.withUnsafeBytes { bytes in
      (0..<min(count, tree.count)).contains { index in
        guard let place = tree.cell(index, in: bytes),
          let cell = TreeCell(bytes, at: place, present: page.present, usable: image.usable)
        else { return false }
        return Record.isOfList(
          UnsafeRawBufferPointer(rebasing: bytes[cell.start..<cell.start + cell.local]))
      }
    }
  }
}

extension Record {
  /// Whether a payload can be a row of the list of tables: a text, two more columns, a page, and one more.
  fileprivate static func isOfList(_ payload: UnsafeRawBufferPointer) -> Bool {
    var (count, isFitting) = (0, true)
    let stated = parse(payload) { field in
      if count == 0, kind(of: field.type) != .text { isFitting = false }
      if count == 3, kind(of: field.type) != .integer { isFitting = false }
      count += 1
    }
    return stated != nil && count == 5 && isFitting
  }
}
