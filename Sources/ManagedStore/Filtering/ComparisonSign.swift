import ManagedModel

/// The sign between two sides, with its options.
struct ComparisonSign {
  var comparator: Predicate.Comparator
  var options: Predicate.Options

  /// Whether two values are the same, with the same options.
  var equal: ComparisonSign { ComparisonSign(comparator: .equal, options: options) }

  /// The same with its sides changed; `nil` where they cannot.
  var turned: ComparisonSign? {
    let turned: [Predicate.Comparator: Predicate.Comparator] = [
      .equal: .equal, .notEqual: .notEqual, .less: .greater, .lessOrEqual: .greaterOrEqual,
      .greater: .less, .greaterOrEqual: .lessOrEqual,
    ]
    return turned[comparator].map { ComparisonSign(comparator: $0, options: options) }
  }

  var isOrder: Bool { comparator != .equal && comparator.sqlSign != nil }

  var isText: Bool {
    switch comparator {
    case .matches, .like, .beginsWith, .endsWith, .contains: true
    default: false
    }
  }

  /// How text is compared, for the SQL functions.
  var flags: Int64 {
    var flags: Int64 = 0
    if options.contains(.caseInsensitive) { flags |= TextMatching.ignoringCase }
    if options.contains(.diacriticInsensitive) { flags |= TextMatching.ignoringMarks }
    return flags
  }

  func fold(_ sql: SQLText) -> SQLText {
    flags == 0 ? sql : "strata_fold(\(sql), \(number: flags))"
  }

  func fold(_ text: String) -> String {
    FoldedText.fold(
      text, ignoringCase: options.contains(.caseInsensitive),
      ignoringMarks: options.contains(.diacriticInsensitive))
  }
}
