/// Which page belongs to which table.
///
/// Trees are walked from their roots. What no tree reaches counts only where a tree has a hole, or
/// where no root is known: a page that is free keeps the rows that were deleted with it.
public struct TreeMap {
  /// What a page is.
  public enum Role: UInt8, Sendable {
    case unknown
    /// A leaf that its tree references.
    case leaf
    case interior
    /// A page that its tree references as a leaf, and whose header is not one.
    case broken
    /// A leaf that no tree references and that belongs where a page is missing.
    case adopted
    /// A leaf that belongs nowhere: of a table that was there, or of rows that were deleted.
    case stray
    case free
    case map
  }

  /// What each page is; the first is page 1.
  public internal(set) var roles: [Role]
  /// The root of the tree that each page belongs to, 0 where it is not known; the first is page 1.
  package internal(set) var owners: [Int32]
  /// Where pages of the trees could not be read.
  public internal(set) var holes: [TreeHole] = []
  /// Whether the list of free pages is sound, and holds no page that a tree has.
  public private(set) var isFreelistSound = true

  /// Whether the database keeps a pointer map.
  let isMapped: Bool
  let image: DatabaseImage
  var pointers: PointerMap?
  var ranges: [Int: TreeHole] = [:]
  /// The greatest key of each tree, by its root.
  private var greatest: [Int: Int64] = [:]
  /// Leaves that stand where their tree has other keys.
  package private(set) var outOfPlace: Set<Int> = []
  /// Which leaves may be another database's though their tree leads to them: all of them where pages of two are
  /// mixed, as a page that leads to one may be of the other itself.
  package enum Doubt: Sendable {
    case none
    case frames
    case all
  }
  package var doubt = Doubt.none
  /// What is known of overflow pages while the roles stay as they are.
  private(set) var shared = SharedOverflow()

  /// Walks the trees of a database.
  ///
  /// - Parameters:
  ///   - roots: the first page of each table's tree; empty where no schema can be read.
  ///   - isComplete: whether these are all tables there are.
  ///   - isForAll: whether each page of a table must be one of theirs, so that one which nothing leads to shows that
  ///     a page which did is lost. A pointer map says so by itself.
  /// - Throws: `CoreDataError` where the file cannot be read.
  public init(
    _ image: DatabaseImage, roots: [Int], isComplete: Bool, isForAll: Bool = false
  ) throws {
    self.image = image
    roles = Array(repeating: .unknown, count: image.pageCount)
    owners = Array(repeating: 0, count: image.pageCount)
    var map = PointerMap(image)
    isMapped =
      if image.header.isMagic { image.header.isAutoVacuum } else { try map.isLikely() }
    // Without its first page the map cannot be followed. Its others are no pages of trees all the same: as such they
    // would lead to pages of any table.
    if try isMapped || !image.header.isMagic && map.areLikelyBehindFirst() {
      for page in 2..<max(2, image.pageCount + 1) where map.isOwn(page) { roles[page - 1] = .map }
    }
    if isMapped { pointers = map }
    for root in roots { try walk(root) }
    let free = try Freelist(image)
    isFreelistSound = free.isSound
    for page in free.pages {
      if roles[page - 1] == .unknown { roles[page - 1] = .free } else { isFreelistSound = false }
    }
    // A leaf that pages are said to be under stands in the place of the page that referenced them.
    var replaced: Set<Int> = []
    var unreached = try unreachedPage(after: 1)
    while let (page, parent) = unreached {
      if role(of: parent) == .leaf, replaced.insert(parent).inserted {
        holes.append(TreeHole(root: owner(of: parent), page: parent))
      }
      unreached = try unreachedPage(after: page)
    }
    if isForAll, isComplete, !isMapped, isFreelistSound { try findOrphans() }
    if !isComplete || !holes.isEmpty { try adopt(isComplete: isComplete) }
    try takeLastLeaves()
    if isMapped, !isComplete { try takeHeaderlessRoots() }
    if isMapped, !isComplete || !holes.isEmpty {
      try takeHeaderlessInteriors(isComplete: isComplete)
      try takeHeaderless()
      try leaveWipedInteriors()
    }
  }

