import ManagedModel
import Migration
import Texts

/// What is true of every fault of a kind.
extension FindingKind {
  /// How grave a fault of the kind is, where nothing else is known.
  public var severity: Finding.Severity { facts.severity }
  /// What the kind means, in a few words.
  public var title: String { facts.title }
  /// What to do about it, in a sentence.
  public var advice: Advice { facts.advice }
  /// The command that helps.
  var remedy: Remedy { facts.remedy }
  /// The error that Core Data reports; `nil` where it reports none.
  var error: (domain: ErrorMeaning.Domain, code: Int)? { facts.error }

  struct Facts {
    let severity: Finding.Severity
    let title: String
    let error: (domain: ErrorMeaning.Domain, code: Int)?
    let remedy: Remedy
    let advice: Advice
  }

  /// As the table has them.
  static let table = Dictionary(
    MessageTable.findings.rows.compactMap { row in
      FindingKind(rawValue: row.name).flatMap { kind in Facts(row).map { (kind, $0) } }
    }, uniquingKeysWith: { first, _ in first })

  private var facts: Facts {
    Self.table[self]
      ?? Facts(severity: .warning, title: rawValue, error: nil, remedy: .none, advice: "")
  }
}

extension FindingKind.Facts {
  private static let remedies: [String: Remedy] = [
    "salvage": .salvage, "salvageMain": .salvageMain, "repair": .repair, "copyAlone": .copyAlone,
    "undelete": .undelete, "explain": .explain, "none": .none,
  ]

  /// - Returns: `nil` for a row that is not as the table's head says.
  fileprivate init?(_ row: MessageTable.Row) {
    let error = row["error"]?.split(separator: " ").map(String.init) ?? []
    guard let severity = row["severity"].flatMap(Finding.Severity.init), let title = row["title"],
      let remedy = Self.remedies[row["remedy"] ?? "none"],
      let advice = row["advice"].map(Advice.init(marked:)),
      error.isEmpty || error.count == 2 && Int(error[1]) != nil
    else { return nil }
    self.init(
      severity: severity, title: title,
      error: error.first.flatMap(ErrorMeaning.Domain.init).flatMap { domain in
        Int(error[1]).map { (domain, $0) }
      }, remedy: remedy, advice: advice)
  }
}
