import ManagedModel

/// The sign between two sides, with its options.
struct TextComparison {
  var comparator: Predicate.Comparator
  var options: Predicate.Options

  /// Whether two values are the same, with the same options.
  var equal: TextComparison { TextComparison(comparator: .equal, options: options) }

  /// The same with its sides changed; `nil` where they cannot.
  var turned: TextComparison? {
    let comparator: Predicate.Comparator
    switch self.comparator {
    case .equal, .notEqual: comparator = self.comparator
    case .less: comparator = .greater
    case .lessOrEqual: comparator = .greaterOrEqual
    case .greater: comparator = .less
    case .greaterOrEqual: comparator = .lessOrEqual
    default: return nil
    }
    return TextComparison(comparator: comparator, options: options)
  }

  var isOrder: Bool {
    switch comparator {
    case .less, .lessOrEqual, .greater, .greaterOrEqual: true
    default: false
    }
  }

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
