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
  public let advice: String

  init(
    _ domain: Domain, _ code: Int, _ name: String?, _ meaning: String, cause: String, advice: String
  ) {
    self.domain = domain
    self.code = code
    self.name = name
    self.meaning = meaning
    self.cause = cause
    self.advice = advice
  }
}

/// Every error code that Core Data reports, as a table.
public enum ErrorCatalogue {
  /// By domain, then by code.
  public static let all =
    fileMeanings + validationMeanings + contextMeanings + storeMeanings + migrationMeanings
    + laterMeanings + cloudMeanings + sqliteMeanings + extendedSQLiteMeanings + cloudKitMeanings

  /// - Parameter domain: as an NSError prints it; `nil` looks in all, Cocoa's first.
  /// - Returns: `nil` for a code that is unknown; an extended SQLite code
  ///   that is not in the table is told by its last byte.
  public static func meaning(of code: Int, domain: String? = nil) -> ErrorMeaning? {
    let domains = ErrorMeaning.Domain.allCases.filter { domain == nil || $0.rawValue == domain }
    for domain in domains {
      if let exact = byCode[domain]?[code] { return exact }
    }
    if domains.contains(.cocoa), cloudRange.contains(code) {
      return undocumentedCloudMeaning(code)
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
