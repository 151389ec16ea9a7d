import ManagedModel
import SwiftModels

extension LintRule {
  static let liveTypeInFrozenSchema = the("swiftdata-live-type-in-frozen-schema")
}

/// What is odd about versions in Swift source.
struct SwiftDataChecks {
  let subject: LintSubject

  func findings() -> [LintFinding] { liveTypes() }

  /// Classes that a version and a later one share, one finding for each class. Where there are no
  /// stages no version is frozen.
  private func liveTypes() -> [LintFinding] {
    guard subject.now.stagedPlan != nil else { return [] }
    let versions = subject.now.sequence
    var names: [String] = []
    var usersByName: [String: [(version: LintedModel.Version, type: SourceVersion.Class)]] = [:]
    for version in versions {
      var own: Set<String> = []
      for type in version.source?.classes ?? [] where own.insert(type.name).inserted {
        if usersByName[type.name] == nil { names.append(type.name) }
        usersByName[type.name, default: []].append((version, type))
      }
    }
    return names.compactMap { name in
      let users = usersByName[name] ?? []
      let frozen = users.dropLast().filter { !$0.type.isInside }
      guard let first = frozen.first, let last = users.last else { return nil }
      let list = frozen.map { "“\($0.version.name)”" }.joined(separator: ", ")
      let verb = first.type.isListed ? "list" : "reach"
      return LintFinding(
        .liveTypeInFrozenSchema,
        at: first.version.source?.place.map { LintPlace(path: $0.path, line: $0.line) }
          ?? first.version.place(of: first.type.entity),
        version: first.version.name, entity: first.type.entity,
        "\(list) \(frozen.count == 1 ? verb + (verb == "reach" ? "es" : "s") : verb) \(name), which is declared outside of the version (\(first.type.place)) and is also used by “\(last.version.name)”."
      )
    }
  }
}
