/// Finds rows that are no longer in a database, or that are there in a newer state.
///
/// Looked through are, from new to old: the room in pages that is not in use, free pages, frames of the
/// -wal that later ones replaced, the pages of the main file under the -wal, and frames that were never
/// committed or are of a -wal before. The same row can come many times; it is for the caller to compare.
public struct RemainsScan: ~Copyable {
  let image: DatabaseImage
  private let trees: TreeMap
  let keys: [KeySet]
  private let roots: [Int: LinkCarver.Shape]
  /// What is reported of links that stand in freed room: their tree, and their columns.
  private let link: (Int, [Int64?]) throws -> Void
  private let byRoot: [Int: Int]
  private var carver: Carver
  var record = Record()
  /// How many pages of rests of rows are still read: chains in circles end with it.
  private var budget = 0

  /// - Parameters:
  ///   - shapes: what rows of the tables look like, of those that hold objects.
  ///   - tables: the shape of each tree's rows, by the first page of the tree, where that is known.
  ///   - keys: for each shape the keys of the rows that are there.
  ///   - fewest: for each shape how many values such rows have at least.
  ///   - roots: the first pages of join tables, with the shape of each.
  ///   - link: takes each link that stands in freed room of a join table's page.
  /// - Throws: `CoreDataError` where the file cannot be read.
  package init(
    _ image: DatabaseImage, _ trees: TreeMap, shapes: [RowShape], tables: [Int: Int],
    keys: [KeySet],
    fewest: [Int], roots: [Int: LinkCarver.Shape],
    link: @escaping (_ root: Int, _ columns: [Int64?]) throws -> Void
  ) throws {
    self.image = image
    self.trees = trees
    self.keys = keys
    byRoot = tables
    self.roots = roots
    self.link = link
    carver = Carver(shapes, fewest: fewest, usable: image.usable, encoding: image.header.encoding)
  }

  /// Whether room and free pages that rows were deleted from hold nothing but zeros: what SQLite makes
  /// of them with secure_delete; `nil` where there is no such room.
  public private(set) var isWiped: Bool?

  /// Finds rows.
  ///
  /// - Parameters:
  ///   - isCancelled: asked every few pages; the scan then ends.
  ///   - progress: called every few pages with how much was read, from 0 to 1.
  ///   - body: takes each row; the record is good until it returns.
  /// - Throws: `CoreDataError` where the file cannot be read; what `body` throws.
  public mutating func rows(
    isCancelled: () -> Bool = { false }, progress: (Double) -> Void = { _ in },
    _ body: (Remnant, borrowing Record) throws -> Void
  ) throws {
    let frames = image.log?.pageSize == image.pageSize ? image.log?.frames ?? [] : []
    let total = Double(max(1, image.pageCount + frames.count))
    budget = 64 * (image.pageCount + frames.count) + 100_000
    var done = 0
    func goesOn() -> Bool {
      done += 1
      if done % 64 == 0 { progress(Double(done) / total) }
      return done % 64 != 0 || !isCancelled()
    }
    for number in 1...max(1, image.pageCount) {
      guard goesOn() else { return }
      try present(number, body)
    }
    let log = image.log
    for (index, frame) in frames.enumerated().reversed() where frame.state.isOfSave {
      guard goesOn() else { return }
      guard log?.newest[frame.page] != index, let bytes = try log?.page(of: index) else { continue }
      try past(bytes, frame.page, .frame(index), body)
    }
    if !frames.isEmpty {
      for number in (log?.newest.keys).map({ $0.sorted() }) ?? [] where number <= image.mainPages {
        if isCancelled() { return }
        let bytes = try image.mainPage(number)
        guard bytes.count == image.pageSize else { continue }
        try past(bytes, number, .main, body)
      }
    }
    for (index, frame) in frames.enumerated().reversed() where !frame.state.isOfSave {
      guard goesOn() else { return }
      guard frame.page > 0, let bytes = try log?.page(of: index) else { continue }
      let source: Remnant.Source = frame.state == .older ? .earlier(index) : .uncommitted(index)
      try past(bytes, frame.page, source, body)
    }
  }

