import ManagedModel
import Migration

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
  mutating func choose(_ index: Int, in context: inout Context) -> [Effect] {
    guard let version = context.versions.element(index) else { return [] }
    chosen = ChosenVersion(version)
    return plan(to: index, in: &context)
  }

  /// Goes on to the version that was chosen; reads it where it is not among the others.
  mutating func takeChosen(in context: inout Context) -> [Effect] {
    // What the command line names comes before what was chosen the last time, and is chosen by it.
    if chosen?.isTakenUp ?? true, let wanted = context.versions.first(where: \.isWanted) {
      chosen = wanted.isStores ? nil : ChosenVersion(wanted)
    }
    guard let chosen else {
      setDestination(context.versions.destinationIndex, in: context)
      return []
    }
    if let index = chosen.index(in: context.versions) {
      goOn(to: index, in: &context)
      return []
    }
    return context.ask(&chosenTask) { .find($0, .models(path: chosen.path)) }
  }

  /// The chosen version was read from where it lies.
  mutating func takeChosen(among versions: [ModelVersion], in context: inout Context) -> [Effect] {
    context.take(versions)
    guard let index = chosen?.index(in: context.versions) else {
      missChosen(&context.notice)
      return []
    }
    goOn(to: index, in: &context)
    return [.mapping, .migrate].contains(context.screen) ? enter(in: &context) : []
  }

  private mutating func goOn(to index: Int, in context: inout Context) {
    guard let chosen else { return }
    let version = context.versions[index]
    // Migrated to it, the store goes to what comes next; rolled back, to this one again.
    guard !version.isStores else {
      setDestination(context.versions.destinationIndex, in: context)
      return
    }
    if chosen.path != version.path, let edits = self.edits.removeValue(forKey: chosen.path) {
      self.edits[version.path] = edits
    }
    self.chosen = ChosenVersion(version)
    setDestination(index, in: context)
    guard chosen.isTakenUp else { return }
    let count = currentEdits.all.count
    let changes = count == 0 ? "" : " and \(NumberText.counted(count, "change"))"
    let verb = count == 0 ? "is" : "are"
    context.notice = Notice(
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
