/// What a key can ask for, free of which key it is.
package enum Action: Sendable, Hashable {
  // Everywhere
  case show(Screen)
  case undo, redo
  case help, chooseTheme, warnings, quit, interrupt, suspend, repaint
  case palette
  /// The key itself says where to: arrows, paging, j, k, g, G.
  case navigate
  case nextPane, previousPane
  // Browse
  case search
  case open, back, forward, related, sort, leftColumn, rightColumn
  case columnToLeft, columnToRight, hideColumn, columns, freeze, narrower, wider, resetColumns
  case label
  // Diff and Mapping
  case nextChange, previousChange, onlyChanges, chooseVersion, allowLoss
  case planCompared, fold, unfold, foldAll, endSearch, showCode, allowAll, suggest, setValue,
    deleteObjects, findings
  case removeEdit, writeRecipe, rehearse, otherPath, revisions, throughVersions, complete
  // Migrate
  case migrate, planAgain
  case pauseBeforeCutover, confirmCutover, discardResult, browseResult, closeReceipt
  case rollBack, writeReceipt, log, reopen
  // Rescue
  case salvage, lookAgain, undelete, repair, remains, showReceipt
  // Files
  case otherStore
  case hiddenFiles, homeFolder
  // Looking
  case storePanel, searchEverywhere, frequencies, copy, export, viewValue, showAsBytes
  // Layers
  case close, choose, confirm, cancel
  case nextTheme
}

extension Action {
  /// What the configuration file and `strata keys` call it; it stays when titles change.
  package var name: String {
    switch self {
    case .show(let screen): screen.title.lowercased()
    default: String(String(describing: self).prefix { $0 != "(" })
    }
  }

  /// Whether a number typed before the key does it so many times.
  var isRepeatable: Bool {
    switch self {
    case .navigate, .leftColumn, .rightColumn, .nextChange, .previousChange, .undo, .redo,
      .nextPane, .previousPane, .back:
      true
    default: false
    }
  }
}
