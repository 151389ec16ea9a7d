extension State {
  /// Whether what the first screen shows is there: the store, and its rows with their names. Numbers
  /// and the versions beside the store come when they come.
  package var isFilled: Bool {
    guard picker == nil, refusal == nil else { return true }
    guard store != nil else { return false }
    return screen != .browse || browse.isFilled
  }
}

extension BrowseScreen {
  fileprivate var isFilled: Bool {
    rowsTask == nil && namesTask == nil && objectTask == nil && inspectedNamesTask == nil
  }
}

extension Effect {
  /// Whether it may begin when the first screen is there, which it would only keep waiting.
  package var canWait: Bool {
    switch self {
    case .ask(_, let request): request.canWait
    case .versions: true
    default: false
    }
  }
}
