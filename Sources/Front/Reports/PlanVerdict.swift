import ManagedModel
import Migration

/// Whether a plan can be carried out: one answer and one wording for commands and screens.
package enum PlanVerdict: Sendable, Equatable {
  case canMigrate, nothingToDo
  /// Rows break rules of the destination.
  case failing([DataCheck])
  /// Losses that are not accepted.
  case losing([Loss])
  /// What has nothing to do with models and data.
  case hindered(CoreDataError)

  package static let can = "can migrate"
  package static let cannot = "cannot migrate"

  /// - Parameter allowed: names of losses that are accepted.
  package init(_ plan: MigrationPlan, allowing allowed: Set<String>) {
    let losses = plan.unallowedLosses(allowed)
    self =
      plan.isNothingToDo
      ? .nothingToDo
      : !plan.failures.isEmpty
        ? .failing(plan.failures)
        : !losses.isEmpty
          ? .losing(losses) : plan.obstacles.first.map { .hindered($0) } ?? .canMigrate
  }

  /// Why the plan cannot be carried out, as a clause; `nil` where it can.
  package var reason: String? {
    switch self {
    case .canMigrate: nil
    case .nothingToDo: "the store already has that model"
    case .failing(let checks): checks.summary
    case .losing(let losses):
      losses.first.map { "\($0.counted) of \($0.name) would be lost" + Self.more(losses.count) }
    case .hindered(let error): error.message
    }
  }

  static func more(_ count: Int) -> String { count > 1 ? ", and \(count - 1) more" : "" }
}

extension [DataCheck] {
  /// The first, and how many more there are.
  package var summary: String {
    first.map { "\($0.place): \($0.summary)" + PlanVerdict.more(count) } ?? ""
  }
}

extension Loss {
  /// What is counted of it: `3 objects`, `1 value`.
  package var counted: String {
    NumberText.counted(values, singular)
      + (misfit.map { " " + $0.clause } ?? "")
  }
}

extension [Loss] {
  /// What goes in all: `3 objects and 12 values`.
  package var counted: String {
    let objects = filter { $0.property == nil }.reduce(0) { $0 + $1.values }
    let values = filter { $0.property != nil }.reduce(0) { $0 + $1.values }
    return [
      objects > 0 ? NumberText.counted(objects, "object") : nil,
      values > 0 ? NumberText.counted(values, "value") : nil,
    ].compactMap { $0 }.joined(separator: " and ")
  }
}
