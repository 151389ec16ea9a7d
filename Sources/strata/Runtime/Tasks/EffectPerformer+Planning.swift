import Dispatch
import Files
import Interface
import ManagedModel
import ManagedStore
import Migration
import ModelSearch

/// What Diff and Mapping ask for.
extension EffectPerformer {
  /// - Returns: whether it was one of theirs.
  func performPlanning(_ effect: Effect) -> Bool {
    switch effect {
    case .plan(let id, let request):
      start(id) { [survey, mailbox] in
        .planned(
          try await survey.plan(request) { mailbox.post(.answer(id, .outlined($0))) })
      }
    case .rehearse(let id, let plan, let options): rehearse(id, plan, options)
    case .writeRecipe(let id, let file):
      start(id) {
        try file.write()
        return .written(path: file.path)
      }
    default: return false
    }
    return true
  }

  /// A migration in all its parts, on a copy in a private folder.
  private func rehearse(_ id: TaskID, _ plan: MigrationPlan, _ options: MigrationOptions) {
    start(id) { [self] in
      let folder = try PrivateFolder()
      let place = folder.path
      var copied = plan
      copied.storePath = try await Self.onQueue("strata.copy") {
        try Rehearsal.copy(plan.storePath, to: place)
      }
      try Task.checkCancellation()
      let stream = MigrationStream(copied, options: options)
      running.withLock { $0.migrations[id] = stream }
      var receipt: MigrationReceipt
      do {
        receipt = try await self.receipt(of: stream, id)
      } catch var error as CoreDataError {
        // The copy's name says nothing to a person.
        if error.path?.hasPrefix(place) == true { error.path = plan.storePath }
        throw error
      }
      (receipt.storePath, receipt.resultPath) = (plan.storePath, plan.storePath)
      return withExtendedLifetime(folder) { .migrated(receipt) }
    }
  }
}

extension RecipeFile {
  /// Writes the mapping down.
  ///
  /// - Throws: ``CoreDataError`` of kind refused where a file is there that is not to be replaced.
  func write() throws {
    if let refusal = OutputPlace.refusal(toWrite: "the recipe", at: path) { throw refusal }
    guard overwrites || FileIdentity(of: path) == nil else {
      throw CoreDataError(.refused, "the file is there already", path: path)
    }
    let text = Recipe.text(
      of: step.mapping, from: from, to: to, source: step.source, destination: step.destination)
    try FileSystem.replace(path, with: Array(text.utf8), isPrivate: false)
  }
}

/// Paths that a person may mean, from what is typed so far.
enum PathCompletion {
  private static let limit = 200

  /// Folders and models whose paths begin so, in the order of their names.
  static func paths(beginning text: String) -> [String] {
    let slash = text.lastIndex(of: "/")
    let folder = slash.map { String(text[...$0]) } ?? ""
    let start = slash.map { String(text[text.index(after: $0)...]) } ?? text
    let names = (try? FileSystem.list(folder.isEmpty ? "." : folder)) ?? []
    var paths: [String] = []
    for name in names.sorted() where name.hasPrefix(start) {
      guard !name.hasPrefix(".") || start.hasPrefix(".") else { continue }
      let path = folder + name
      let isModel =
        [".xcdatamodeld", ".momd", ".xcdatamodel", ".mom", ".swift", ".sqlite", ".store", ".db"]
        .contains { name.hasSuffix($0) }
      if isModel {
        paths.append(path)
      } else if FileSystem.isDirectory(path) {
        paths.append(path + "/")
      }
      if paths.count == limit { break }
    }
    return paths
  }
}
