import ManagedModel
import ManagedStore
import SQLite

extension InferredAnalysis {
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
      found.missing, "values in missing files",
      "Copy them from another copy of the store: into \(folder).")
      + check(
        found.unreadable, "values in files that cannot be read",
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
    var rule = DestinationRule.formerGap(in: attribute.name, of: to, missing: [isMissing])
    rule.predicate = "\(PredicateText.name(before.name)) == nil"
    return try check(rule, of: from)
  }

  /// Values against rules for saving that are new or tighter: no migration looks at them.
  func brokenRules(
    _ before: Attribute, from: String, _ attribute: Attribute, of to: String
  ) throws -> [DataCheck] {
    guard let column = data.column(of: before.name, in: from) else { return [] }
    return try SavingRule.all(of: attribute, column, since: before.validation).flatMap {
      try check(.saving($0, in: attribute.name, of: to), of: from)
    }
  }
}
