import Salvage
import StoreTables

/// Shows which join tables trees of keys are of, by what else is in the file.
struct JoinWitnesses {
  private let source: SalvageSource

  init(_ source: SalvageSource) { self.source = source }

  /// The tables that have an index with all rows of a group, and with no others where all of these are at hand, by
  /// group: indexes that the schema still lists though it does not list the table.
  ///
  /// - Parameters:
  ///   - tables: the names of those that come into question.
  ///   - rows: rows of each group, by their own keys.
  ///   - known: where pages of two stores are mixed, the first rows of tables whose trees are known, by name and key.
  ///     What leads to an index may be the other store's then. One that has other rows than its own table, or
  ///     all rows of another one, shows nothing.
  /// - Throws: `CoreDataError` where the file cannot be read.
  func byIndexes(
    of tables: Set<String>, rows: [Int: [Int64: [Int64]]],
    known: [String: [Int64: [Int64]]] = [:]
  ) throws -> [Int: Set<String>] {
    var result: [Int: Set<String>] = [:]
    var groups: [Int64: [Int]] = [:]
    for (group, rows) in rows { for key in rows.keys { groups[key, default: []].append(group) } }
    for entry in source.objects where entry.object.type == "index" && entry.root > 1 {
      guard let table = Self.table(of: entry.object), tables.contains(table) else { continue }
      var count = 0
      var equal: [Int: Int] = [:]
      var (equalOfKnown, isOfOthers): ([String: Int], Bool) = ([:], false)
      var entries = IndexEntries(source.image)
      try IndexTree.leaves(of: entry.root, in: source.image) { leaf in
        try entries.entries(of: leaf) { key, record in
          count += 1
          let values = (0..<min(2, record.count - 1)).compactMap { record.integer($0) }
          for group in groups[key] ?? [] {
            guard let link = rows[group]?[key], Self.isEntry(values, of: link) else { continue }
            equal[group, default: 0] += 1
          }
          for (name, rows) in known {
            guard let link = rows[key] else { continue }
            if Self.isEntry(values, of: link) {
              equalOfKnown[name, default: 0] += 1
            } else if name == table {
              isOfOthers = true
            }
          }
        }
      }
      let isOfAnother = known.contains { name, rows in
        name != table && Self.isWhole(equalOfKnown[name] ?? 0, of: rows.count, count)
      }
      guard !isOfOthers, !isOfAnother else { continue }
      for (group, found) in equal {
        guard let own = rows[group]?.count, Self.isWhole(found, of: own, count) else { continue }
        result[group, default: []].insert(table)
      }
    }
    return result
  }

  /// Whether an entry of an index, or the one value of it, is a link in either order.
  private static func isEntry(_ values: [Int64], of link: [Int64]) -> Bool {
    let keys = Array(link.prefix(2))
    guard keys.count == 2 else { return false }
    return values.count == 1
      ? keys.contains(values[0]) : values == keys || values == keys.reversed()
  }

  /// Whether an index has all rows of a sample, and no others where the sample is all there are.
  private static func isWhole(_ equal: Int, of rows: Int, _ entries: Int) -> Bool {
    equal > 0 && equal == rows && (rows == entries || rows >= JoinPlacing.sampleSize)
  }

  private static func table(of index: SchemaObject) -> String? {
    if let sql = index.sql { return SalvageSource.table(ofIndex: sql) }
    let prefix = "sqlite_autoindex_"
    guard index.name.hasPrefix(prefix), let end = index.name.lastIndex(of: "_") else { return nil }
    let first = index.name.index(index.name.startIndex, offsetBy: prefix.count)
    return first < end ? String(index.name[first..<end]) : nil
  }

  /// The tables of trees that stand between two known ones, where there are as many as Core Data makes between these
  /// in a new store, by the trees' roots.
  ///
  /// - Parameters:
  ///   - names: the tables in the order in which they are made.
  ///   - known: tables whose trees are known, by root.
  ///   - waiting: those that each other tree could be of, by root.
  /// - Throws: `CoreDataError` where the file cannot be read.
  func byOrder(
    _ names: [String], known: [Int: String], waiting: [Int: [String]]
  ) throws -> [Int: String] {
    guard let last = known.keys.max(), waiting.keys.contains(where: { $0 < last }) else {
      return [:]
    }
    let places = Dictionary(names.enumerated().map { ($0.element, $0.offset) }) { first, _ in first
    }
    let counts = Dictionary(grouping: known.values) { $0 }
    var (above, isInOrder) = (-1, true)
    var run: [Int] = []
    var result: [Int: String] = [:]
    for root in 2...last where isInOrder {
      if let name = known[root] {
        // A table of which several trees seem to be is at no known place.
        let place = counts[name]?.count == 1 ? places[name] : nil
        if let place {
          isInOrder = place > above
          if above >= 0, isInOrder, run.count == place - above - 1 {
            for (index, root) in run.enumerated() where waiting[root] != nil {
              result[root] = names[above + 1 + index]
            }
          }
          above = place
          run = []
        } else {
          // Nothing is known of what stands beside it.
          run += [root, root]
        }
      } else if try waiting[root] != nil || isEmptyTree(root) {
        run.append(root)
      }
    }
    guard isInOrder else { return [:] }
    return result.filter { waiting[$0.key]?.contains($0.value) == true }
  }

  /// Whether the tree of a table without a row begins at a page.
  private func isEmptyTree(_ number: Int) throws -> Bool {
    guard [0, number].contains(source.trees.owner(of: number)),
      try source.image.kind(of: number) == TreePage.Kind.tableLeaf.rawValue,
      let page = try source.image.page(number),
      let tree = TreePage(page.bytes, number: number, usable: source.image.usable)
    else { return false }
    return tree.count == 0 && tree.isSound(in: page.bytes)
  }
}