  /// Looks at a page as it is.
  private mutating func present(
    _ number: Int, _ body: (Remnant, borrowing Record) throws -> Void
  ) throws {
    switch trees.role(of: number) {
    case .map, .broken, .adopted: return
    case .leaf, .interior:
      guard let page = try image.page(number) else { return }
      guard let room = DeadRoom(page.bytes, number: number, usable: image.usable) else {
        // An interior page without a header has the cells of the leaf that it was.
        guard trees.role(of: number) == .interior else { return }
        let rows = carver.rows(in: 0..<image.usable, of: page.bytes, likely: carver.all)
        return try give(rows, rows.map { _ in nil }, number, .room, [:], body)
      }
      note(page)
      try carve(page.bytes, number, room, .room, body)
    case .free, .stray, .unknown:
      let isFree = try isFree(number)
      guard isFree || trees.role(of: number) == .unknown, let page = try image.page(number) else {
        return
      }
      if isFree { wiped(!page.bytes.contains { $0 != 0 }) }
      if let room = DeadRoom(page.bytes, number: number, usable: image.usable) {
        if isFree { try cells(of: room, page.bytes, number, .freePage, body) }
        try carve(page.bytes, number, room, isFree ? .freePage : .room, body)
      } else if isFree {
        let rows = carver.rows(in: 0..<image.usable, of: page.bytes, likely: carver.all)
        try give(rows, rows.map { _ in nil }, number, .freePage, [:], body)
      }
    }
  }

  /// Whether a page is in no use: free by the list or the map, or referenced by nothing.
  private func isFree(_ number: Int) throws -> Bool {
    switch trees.role(of: number) {
    case .free, .stray: true
    case .unknown: try !trees.isInUse(number)
    default: false
    }
  }

  /// Looks at a page as it was.
  private mutating func past(
    _ bytes: [UInt8], _ number: Int, _ source: Remnant.Source,
    _ body: (Remnant, borrowing Record) throws -> Void
  ) throws {
    guard let room = DeadRoom(bytes, number: number, usable: image.usable) else { return }
    try cells(of: room, bytes, number, source, body)
    try carve(bytes, number, room, source, body)
  }

  /// The rows that a page held.
  private mutating func cells(
    of room: DeadRoom, _ bytes: [UInt8], _ number: Int, _ source: Remnant.Source,
    _ body: (Remnant, borrowing Record) throws -> Void
  ) throws {
    let root = trees.owner(of: number)
    for place in room.cells {
      guard
        let cell = TreeCell(
          bytes, at: place.range.lowerBound, present: bytes.count, usable: image.usable)
      else { continue }
      let local = Array(bytes[cell.start..<cell.start + cell.local])
      guard try read(local, cell.size, cell.overflow, source) else { continue }
      let shape = carver.shape(of: record)
      guard shape != nil || roots[root] != nil else { continue }
      try body(
        Remnant(
          shape: shape, root: shape == nil ? root : 0, key: cell.key, certainty: .certain,
          isCell: true, page: number, source: source), record)
    }
  }

  /// What is found in the room of a page.
  private mutating func carve(
    _ bytes: [UInt8], _ number: Int, _ room: DeadRoom, _ source: Remnant.Source,
    _ body: (Remnant, borrowing Record) throws -> Void
  ) throws {
    let root = trees.owner(of: number)
    if let shape = roots[root] {
      let carver = LinkCarver(shape: shape, usable: image.usable)
      let bounds = source == .room ? try trees.bounds(of: number, room) : nil
      for range in room.ranges {
        let lengths = room.keyLengths(in: range, within: bounds)
        for found in carver.links(in: range, of: bytes, keyLengths: lengths) {
          try link(root, found)
        }
      }
      return
    }
    var rows: [CarvedRow] = []
    // What was deleted from a page is mostly of the table that the page is of.
    let likely =
      if let shape = byRoot[root] ?? self.shape(of: room, bytes) {
        [shape]
      } else {
        source == .freePage ? carver.all : []
      }
    for range in room.ranges where range.count >= 8 {
      rows += carver.rows(in: range, of: bytes, likely: likely)
    }
    guard !rows.isEmpty else { return }
    var inferred = [Int64?](repeating: nil, count: rows.count)
    let bounds = source == .room ? try trees.bounds(of: number, room) : nil
    for shape in Set(rows.map(\.shape)) {
      let inference = KeyInference(keys[shape], within: byRoot[root] == shape ? bounds : nil)
      let own = rows.indices.filter { rows[$0].shape == shape }
      for (index, key) in zip(own, inference.keys(of: own.map { rows[$0] }, in: room)) {
        inferred[index] = key
      }
    }
    var possible: [Int: [Int64]] = [:]
    if source == .room, trees.role(of: number) == .leaf, let shape = byRoot[root] {
      let own = rows.indices.filter { inferred[$0] == nil && rows[$0].shape == shape }
      let found = KeyInference(keys[shape], within: bounds)
        .possibleKeys(of: own.map { rows[$0] }, in: room)
      for (index, keys) in zip(own, found) { possible[index] = keys }
    }
    try give(
      rows, inferred, number, source, standings(rows, inferred, in: room, bytes),
      possible: possible, body)
  }

