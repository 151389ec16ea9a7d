import ManagedModel
import ManagedStore
import SQLite

extension Preflight {
  /// Rows whose value is in a file that is not there, or that cannot be read.
  func missingFiles(
    _ before: Attribute, from: String, _ attribute: Attribute, of to: String
  ) throws -> [DataCheck] {
    guard before.allowsExternalBinaryDataStorage,
      let found = try data.rowsWithoutFile(before.name, of: from)
    else { return [] }
    func check(
      _ files: SourceData.UnavailableFiles, _ message: String, _ hint: String
    ) -> [DataCheck] {
      guard files.rows > 0 else { return [] }
      let names = files.files.joined(separator: ", ") + (files.rows > files.files.count ? " …" : "")
      return [
        DataCheck(
          code: .migration, entity: to, property: attribute.name, rows: files.rows,
          first: files.first,
          message: "\(message): \(names)" + (files.reason.map { " (\($0))" } ?? ""), hint: hint,
          // A value that is to move into its row would lose even the file's name.
          isWarning: attribute.allowsExternalBinaryDataStorage, asked: files.files)
      ]
    }
    let folder = data.store.files.externalDataFolder
    return check(
      found.missing, "values in files that are not there",
      "Copy them from another copy of the store: into \(folder).")
      + check(
        found.unreadable, "values in files that are there and cannot be read",
        "Make them readable for this user: in \(folder).")
  }

  /// NULL in an attribute that was mandatory all along: what an app's own SQL or a damaged file
  /// leaves. The migration carries it over; the next save of such an object fails.
  func formerGaps(
    _ before: Attribute, from: String, _ attribute: Attribute,
    _ attributeMapping: AttributeMapping, of to: String
  ) throws -> [DataCheck] {
    guard !before.isOptional, !attribute.isOptional, attributeMapping.defaultValue == nil,
      !before.isDerived, let isMissing = data.isMissing(before.name, in: from)
    else { return [] }
    return try rows(
      of: from, where: [isMissing], break: (to, attribute.name),
      "missing values on an attribute that was mandatory before",
      hint:
        "These rows cannot be saved as they are: give \(to).\(attribute.name) a default value, or set it in the app.",
      warning: .validationMissingMandatoryProperty,
      predicate: "\(PredicateText.name(before.name)) == nil")
  }

  /// Values against rules for saving that are new or tighter: no migration looks at them.
  func brokenRules(
    _ before: Attribute, from: String, _ attribute: Attribute, of to: String
  ) throws -> [DataCheck] {
    guard attribute.validation != before.validation || attribute.type != before.type,
      let column = data.column(of: before.name, in: from)
    else { return [] }
    let (old, new) = (before.validation, attribute.validation)
    var checks: [DataCheck] = []
    let hint = "Change those values, or loosen the rule: such objects cannot be saved."
    if let kind = RuleKind(attribute.type) {
      let subject = kind.subject(column)
      if let text = new.minimum, let bound = Double(text), bound.isFinite,
        old.minimum.flatMap(Double.init).map({ $0 < bound }) ?? true
      {
        checks += try rows(
          of: from, where: ["\(subject) < \(bound)"], break: (to, attribute.name),
          "values \(kind.below) the new minimum \(text)", hint: hint, warning: kind.belowCode)
      }
      if let text = new.maximum, let bound = Double(text), bound.isFinite,
        old.maximum.flatMap(Double.init).map({ $0 > bound }) ?? true
      {
        checks += try rows(
          of: from, where: ["\(subject) > \(bound)"], break: (to, attribute.name),
          "values \(kind.above) the new maximum \(text)", hint: hint, warning: kind.aboveCode)
      }
    }
    if attribute.type == .string, let pattern = new.pattern, pattern != old.pattern {
      // NULL, and so no finding, where the pattern is not understood.
      let literal = AttributeValue.string(pattern).sqlLiteral(for: attribute)
      checks += try rows(
        of: from, where: ["strata_matches(\(column), \(literal), 0) = 0"],
        break: (to, attribute.name), "values that do not match the new pattern “\(pattern)”",
        hint: hint, warning: .validationStringPatternMatching)
    }
    return checks
  }
}
