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
  case open, back, sort, leftColumn, rightColumn
  // Diff and Mapping
  case nextChange, previousChange, onlyChanges, chooseVersion, allowLoss
  case planCompared, fold, unfold, foldAll, endSearch, showCode, allowAll, suggest, setValue,
    deleteObjects
  case removeEdit, writeRecipe, rehearse, otherPath, revisions, throughVersions, complete
  // Migrate
  case migrate, planAgain
  case pauseBeforeCutover, confirmCutover, discardResult, browseResult, closeReceipt
  case rollBack, writeReceipt, log, reopen
  // Layers
  case close, choose, confirm, cancel
}