  /// The shape of the rows that a page held.
  private mutating func shape(of room: DeadRoom, _ bytes: [UInt8]) -> Int? {
    for cell in room.cells.prefix(4) {
      guard
        let cell = TreeCell(
          bytes, at: cell.range.lowerBound, present: bytes.count, usable: image.usable),
        record.read(bytes, cell.start..<cell.start + cell.local)
      else { continue }
      if let shape = carver.shape(of: record) { return shape }
    }
    return nil
  }

  private mutating func give(
    _ rows: [CarvedRow], _ inferred: [Int64?], _ number: Int, _ source: Remnant.Source,
    _ standings: [Int: Standing], possible: [Int: [Int64]] = [:],
    _ body: (Remnant, borrowing Record) throws -> Void
  ) throws {
    let own = trees.role(of: number) == .leaf ? byRoot[trees.owner(of: number)] : nil
    for (index, row) in rows.enumerated() {
      guard try read(row.payload, row.size, row.overflow, source) else { continue }
      var key = inferred[index]
      var isEarlier = false
      if case .earlier(let other) = standings[index] {
        isEarlier = true
        key = key ?? other
      }
      if case .later(let other) = standings[index] { key = key ?? other }
      var isUnsure = false
      if case .unsure = standings[index] { isUnsure = true }
      let isCut = row.ending == .overwritten
      if isCut, let key = row.key ?? key, keys[row.shape].contains(key) { continue }
      let certainty: Remnant.KeyCertainty =
        row.key != nil ? .certain : key != nil ? .inferred : .unknown
      try body(
        Remnant(
          shape: row.shape, root: 0, key: row.key ?? key, certainty: certainty,
          mayBeOverwritten: row.ending != .sound, isCut: isCut, isEarlier: isEarlier,
          isUnsure: isUnsure,
          isOfOwnPage: row.shape == own,
          possibleKeys: possible[index], page: number, source: source), record)
    }
  }

  /// Takes a payload, with what of it stands on other pages.
  private mutating func read(
    _ local: [UInt8], _ size: Int, _ overflow: Int, _ source: Remnant.Source
  ) throws -> Bool {
    guard local.count < size else { return record.read(local, 0..<local.count) }
    guard size / (image.usable - 4) <= image.pageCount else { return false }
    var payload = local
    var next = overflow
    while payload.count < size, next > 0, budget > 0, let page = try overflowPage(next, source) {
      payload += page[4..<4 + min(size - payload.count, image.usable - 4)]
      next = Int(BigEndian.word(page, 0))
      budget -= 1
    }
    // A chain that goes on is another's by now.
    if payload.count < size || next != 0 { payload = local }
    return record.read(payload, 0..<payload.count)
  }

  /// A page of the rest of a row, as it was with the row; `nil` where it is another's now.
  private func overflowPage(_ number: Int, _ source: Remnant.Source) throws -> [UInt8]? {
    switch source {
    case .room, .freePage:
      guard try isFree(number), let page = try image.page(number), page.present == page.bytes.count
      else { return nil }
      return page.bytes
    case .frame(let frame), .uncommitted(let frame), .earlier(let frame):
      if let log = image.log, let at = log.frame(of: number, upTo: frame) {
        return try log.page(of: at)
      }
      fallthrough
    case .main:
      guard number <= image.mainPages else { return nil }
      let bytes = try image.mainPage(number)
      return bytes.count == image.pageSize ? bytes : nil
    }
  }

