extension LogKinship {
  /// How many objects stand on pages of the log, where nothing shows that it is this store's: it does not hold
  /// Z_METADATA, and no object that it holds stands in the main file as it is. 0 where something does.
  ///
  /// Core Data writes whole pages, so that the neighbours of an object that was changed come along as they were. In
  /// another store they are others.
  ///
  /// - Throws: `CoreDataError` where a file cannot be read.
  package func unvouchedObjects() throws -> Int {
    guard let names = try Self.names(in: image) else { return 0 }
    // Its UUID was compared.
    if let root = names.objects["Z_METADATA"], image.log?.newest[root] != nil { return 0 }
    var count = 0
    for number in (image.log?.newest.keys).map({ $0.sorted() }) ?? []
    where number > 1 && number <= image.pageCount {
      let later = try objects(on: number, of: image)
      guard !later.isEmpty else { continue }
      count += later.count
      let earlier = try objects(on: number, of: main)
      for (key, object) in later where object.isTelling {
        if earlier[key]?.bytes == object.bytes { return 0 }
      }
    }
    return count
  }

  private struct Object {
    var bytes: ArraySlice<UInt8>
    /// Whether it holds a value that another store would hardly have under the same key.
    var isTelling: Bool
  }

  /// The objects on a page, by key; none on one that is no leaf of a table.
  private func objects(on number: Int, of image: DatabaseImage) throws -> [Int64: Object] {
    guard let page = try image.page(number), page.present == page.bytes.count,
      let tree = TreePage(page.bytes, number: number, usable: image.usable),
      tree.kind == .tableLeaf
    else { return [:] }
    var record = Record()
    var found: [Int64: Object] = [:]
    for place in tree.cells(in: page.bytes) {
      guard
        let cell = TreeCell(page.bytes, at: place, present: page.present, usable: image.usable),
        record.read(page.bytes, cell.start..<cell.start + cell.local),
        record.count > 3, record.kind(0) == .null, record.integer(1) != nil
      else { continue }
      let isTelling = (3..<record.count).contains { column in
        switch record.value(column) {
        case .text(let bytes)?, .blob(let bytes)?: bytes.count >= 4
        case .real(let number)?: number != number.rounded()
        default: false
        }
      }
      found[cell.key] = Object(
        bytes: page.bytes[cell.start..<cell.start + cell.local], isTelling: isTelling)
    }
    return found
  }
}