  /// Whether the pointer map says of a page that it is free, or of the tree of the list of tables.
  package func isFreeOrOfSchema(_ page: Int) throws -> Bool {
    var pointers = pointers
    var page = page
    for _ in 0..<24 {
      guard let entry = try pointers?.entry(page) else { return false }
      switch entry.kind {
      case .free: return true
      case .tree:
        if entry.parent == 1 { return true }
        page = entry.parent
      default: return false
      }
    }
    return false
  }

  /// Whether a leaf that stands there may be another database's.
  func isDoubtful(_ origin: DatabaseImage.Origin) -> Bool {
    switch doubt {
    case .none: false
    case .frames: origin != .main
    case .all: true
    }
  }

  /// Takes every leaf with rows that belongs nowhere, free pages aside: where pages of two databases are mixed, the
  /// page that leads to it may be the other's. Its rows are nobody's for certain. So are those of other tables on pages
  /// that seem to be of the list of tables.
  ///
  /// - Throws: `CoreDataError` where the file cannot be read.
  package mutating func adoptStrays() throws {
    shared = SharedOverflow()
    for number in 2..<max(2, image.pageCount + 1) {
      let isOfList = owner(of: number) == 1
      switch role(of: number) {
      case .stray, .unknown: break
      case .leaf, .adopted: guard isOfList else { continue }
      default: continue
      }
      guard try image.kind(of: number) == TreePage.Kind.tableLeaf.rawValue,
        let page = try image.page(number),
        let tree = TreePage(page.bytes, number: number, usable: image.usable), tree.count > 0,
        tree.isSound(in: page.bytes), !isOfList || !listsTables(page, tree, upTo: 1)
      else { continue }
      roles[number - 1] = .adopted
      if isOfList { owners[number - 1] = 0 }
    }
  }

  /// Whether pages were given to trees that do not reference them.
  package var hasAdopted: Bool { roles.contains(.adopted) }

  /// The role of a page.
  public func role(of page: Int) -> Role {
    roles.indices.contains(page - 1) ? roles[page - 1] : .unknown
  }

  /// The root of the tree that a page belongs to; 0 where it is not known.
  public func owner(of page: Int) -> Int {
    owners.indices.contains(page - 1) ? Int(owners[page - 1]) : 0
  }

  /// The keys that a page may hold by the tree above it.
  package func range(of page: Int) -> TreeHole? { ranges[page] }

  /// The keys that a leaf with a key may hold by the pages above it; `nil` where these do not lead to it.
  func bounds(of leaf: Int, holding key: Int64) throws -> TreeHole? {
    var place = TreeHole(anywhereIn: owner(of: leaf))
    for _ in 0..<24 where place.page > 0 && place.page != leaf {
      guard role(of: place.page) == .interior,
        let child = try place.children(in: image).places.first(where: { $0.holds(key) })
      else { return nil }
      place = child
    }
    return place.page == leaf ? place : nil
  }

  /// Whether a page that no table's tree has is used all the same, as far as that can be determined: by an
  /// index, or by what is too large for a row's page.
  func isInUse(_ page: Int) throws -> Bool {
    guard role(of: page) == .unknown else { return true }
    var pointers = pointers
    guard pointers != nil else { return isFreelistSound }
    guard let entry = try pointers?.entry(page) else { return false }
    return entry.kind != .free
  }

