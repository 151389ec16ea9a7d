import ManagedModel
import SwiftModels

/// What is odd about versions in Swift source.
struct SwiftDataChecks {
  let subject: LintSubject

  func findings() -> [LintFinding] {
    let versions = subject.now.sequence
    return versions.enumerated().dropLast().flatMap { index, version -> [LintFinding] in
      guard let source = version.source, source.place != nil else { return [] }
      return source.classes.filter { !$0.isInside }.compactMap { type in
        let later = versions[(index + 1)...].first { later in
          later.source?.classes.contains { $0.name == type.name } ?? false
        }
        return later.map { finding(type, of: version, also: $0) }
      }
    }
  }

  private func finding(
    _ type: SourceVersion.Class, of version: LintedModel.Version, also later: LintedModel.Version
  ) -> LintFinding {
    let verb = type.isListed ? "lists" : "reaches"
    let place = version.source?.place.map { LintPlace(path: $0.path, line: $0.line) }
    return LintFinding(
      .liveTypeInFrozenSchema, at: place ?? version.place(of: type.entity), version: version.name,
      entity: type.entity,
      "“\(version.name)” \(verb) \(type.name), which is declared outside of it (\(type.place)) and is also used by “\(later.name)”."
    )
  }
}
