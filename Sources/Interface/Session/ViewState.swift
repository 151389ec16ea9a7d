import Migration

/// What a person has arranged to see: undone step by step, and restored with the session.
///
/// Places (the selected row, the pane with the keys) are no part of it, since moving is undone by
/// moving.
struct ViewState: Codable, Sendable, Equatable {
  var browse = BrowseView()
  var diff = DiffView()
  var mapping = MappingView()
}

extension ViewState {
  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      browse: try values.value(.browse) ?? BrowseView(),
      diff: try values.value(.diff) ?? DiffView(),
      mapping: try values.value(.mapping) ?? MappingView())
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
}

extension BrowseView {
  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      entity: try values.value(.entity), tables: try values.value(.tables) ?? [:],
      filters: try values.value(.filters) ?? [:], labels: try values.value(.labels) ?? [:])
  }
}

/// How two versions are compared.
struct DiffView: Codable, Sendable, Equatable {
  var showsOnlyChanges = false
  /// Entities whose properties are hidden.
  var folded: Set<String> = []
}

extension DiffView {
  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      showsOnlyChanges: try values.value(.showsOnlyChanges) ?? false,
      folded: try values.value(.folded) ?? [])
  }
}

/// What was changed of the mappings by hand.
struct MappingView: Codable, Sendable, Equatable {
  /// By the path of the version that they lead to.
  var edits: [String: MappingEdits] = [:]
}

/// What was left, to go back to it and forward again: arrangements, or places.
struct Past<Place: Sendable & Equatable>: Sendable, Equatable {
  /// The most that are kept.
  let limit: Int
  private(set) var past: [Place] = []
  private(set) var future: [Place] = []

  init(limit: Int) { self.limit = limit }

  /// A place was left for another one: it can be had again.
  mutating func left(_ place: Place) {
    past.append(place)
    if past.count > limit { past.removeFirst() }
    future = []
  }

  /// The place to go back to, or forward; what is left for it is kept for the other way.
  mutating func step(back: Bool, from present: (Place) -> Place) -> Place? {
    guard let place = back ? past.popLast() : future.popLast() else { return nil }
    if back { future.append(present(place)) } else { past.append(present(place)) }
    return place
  }
}

extension State {
  var view: ViewState {
    ViewState(browse: browse.view, diff: diff.view, mapping: mapping.view)
  }

  /// Arranges everything as it was; what no longer fits the store is left as it is.
  mutating func arrange(_ view: ViewState) -> [Effect] {
    diff.arrange(view.diff)
    return on(BrowseScreen.self) { $0.arrange(view.browse, in: &$1) }
      + on(MappingScreen.self) { $0.arrange(view.mapping, in: &$1) }
  }

  mutating func stepView(back: Bool) -> [Effect] {
    let now = view
    guard let view = history.step(back: back, from: { _ in now }) else { return [] }
    let effects = arrange(view)
    let changed = ViewChange.words(from: now, to: view)
    let text = (back ? "undone" : "done again") + (changed.isEmpty ? "" : ": " + changed)
    if notice == nil { notice = Notice(text) }
    return effects
  }
}
