import ManagedModel
import Texts

/// What one error code of Core Data, or of SQLite beneath it, means to the person who met it.
public struct ErrorMeaning: Sendable, Equatable {
  /// Who numbers the error; the raw value is the domain as an NSError prints it.
  public enum Domain: String, Sendable, CaseIterable {
    /// Cocoa's, in which Core Data numbers its own errors.
    case cocoa = "NSCocoaErrorDomain"
    /// Those of SQLite beneath it.
    case sqlite = "NSSQLiteErrorDomain"
    /// CloudKit's, which mirroring passes on.
    case cloudKit = "CKErrorDomain"
  }

  /// The domain that the code belongs to.
  public let domain: Domain
  /// The error's number within its domain.
  public let code: Int
  /// Apple's or SQLite's constant; `nil` for codes that only logs show.
  public let name: String?
  /// What happened.
  public let meaning: String
  /// Where it usually comes from.
  public let cause: String
  /// What to do.
  public let advice: Advice

  fileprivate init(
    _ domain: Domain, _ code: Int, _ name: String?, _ explanation: ErrorSentence.Explanation
  ) {
    self.domain = domain
    self.code = code
    self.name = name
    meaning = explanation.meaning
    cause = explanation.cause
    advice = explanation.advice
  }

  /// - Returns: `nil` for a row that is not as the table's head says.
  init?(_ row: MessageTable.Row) {
    let head = row.name.split(separator: " ").map(String.init)
    guard (2...3).contains(head.count), let domain = Domain(rawValue: head[0]),
      let code = Int(head[1]), let explanation = ErrorSentence.Explanation(row)
    else { return nil }
    self.init(domain, code, head.count > 2 ? head[2] : nil, explanation)
  }
}

/// Every error code that Core Data reports, as a table.
public enum ErrorCatalogue {
  /// In the order of the table: by domain, then by code.
  public static let all = MessageTable.errors.rows.compactMap(ErrorMeaning.init)

  /// Numbers of CloudKit mirroring. Apple documents none of them; those that logs explain are in the table.
  static let cloudRange = 134400...134499

  /// - Parameter domain: as an NSError prints it; `nil` looks in all, Cocoa's first.
  /// - Returns: `nil` for a code that is unknown; an extended SQLite code
  ///   that is not in the table is looked up by its last byte.
  public static func meaning(of code: Int, domain: String? = nil) -> ErrorMeaning? {
    let domains = ErrorMeaning.Domain.allCases.filter { domain == nil || $0.rawValue == domain }
    for domain in domains {
      if let exact = byCode[domain]?[code] { return exact }
    }
    if domains.contains(.cocoa), cloudRange.contains(code) {
      return ErrorMeaning(
        .cocoa, code, nil,
        ErrorSentence.Explanation(
          meaning: "An error of CloudKit mirroring that Apple does not document.",
          cause: "The reason beside it, or the CKErrorDomain beneath it, says which.",
          advice:
            "Read the reason; \(.deed("information")) lists what waits to be uploaded or deleted."))
    }
    guard domains == [.sqlite], code > 255 else { return nil }
    return byCode[.sqlite]?[code & 0xFF]
  }

  private static let byCode = Dictionary(grouping: all, by: \.domain).mapValues { meanings in
    Dictionary(meanings.map { ($0.code, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The meaning of a constant such as `NSMigrationMissingMappingModelError` or `SQLITE_CORRUPT`.
  public static func meaning(named name: String) -> ErrorMeaning? { byName[name] }

  private static let byName = Dictionary(
    all.compactMap { meaning in meaning.name.map { ($0, meaning) } },
    uniquingKeysWith: { first, _ in first })
}