  private mutating func walk(_ root: Int) throws {
    var waiting = [TreeHole(root: root, page: root, above: nil, upTo: nil)]
    while let place = waiting.popLast() {
      guard place.page > 0, place.page <= image.pageCount, roles[place.page - 1] == .unknown,
        let kind = try image.kind(of: place.page)
      else {
        holes.append(place)
        continue
      }
      switch TreePage.Kind(rawValue: kind) {
      case .tableLeaf:
        // Keys that the page above does not reference: it is another's, or of another time.
        let ends = try ends(of: place.page)
        if let (first, last) = ends, !place.holds(first) || !place.holds(last) {
          holes.append(place)
          outOfPlace.insert(place.page)
        } else {
          if let (_, last) = ends { greatest[place.root] = max(greatest[place.root] ?? .min, last) }
          take(place, .leaf)
        }
      case .tableInterior:
        take(place, .interior)
        try waiting.append(contentsOf: children(of: place).reversed())
      // Another table's, or an index's: it was written over.
      case .indexLeaf, .indexInterior: holes.append(place)
      case nil:
        holes.append(place)
        guard try image.page(place.page)?.bytes.contains(where: { $0 != 0 }) == true else {
          continue
        }
        take(place, .broken)
        ranges[place.page] = place
      }
    }
  }

  mutating func take(_ place: TreeHole, _ role: Role) {
    roles[place.page - 1] = role
    owners[place.page - 1] = Int32(clamping: place.root)
  }

  private mutating func children(of place: TreeHole) throws -> [TreeHole] {
    let (children, isSound) = try place.children(in: image)
    if !isSound { holes.append(place) }
    return children
  }
}

extension TreeMap {
  /// Gives the leaves that no tree reached to those that lack one.
  private mutating func adopt(isComplete: Bool) throws {
    let parents = try strayParents()
    if !isComplete { try walkUnknownRoots(parents) }
    let lacking = Set(holes.map(\.root))
    // Without a pointer map nothing says that a page in such a place is the one that was there.
    let gone =
      isMapped ? Dictionary(holes.map { ($0.page, $0.root) }) { first, _ in first } : [:]
    for page in 1...max(1, image.pageCount) where role(of: page) == .unknown {
      guard try image.kind(of: page) == TreePage.Kind.tableLeaf.rawValue else { continue }
      let entry = try pointers?.entry(page)
      switch entry?.kind {
      case .free, .firstOverflow, .laterOverflow:
        if entry?.kind == .free, try ends(of: page) != nil { roles[page - 1] = .free }
        continue
      case .root, .tree, nil: break
      }
      // It may be what another place lacks: whose rows they are, they show themselves.
      if outOfPlace.contains(page) {
        roles[page - 1] = .adopted
        continue
      }
      // Of a page whose part of the map is lost too its keys show whether it is what a tree lacks.
      let isUnmapped = isComplete && isMapped && isFreelistSound && entry == nil
      let root = try root(of: page, parents, gone, isUnmapped: isUnmapped)
      // Of a tree that is known and lacks nothing: its keys need not be looked at.
      if isComplete, entry != nil, root > 0, !lacking.contains(root) {
        (roles[page - 1], owners[page - 1]) = (.stray, Int32(clamping: root))
        continue
      }
      guard let (first, last) = try ends(of: page) else { continue }
      owners[page - 1] = Int32(clamping: root)
      roles[page - 1] =
        if root > 0, owners.indices.contains(root - 1), lacking.contains(root) {
          holes.contains { $0.root == root && $0.holds(first) && $0.holds(last) }
            ? .adopted : .stray
        } else if isComplete, root > 0 {
          .stray
        } else {
          isComplete && !holes.contains { $0.holds(first) && $0.holds(last) } ? .stray : .adopted
        }
    }
  }

  /// Gives leaves to a tree that end it: the map says that they are under a page of it which does not reference
  /// them, as where that page is of before they were added.
  private mutating func takeLastLeaves() throws {
    var unreached = try unreachedPage(after: 1)
    while let (page, parent) = unreached {
      unreached = try unreachedPage(after: page)
      guard role(of: parent) == .interior, let (first, last) = try ends(of: page),
        try image.kind(of: page) == TreePage.Kind.tableLeaf.rawValue
      else { continue }
      let root = owner(of: parent)
      guard let greatest = greatest[root], first > greatest else { continue }
      roles[page - 1] = .adopted
      owners[page - 1] = Int32(clamping: root)
      self.greatest[root] = last
    }
  }

