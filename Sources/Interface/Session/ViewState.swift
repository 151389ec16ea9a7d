import Migration

/// What a person has arranged to see: undone step by step, and restored with the session.
///
/// Places (the selected row, the pane with the keys) are no part of it, since moving is undone by
/// moving.
struct ViewState: Codable, Sendable, Equatable {
  var browse = BrowseView()
  var diff = DiffView()
  var mapping = MappingView()

  init() {}

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    browse = try values.decodeIfPresent(BrowseView.self, forKey: .browse) ?? BrowseView()
    diff = try values.decodeIfPresent(DiffView.self, forKey: .diff) ?? DiffView()
    mapping = try values.decodeIfPresent(MappingView.self, forKey: .mapping) ?? MappingView()
  }
}

/// Which rows of which entity are seen, and how.
struct BrowseView: Codable, Sendable, Equatable {
  var entity: String?
  /// The tables that were arranged otherwise than they come, by entity.
  var tables: [String: TableView] = [:]
  /// Filters that were used, by entity, the newest last. Going back takes none of them away.
  var filters: [String: [String]] = [:]
  /// The attribute that tells an entity's objects where one was chosen; empty for their keys.
  var labels: [String: String] = [:]

  init() {}

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    entity = try values.decodeIfPresent(String.self, forKey: .entity)
    tables = try values.decodeIfPresent([String: TableView].self, forKey: .tables) ?? [:]
    filters = try values.decodeIfPresent([String: [String]].self, forKey: .filters) ?? [:]
    labels = try values.decodeIfPresent([String: String].self, forKey: .labels) ?? [:]
  }
}

/// How two versions are compared.
struct DiffView: Codable, Sendable, Equatable {
  var showsOnlyChanges = false
  /// Entities whose properties are hidden.
  var folded: Set<String> = []

  init() {}

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    // Sessions of earlier versions know less.
    showsOnlyChanges = try values.decodeIfPresent(Bool.self, forKey: .showsOnlyChanges) ?? false
    folded = try values.decodeIfPresent(Set<String>.self, forKey: .folded) ?? []
  }
}

/// What was changed of the mappings by hand.
struct MappingView: Codable, Sendable, Equatable {
  /// By the path of the version that they lead to.
  var edits: [String: MappingEdits] = [:]

  init() {}
}

/// The arrangements that were, for going back to them.
struct ViewHistory: Sendable, Equatable {
  private static let limit = 200

  private(set) var past: [ViewState] = []
  private(set) var future: [ViewState] = []

  /// Something else was arranged: what was before can be had again.
  mutating func left(_ view: ViewState) {
    past.append(view)
    if past.count > Self.limit { past.removeFirst() }
    future = []
  }

  /// The arrangement to go back to, or forward.
  mutating func step(back: Bool, from now: ViewState) -> ViewState? {
    guard let view = back ? past.popLast() : future.popLast() else { return nil }
    if back { future.append(now) } else { past.append(now) }
    return view
  }
}

extension State {
  var view: ViewState {
    var view = ViewState()
    view.browse = browse.view
    view.diff = diff.view
    view.mapping = mapping.view
    return view
  }

  /// Arranges everything as it was; what no longer fits the store is left as it is.
  mutating func arrange(_ view: ViewState) -> [Effect] {
    on(BrowseScreen.self) { $0.arrange(view.browse, in: &$1) }
      + on(DiffScreen.self) { $0.arrange(view.diff, in: &$1) }
      + on(MappingScreen.self) { $0.arrange(view.mapping, in: &$1) }
  }

  mutating func stepView(back: Bool) -> [Effect] {
    let now = view
    guard let view = history.step(back: back, from: now) else { return [] }
    let effects = arrange(view)
    let changed = ViewChange.words(from: now, to: view)
    let text = (back ? "undone" : "done again") + (changed.isEmpty ? "" : ": " + changed)
    if notice == nil { notice = Notice(text) }
    return effects
  }
}
