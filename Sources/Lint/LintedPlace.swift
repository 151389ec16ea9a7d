import ManagedModel
import ModelSearch

/// A version that somebody chose, and what it lies in.
struct LintedPlace {
  let version: LintedModel.Version
  /// Everything around it, as it is now or as a revision has it; `nil` for a model that is in no file
  /// with versions, such as a store's own.
  let target: LintTarget?
  /// The one of the target's models that it is of.
  let model: LintedModel?
  /// The revision that it was read from.
  let revision: String?

  /// Finds where a version lies: that gives its findings a file and a line.
  ///
  /// - Parameter known: what was read already, for a version of the same.
  init(_ side: LintComparison.Side, known: LintTarget? = nil) {
    let reference = ModelReference(side.path)
    // `PATH@VERSION@REVISION` names both.
    let outer = reference.version == nil ? nil : ModelReference(reference.path)
    let path = (outer ?? reference).path.withoutSlash
    if !path.isEmpty {
      let now = known?.path == path ? known : try? LintTarget(path)
      if let now, let found = Self.version(side, in: now) {
        (version, model, target, revision) = (found.0, found.1, now, nil)
        return
      }
      if let name = reference.version, let then = try? LintTarget("\(path)@\(name)"),
        let found = Self.version(side, in: then)
      {
        (version, model, target, revision) = (found.0, found.1, then, name)
        return
      }
    }
    version = LintedModel.Version(
      name: side.name, model: side.model, hashes: side.model.versionHashes, file: side.path)
    (model, target, revision) = (nil, nil, nil)
  }

  /// The very model that is meant: what was edited since it was read is another.
  private static func version(
    _ side: LintComparison.Side, in target: LintTarget
  ) -> (LintedModel.Version, LintedModel)? {
    let same = target.models.flatMap { model in
      model.versions.filter { $0.model == side.model }.map { ($0, model) }
    }
    return same.first { $0.0.name == side.name } ?? same.first
  }
}
