import ManagedModel
import SwiftModels

extension LintRun {
  /// Looks at one step, be its versions neighbours or not, and at the version that it leads to.
  ///
  /// - Parameters:
  ///   - target: what the versions lie in, for silences and for mappings beside them.
  ///   - plan: the plan that both are of.
  init(
    from: LintedModel.Version, to: LintedModel.Version, in target: LintTarget, plan: SourcePlan?,
    _ options: LintOptions, _ configuration: LintConfiguration
  ) throws {
    levels = configuration.levels.merging(options.levels) { $1 }
    models = target.models.map(\.path)
    let documents = try documents(beside: target, options)
    let step = LintStep(from: from, to: to, plan: plan, documents: documents)
    let model = LintedModel(path: to.file, form: .single, versions: [to], currentName: to.name)
    let mirrored = Self.cloudKit(model, target, options, configuration, []) != nil
    sort(
      StepChecks(step: step, looksAtRows: false).findings()
        + Self.findings(of: to, mirrored: mirrored, deployed: from),
      Silences(target.models), configuration)
    setAside(Self.findings(of: from, mirrored: mirrored))
  }
}