  /// Takes into account whether blocks that were freed are zeros.
  private mutating func note(_ page: DatabaseImage.Page) {
    let tree = TreePage(page.bytes, number: page.number, usable: image.usable)
    guard let block = tree?.firstFree, block > 0 else { return }
    let size = BigEndian.half(page.bytes, block + 2)
    guard size > 8, block + size <= page.bytes.count else { return }
    wiped(!page.bytes[block + 4..<block + size].contains { $0 != 0 })
  }

  private mutating func wiped(_ isZero: Bool) { isWiped = (isWiped ?? true) && isZero }
}

extension LogFrame.State {
  /// Whether the frame is of a save that was finished.
  var isOfSave: Bool { self == .committed || self == .mended }
}

extension RemainsScan {
  /// What a row without a key is by the rows that its page holds.
  enum Standing {
    /// An earlier state of one of them, of this one if that is known.
    case earlier(of: Int64?)
    /// A later state of a row that was found with this key.
    case later(of: Int64)
    /// It may be an earlier state of one, or be deleted.
    case unsure
  }

  /// What rows without a key are, as far as the rows of their page show it.
  mutating func standings(
    _ rows: [CarvedRow], _ inferred: [Int64?], in room: DeadRoom, _ bytes: [UInt8]
  ) -> [Int: Standing] {
    var result: [Int: Standing] = [:]
    var other = Record()
    let known = rows.indices.filter { rows[$0].key != nil && rows[$0].ending == .sound }
    for (index, row) in rows.enumerated() where inferred[index] == nil {
      guard let hint = row.hint, record.read(row.payload, 0..<row.payload.count) else { continue }
      if let (found, isLater) = state(of: row, among: known.map { rows[$0] }, &other),
        let key = rows[known[found]].key
      {
        result[index] = isLater ? .later(of: key) : .earlier(of: key)
        if isLater { result[known[found]] = .earlier(of: key) }
        continue
      }
      let saves = record.integer(2) ?? 0
      var best: (key: Int64, different: Int)?
      var isTold = false
      for place in room.cells where hint.fits(place.key) {
        guard
          let cell = TreeCell(
            bytes, at: place.range.lowerBound, present: bytes.count, usable: image.usable),
          other.read(bytes, cell.start..<cell.start + cell.local), other.count > 2,
          other.integer(1) == record.integer(1), other.integer(2) ?? 0 > saves
        else { continue }
        // Each save raises Z_OPT: a row that was not saved since has no earlier state.
        let likeness = record.likeness(to: other)
        guard likeness.different < best?.different ?? .max else { continue }
        best = (place.key, likeness.different)
        isTold = likeness.same > 0 && likeness.same >= likeness.different
      }
      guard let best else { continue }
      if isTold {
        result[index] = .earlier(of: best.key)
      } else {
        let canBeDeleted = KeyInference(keys[row.shape]).canBeDeleted(hint, from: room)
        result[index] = canBeDeleted ? .unsure : .earlier(of: nil)
      }
    }
    return result
  }

  /// The one row, of those that were found with a key on the same page, of which a row without one is another state: the
  /// two share more values than not, one of them with no other row, and one was saved more often.
  ///
  /// - Parameter known: rows with keys.
  /// - Returns: which it is, and whether the row without a key is the later one; `nil` for none, or several.
  private func state(
    of row: CarvedRow, among known: [CarvedRow], _ other: inout Record
  ) -> (place: Int, isLater: Bool)? {
    let saves = record.integer(2) ?? 0
    let marks = Set(record.marks().map(\.mark))
    guard !marks.isEmpty, record.count > 3 else { return nil }
    var (sharing, states) = ([UInt64: [Int]](), [Int: Bool]())
    for (place, one) in known.enumerated() where one.shape == row.shape {
      guard other.read(one.payload, 0..<one.payload.count) else { continue }
      for (_, mark) in other.marks() where marks.contains(mark) {
        sharing[mark, default: []].append(place)
      }
      guard let key = one.key, row.hint?.fits(key) == true, !keys[row.shape].contains(key),
        other.integer(1) == record.integer(1), let otherSaves = other.integer(2),
        otherSaves != saves
      else { continue }
      let likeness = record.likeness(to: other)
      if likeness.same >= likeness.different { states[place] = saves > otherSaves }
    }
    let owners = Set(sharing.values.filter { $0.count == 1 }.joined()).filter { states[$0] != nil }
    guard owners.count == 1, let place = owners.first else { return nil }
    return states[place].map { (place, $0) }
  }
}
