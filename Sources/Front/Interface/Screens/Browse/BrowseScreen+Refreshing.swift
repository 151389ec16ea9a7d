import Comparison
import ManagedStore

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

  /// Reads the object in the inspector again if it changed, beside rows that stay: it shows its old and new values.
  mutating func loadChanged(in context: inout Context) -> [Effect] {
    change(in: context) == nil ? [] : load(in: &context)
  }

  var isReadingAgain: Bool { if case .again = reading { true } else { false } }

  /// What became of the object in the inspector.
  func change(in context: Context) -> ObjectChange? {
    inspector.object.flatMap { context.marks[$0] }
  }

  /// A program may have been writing: else the rows would stay old until its next save.
  mutating func readOnceMore(in context: inout Context) -> [Effect] {
    failedReadings += 1
    return failedReadings <= Self.mostReadings ? context.refresh() : []
  }

  private static let mostReadings = 20

  /// Takes the rows of the window as they are now.
  mutating func takeAgain(_ page: RowPage, limit: Int, in context: inout Context) -> [Effect] {
    failedReadings = 0
    let marks = context.marks
    let isWhole = page.rows.count < limit
    table?.takeAgain(page, isLast: isWhole) { marks[$0]?.kind == .delete }
    if table?.isFiltered == true, !isWhole, matchesTask == nil, let query = table?.query() {
      return context.ask(&matchesTask) { .ask($0, .countRows(query)) }
    }
    return []
  }

  /// Takes what was saved: counts it, and strikes the rows that were gone before it was known why.
  mutating func take(_ saves: [SeenSave], in context: inout Context) -> [Effect] {
    count(saves.flatMap(\.save.counts), in: &context)
    let marks = context.marks
    let isShown = table?.returnDeleted { marks[$0]?.kind == .delete }
    return isShown == true ? inspect(in: &context) : []
  }

  /// Counts what was saved with the objects that are there.
  private mutating func count(_ changes: [ComparisonSummary.EntityCount], in context: inout Context)
  {
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

  /// - Returns: whether there are rows to be shown again.
  mutating func returnDeleted(_ isDeleted: (ObjectID) -> Bool) -> Bool {
    guard window.returnDeleted(isDeleted) else { return false }
    widen(to: window.near.map { window.rows[$0] })
    return true
  }
}

extension Known {
  /// What became of the objects that Browse shows; nothing is known of deleted ones that were found.
  var marks: [ObjectID: ObjectChange] { remains.isShown ? [:] : news.marks }

  /// What is prepared for the objects that Browse shows.
  var shownPrepared: PreparedEdits { remains.isShown ? PreparedEdits() : prepared }
}