  /// The next page of a table that no tree references and that the map has under another page. They are not listed:
  /// without a schema they are nearly all pages there are.
  private mutating func unreachedPage(after number: Int) throws -> (page: Int, parent: Int)? {
    guard isMapped, number < image.pageCount else { return nil }
    for page in number + 1...image.pageCount where role(of: page) == .unknown {
      let kind = try image.kind(of: page).flatMap { TreePage.Kind(rawValue: $0) }
      guard kind == .tableLeaf || kind == .tableInterior, let entry = try pointers?.entry(page),
        entry.kind == .tree
      else { continue }
      return (page, entry.parent)
    }
    return nil
  }

  /// Walks the trees of tables that no schema names, from where the pages say that they begin.
  private mutating func walkUnknownRoots(_ parents: StrayParents) throws {
    for page in 1...max(1, image.pageCount) where role(of: page) == .unknown {
      let kind = try image.kind(of: page).flatMap { TreePage.Kind(rawValue: $0) }
      guard kind == .tableLeaf || kind == .tableInterior else { continue }
      let isRoot =
        if let entry = try pointers?.entry(page) {
          entry.kind == .root
        } else {
          pointers == nil && kind == .tableInterior && parents[page] == nil
        }
      if isRoot { try walk(page) }
    }
  }

  /// The first and the last key of a leaf; `nil` for one without rows.
  func ends(of number: Int) throws -> (Int64, Int64)? {
    guard let page = try image.page(number) else { return nil }
    let start = (number == 1 ? FileHeader.size : 0)
    func key(_ index: Int) -> Int64? {
      TreeCell(
        page.bytes, at: BigEndian.half(page.bytes, start + 8 + 2 * index), present: page.present,
        usable: image.usable)?.key
    }
    let count = BigEndian.half(page.bytes, start + 3)
    guard count > 0, start + 8 + 2 * count <= page.bytes.count, let first = key(0),
      let last = key(count - 1)
    else { return try someEnds(of: page) }
    return (first, last)
  }

  /// The same of a leaf of which not every cell can be read.
  private func someEnds(of page: DatabaseImage.Page) throws -> (Int64, Int64)? {
    guard let tree = TreePage(page.bytes, number: page.number, usable: image.usable) else {
      return nil
    }
    let keys = tree.cells(in: page.bytes).compactMap {
      TreeCell(page.bytes, at: $0, present: page.present, usable: image.usable)?.key
    }
    guard let first = keys.first, let last = keys.last else { return nil }
    return (first, last)
  }

  /// The page above each that an interior page references which itself no tree reached.
  private func strayParents() throws -> StrayParents {
    var parents = StrayParents(pageCount: image.pageCount)
    for number in 1...max(1, image.pageCount) where role(of: number) == .unknown {
      guard try image.kind(of: number) == TreePage.Kind.tableInterior.rawValue,
        let page = try image.page(number),
        let tree = TreePage(page.bytes, number: number, usable: image.usable),
        tree.isSound(in: page.bytes)
      else { continue }
      for child in tree.children(in: page.bytes) { parents[child] = number }
    }
    return parents
  }

  /// The root above a page: by the pointer map, else by the interior pages that are there; 0 where it is
  /// not known, the page itself where nothing references it.
  ///
  /// - Parameters:
  ///   - gone: the roots of the pages that trees lack.
  ///   - isUnmapped: whether the part of the pointer map is lost that has the page.
  private mutating func root(
    of page: Int, _ parents: StrayParents, _ gone: [Int: Int], isUnmapped: Bool
  ) throws -> Int {
    var page = page
    // No tree is deeper.
    for _ in 0..<24 {
      if let root = gone[page] { return root }
      guard let entry = try pointers?.entry(page) else {
        guard let parent = parents[page], parent != page else {
          return (pointers == nil || isUnmapped) && parents[page] == nil ? 0 : page
        }
        page = parent
        continue
      }
      switch entry.kind {
      case .root: return page
      case .tree: page = entry.parent
      default: return 0
      }
    }
    return 0
  }
}
