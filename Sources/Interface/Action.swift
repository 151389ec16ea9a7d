/// What a key can ask for, free of which key it is.
package enum Action: Sendable, Hashable {
  // Everywhere
  case show(Screen)
  case undo, redo
  case help, nextTheme, warnings, quit, interrupt, suspend, repaint
  /// The key itself says where to: arrows, paging, j, k, g, G.
  case navigate
  case nextPane, previousPane
  // Browse
  case search
  case open, back, forward, related, sort, leftColumn, rightColumn
  case columnToLeft, columnToRight, hideColumn, columns, freeze, narrower, wider, resetColumns
  // Diff and Mapping
  case nextChange, previousChange, onlyChanges, chooseVersion, allowLoss
  // Migrate
  case migrate, planAgain
  // Layers
  case close, choose, confirm, cancel
}
