import ManagedModel

/// Something that is true of a row that breaks a rule of the model.
struct RowRule {
  let kind: FindingKind
  var severity: Finding.Severity?
  /// The error of Core Data's that it is, where it is not the kind's.
  var code: CoreDataError.Code?
  /// What to do about it, where that is not the kind's advice; Core Data says nothing of it then.
  var advice: Advice?
  /// Whether a look at the objects is all that helps, other than with the rest of the kind.
  var isLookedAt = false
  let property: String?
  /// SQL over the row `t`.
  let condition: String
  /// What such objects have, as the rest of a sentence.
  let what: String
  /// NSPredicate text that takes these rows; `nil` where none does.
  var predicate: String?
}
