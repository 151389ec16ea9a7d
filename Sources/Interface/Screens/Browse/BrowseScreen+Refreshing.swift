import Comparison
import ManagedModel
import ManagedStore
import Terminal

/// Rows while another program saves to the store.
extension BrowseScreen {
  /// Reads the rows in the window again where they stand, and the object in the inspector.
  mutating func refresh(in context: inout Context) -> [Effect] {
    guard let table else { return [] }
    isStale = rowsTask != nil
    // What is being read may be of before; it is read again when it has come.
    guard !isStale else { return [] }
    var window = table.window.trimmed()
    let anchor = window.beginAgain()
    self.table?.window = window
    var query = table.page(anchor)
    query.limit = window.rows.count + RowWindow.page
    let limit = query.limit
    return read(.again(limit: limit), in: &context) { _ in .rows(query) } + load(in: &context)
  }

  var isReadingAgain: Bool { if case .again = reading { true } else { false } }

  /// What became of the object in the inspector.
  func change(in context: Context) -> ObjectChange? {
    inspector.object.flatMap { context.marks[$0] }
  }

  /// Takes the rows of the window as they are now.
  mutating func takeAgain(_ page: RowPage, limit: Int, in context: inout Context) -> [Effect] {
    let marks = context.marks
    let isWhole = page.rows.count < limit
    table?.takeAgain(page, isLast: isWhole) { marks[$0]?.kind == .delete }
    if table?.isFiltered == true, !isWhole, matchesTask == nil, let query = table?.query() {
      return context.ask(&matchesTask) { .ask($0, .countRows(query)) }
    }
    return []
  }

  /// Counts what was saved with the objects that are there.
  mutating func count(_ changes: [ComparisonSummary.EntityCount], in context: inout Context) {
    var counts = ownCounts
    for change in changes {
      if let known = counts[change.entity] {
        counts[change.entity] = max(0, known + change.inserted - change.deleted)
      }
    }
    if counts != ownCounts { take(counts, in: &context) }
  }
}

extension RowTable {
  mutating func takeAgain(
    _ page: RowPage, isLast: Bool, keeping isDeleted: (ObjectID) -> Bool
  ) {
    window.takeAgain(page.rows, isLast: isLast, keeping: isDeleted)
    names.askAgain()
    widen(to: window.near.map { window.rows[$0] })
  }
}

extension Known {
  /// What became of the objects that Browse shows; nothing is known of deleted ones that were found.
  var marks: [ObjectID: ObjectChange] { remains.isShown ? [:] : news.marks }
}
