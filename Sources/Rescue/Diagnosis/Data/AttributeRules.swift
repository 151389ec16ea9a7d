import ManagedModel
import ManagedStore
import Migration
import SQLite

/// What the attributes of an entity ask of its rows.
struct AttributeRules {
  let table: EntityTable
  /// The text encoding of the database.
  let encoding: String

  /// Seconds from 2001 to the years -9999 and 9999: whoever shows a date beyond shows nonsense.
  private static let dates = (first: "-378691200000.0", last: "252423993600.0")

  func rules() -> [RowRule] { table.attributes.flatMap(rules) }

  private func rules(_ entry: EntityTable.AttributeColumn) -> [RowRule] {
    let attribute = entry.attribute
    let column = entry.place(in: "t")
    var rules: [RowRule] = []
    func add(
      _ kind: FindingKind, _ condition: String, _ what: String, predicate: String? = nil,
      severity: Finding.Severity? = nil, advice: Advice? = nil
    ) {
      rules.append(
        RowRule(
          kind: kind, severity: severity, advice: advice, property: attribute.name,
          condition: condition, what: what, predicate: predicate))
    }
    // What a migration refuses is missing; the rest is what a save asks for.
    let asked = DestinationRule.all(of: attribute, in: table.entity, AskedValue(column: column))
    for rule in asked where !rule.isWarning {
      add(
        .mandatory, rule.condition, "have no value, which the model requires",
        predicate: "\(attribute.name) == nil")
    }
    if let classes = attribute.type.storageClasses {
      let list = classes.map { "'\($0)'" }.joined(separator: ", ")
      add(
        .storageClass, "typeof(\(column)) NOT IN (\(list), 'null')",
        "have values that are not of type \(attribute.type.name)")
    }
    if let range = attribute.type.wholeNumbers {
      add(
        .range,
        "typeof(\(column)) = 'integer' AND \(column) NOT BETWEEN \(range.lowerBound) AND \(range.upperBound)",
        "have numbers outside the range of \(attribute.type.name)")
    }
    if attribute.type == .date {
      add(
        .range,
        "typeof(\(column)) IN ('integer', 'real') AND \(column) NOT BETWEEN \(Self.dates.first) AND \(Self.dates.last)",
        "have dates beyond the year 9999", severity: .note,
        advice:
          "Core Data stores a date as a number of seconds, and reads these values as they are.")
    }
    if attribute.type == .uuid {
      add(
        .range, "typeof(\(column)) = 'blob' AND length(\(column)) <> 16",
        "have UUIDs that are not 16 bytes long")
    }
    if attribute.type == .string || attribute.type == .uri, encoding == "UTF-8" {
      add(
        .textEncoding, "strata_utf8(\(column)) = 0", "have texts that are not valid UTF-8")
    }
    if attribute.type == .transformable, !attribute.allowsExternalBinaryDataStorage {
      add(.archive, broken(attribute, column), "have archives that cannot be read")
    }
    return rules
      + asked.filter(\.isWarning).map { rule in
        RowRule(
          kind: .validation, code: rule.code, property: attribute.name, condition: rule.condition,
          what: "have \(rule.message)")
      }
  }

  /// Of a transformer that archives, every value is an archive; of an app's own, what begins as one.
  private func broken(_ attribute: Attribute, _ column: String) -> String {
    let isArchive =
      attribute.isArchived
      ? "length(\(column)) > 0" : "substr(\(column), 1, 8) = x'62706C6973743030'"
    return """
      CASE WHEN typeof(\(column)) = 'blob' AND length(\(column)) <= \(ValidationFunctions.largestArchive) \
      AND \(isArchive) THEN strata_opens(\(column)) = 0 ELSE 0 END
      """
  }
}
