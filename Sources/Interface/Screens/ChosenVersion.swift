import ManagedModel
import Migration
import Terminal

/// The version that a person chose to migrate to, for finding it again.
struct ChosenVersion: Codable, Sendable, Equatable {
  var name: String
  var path: String
  /// Whether it comes from the last time, and has not been reported.
  var isTakenUp = false

  private enum CodingKeys: CodingKey { case name, path }

  init(_ version: ModelVersion) {
    name = version.name
    path = version.path
  }

  /// By its path; by its name where the store is looked at from another folder.
  func index(in versions: [ModelVersion]) -> Int? {
    if let index = versions.firstIndex(where: { $0.path == path }) { return index }
    let named = versions.indices.filter { versions[$0].name == name && !versions[$0].path.isEmpty }
    return named.count == 1 ? named.first : nil
  }
}

extension MappingScreen {
  /// A person chose the version: it stays the one until another is chosen.
  mutating func choose(_ index: Int, in state: inout State) -> [Effect] {
    guard let version = state.versions.element(index) else { return [] }
    chosen = ChosenVersion(version)
    return plan(to: index, in: &state)
  }

  /// Goes on to the version that was chosen; reads it where it is not among the others.
  mutating func takeChosen(in state: inout State) -> [Effect] {
    // What the command line names comes before what was chosen the last time.
    if chosen?.isTakenUp == true, state.versions.contains(where: \.isWanted) { chosen = nil }
    guard let chosen else {
      setDestination(state.versions.destinationIndex, in: state)
      return []
    }
    if let index = chosen.index(in: state.versions) {
      goOn(to: index, in: &state)
      return []
    }
    return state.ask(&chosenTask) { .find($0, .models(path: chosen.path)) }
  }

  /// The chosen version was read from where it lies.
  mutating func takeChosen(among versions: [ModelVersion], in state: inout State) -> [Effect] {
    let known = Set(state.versions.map(\.path))
    state.versions += versions.filter { !known.contains($0.path) }
    guard let index = chosen?.index(in: state.versions) else {
      missChosen(&state.notice)
      return []
    }
    goOn(to: index, in: &state)
    return [.mapping, .migrate].contains(state.screen) ? enter(in: &state) : []
  }

  private mutating func goOn(to index: Int, in state: inout State) {
    guard let chosen else { return }
    let version = state.versions[index]
    // Migrated to it, the store goes to what comes next; rolled back, to this one again.
    guard !version.isStores else {
      setDestination(state.versions.destinationIndex, in: state)
      return
    }
    if chosen.path != version.path, let edits = self.edits.removeValue(forKey: chosen.path) {
      self.edits[version.path] = edits
    }
    self.chosen = ChosenVersion(version)
    setDestination(index, in: state)
    guard chosen.isTakenUp else { return }
    let count = currentEdits.all.count
    let changes = count == 0 ? "" : " and \(NumberText.counted(count, "change"))"
    let verb = count == 0 ? "is" : "are"
    state.notice = Notice(
      "the target \(version.name)\(changes) \(verb) restored from the last session")
  }

  mutating func missChosen(_ notice: inout Notice?) {
    isChosenGone = true
    (to, editsKey) = (nil, "")
    notice = Notice(
      "\(chosen?.name ?? "the version") that was chosen no longer exists; o chooses another",
      .warning)
  }
}
