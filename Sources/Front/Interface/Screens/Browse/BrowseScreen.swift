import ManagedModel
import ManagedStore

/// The entities, their rows, and the selected row's properties.
struct BrowseScreen: ScreenContent {
  static let title = "Browse"

  enum Pane: Int, Sendable, CaseIterable {
    case entities, rows, inspector
  }

  var focus = Pane.rows
  var tree = EntityTree()
  /// Objects of each entity, those of subentities included.
  var counts: [String: Int] = [:]
  /// Objects of exactly each entity.
  var ownCounts: [String: Int] = [:]
  var table: RowTable?
  var inspector = Inspector()
  /// The way over relationships to what is shown.
  var trail = Trail()
  /// Where the search for an entity began: Esc comes back to it.
  var searchStart: SearchStart?
  /// Why rows could not be read.
  var rowsError: CoreDataError?

  /// How the tables that are not shown were arranged.
  var views: [String: TableView] = [:]
  /// Filters that were used, by entity, the newest last.
  var formerFilters: [String: [String]] = [:]
  /// The arrangement that the rows in the window are of, to return to from one that is given up.
  var settled: Settled?

  struct Settled: Sendable, Equatable {
    var view: TableView
    var matches: Int?
  }

  enum Reading: Sendable, Equatable {
    case page(RowQuery.Anchor)
    case place(RowPlace)
    /// The row that was selected, where the arrangement has it.
    case keep(ObjectID)
    /// The rows of the window as they are now, at most so many.
    case again(limit: Int)
  }
  var rowsTask: TaskID?
  /// Which rows it reads.
  var reading = Reading.page(.start)
  /// Whether another program saved while they were read.
  var isStale = false
  /// How often rows could not be read again, in a row.
  var failedReadings = 0
  /// A page that could not be read, and is not asked for again and again.
  var unreadable: RowQuery.Anchor?
  var countTask: TaskID?
  /// How the objects are called that the rows, and the inspected object, reference.
  var namesTask: TaskID?
  var inspectedNamesTask: TaskID?
  /// Find out what goes along with the objects that are to be deleted.
  var deletions: [TaskID: ObjectID] = [:]
  /// Finds out where the rows come from.
  var sourcesTask: TaskID?
  /// The attributes that label objects.
  var labels = ObjectLabels()
  var objectTask: TaskID?
  var matchesTask: TaskID?
  /// Counts the rows that come before the one with a key.
  var placingTask: TaskID?
  var placedKey: Int64 = 0

  var view: BrowseView {
    var view = BrowseView(
      entity: table?.entity, tables: views, filters: formerFilters, labels: labels.choices)
    if let table { view.tables[table.entity] = table.view == TableView() ? nil : table.view }
    return view
  }

  /// Rows that an error takes below those that could be read.
  var errorRows: Int { rowsError != nil && table?.window.rows.isEmpty == false ? 1 : 0 }

  /// How many rows there are to be seen, where that is known.
  var total: Int? {
    guard let table else { return nil }
    if table.window.hasStart, table.window.hasEnd { return table.window.rows.count }
    return table.isFiltered ? table.matches : counts[table.entity]
  }
}

extension BrowseScreen {
  mutating func meet(_ occasion: Occasion, in context: inout Context) -> [Effect] {
    switch occasion {
    case .opened: return takeStore(in: &context)
    case .resized:
      fit(context)
      return readOn(in: &context)
    case .settled: return wantPictures(in: &context)
    case .versions, .moreVersions, .shown: return []
    }
  }
}
