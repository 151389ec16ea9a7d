import ManagedStore

/// Where a person was in a store and how it was arranged, for the next time.
package struct SavedSession: Codable, Sendable, Equatable {
  var view = ViewState()
  var screen = Screen.browse.rawValue
  var pane = BrowseScreen.Pane.rows.rawValue
  /// The selected row, such as `Recipe/p12`.
  var row: String?
  var dividers = Dividers()
  var palette = PaletteMemory()
  /// The version to migrate to, where one was chosen.
  var target: ChosenVersion?
}

extension SavedSession {
  /// What another version of the program left out or wrote otherwise comes as it would again.
  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init()
    view = (try? values.value(.view)) ?? view
    screen = (try? values.value(.screen)) ?? screen
    pane = (try? values.value(.pane)) ?? pane
    row = try? values.value(.row)
    dividers = (try? values.value(.dividers)) ?? dividers
    palette = (try? values.value(.palette)) ?? palette
    target = try? values.value(.target)
  }
}

extension State {
  /// How the store is seen now, for the next time.
  package var saved: SavedSession {
    // Of the store itself, whatever is looked at.
    let browse = known.remains.isShown ? otherBrowse : browse
    return SavedSession(
      view: ViewState(browse: browse.view, diff: diff.view, mapping: mapping.view),
      screen: (screen == .rescue ? .browse : screen).rawValue, pane: browse.focus.rawValue,
      row: browse.table?.window.selectedRow?.id.description, dividers: known.dividers,
      palette: paletteMemory, target: mapping.chosen)
  }

  /// Has the store shown as it was left, once it is open.
  package mutating func restore(_ session: SavedSession) {
    restoring = session
    known.dividers = session.dividers
    paletteMemory = session.palette
  }

  /// The store is open: goes where it was left.
  mutating func takeUp() -> [Effect] {
    guard let session = restoring else { return [] }
    restoring = nil
    var effects = arrange(session.view)
    mapping.chosen = session.target
    mapping.chosen?.isTakenUp = true
    if let row = session.row.flatMap({ ObjectID($0) }) {
      effects = Effect.joined(effects, on(BrowseScreen.self) { $0.begin(at: row, in: &$1) })
    }
    screen = Screen(rawValue: session.screen) ?? .browse
    browse.focus = BrowseScreen.Pane(rawValue: session.pane) ?? .rows
    on(BrowseScreen.self) {
      $0.fit($1)
      return []
    }
    return effects
  }
}
