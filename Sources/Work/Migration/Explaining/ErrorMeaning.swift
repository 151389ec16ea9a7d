import ManagedModel
import ManagedStore
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

/// A sentence with which Core Data, SwiftData, CloudKit mirroring or SQLite reports an error, often
/// without its code.
public struct ErrorSentence: Sendable, Equatable {
  /// Who says it.
  public enum Speaker: String, Sendable, CaseIterable {
    /// Core Data.
    case coreData = "Core Data"
    /// SwiftData, above Core Data.
    case swiftData = "SwiftData"
    /// The mirroring of a store to CloudKit.
    case cloudKit = "CloudKit"
    /// SQLite, beneath Core Data.
    case sqlite = "SQLite"
  }

  /// What it means, where that is more than its code says.
  public struct Explanation: Sendable, Equatable {
    /// What happened.
    public let meaning: String
    /// Where it usually comes from.
    public let cause: String
    /// What to do.
    public let advice: Advice
  }

  /// What follows the sentence and names entities, properties, tables or columns.
  enum Names: String, Sendable {
    case none
    /// `'User'` or `"User"`.
    case quoted
    /// `ZUSER.ZID, ZUSER.ZNAME`.
    case columns
    /// `ZUSER`.
    case table
    /// `t0.ZNAME`, with the table behind a FROM somewhere in the text.
    case column
    /// Lines of `Entity: property, property` or `Entity:property - more`, as the model's check for
    /// CloudKit writes them.
    case properties
  }

  /// Who says it.
  public let speaker: Speaker
  /// Its words as far as they are always the same.
  public let words: String
  /// The code that it comes with; `nil` where it has none.
  public let code: Int?
  /// The code's domain; `nil` without a code.
  public let domain: ErrorMeaning.Domain?
  /// What it means by itself; `nil` where its code says all there is.
  public let own: Explanation?
  let names: Names
  /// Whether it says nothing that the speaker's other sentences do not say better.
  let isGeneral: Bool

  /// - Returns: `nil` for a row that is not as the table's head says.
  init?(_ row: MessageTable.Row) {
    guard let speaker = row["speaker"].flatMap(Speaker.init),
      let names = Names(rawValue: row["names"] ?? "none")
    else { return nil }
    self.speaker = speaker
    words = row.name
    code = row["code"].flatMap { Int($0) }
    domain = code == nil ? nil : speaker == .sqlite ? .sqlite : .cocoa
    own = Explanation(row)
    self.names = names
    isGeneral = row["general"] != nil
    guard (code == nil) == (row["code"] == nil), code != nil || own != nil else { return nil }
  }

  /// What it means: by itself, or by its code.
  public var explanation: Explanation? {
    own ?? code.flatMap { ErrorCatalogue.meaning(of: $0, domain: domain?.rawValue) }?.explanation
  }
}

extension ErrorMeaning {
  /// What the code means, without its number.
  public var explanation: ErrorSentence.Explanation {
    ErrorSentence.Explanation(meaning: meaning, cause: cause, advice: advice)
  }
}

extension ErrorSentence.Explanation {
  /// - Returns: `nil` for a row without a meaning, a cause or advice.
  init?(_ row: MessageTable.Row) {
    guard let meaning = row["meaning"], let cause = row["cause"], let advice = row["advice"] else {
      return nil
    }
    self.init(meaning: meaning, cause: cause, advice: Advice(marked: advice))
  }
}

extension ErrorCatalogue {
  /// Every sentence that is known.
  public static let sentences = MessageTable.sentences.rows.compactMap(ErrorSentence.init)
}

extension CloudKitState.Event {
  /// What the error of the run means; `nil` where it has none, or one that is not known.
  public var meaning: ErrorMeaning? {
    let words = (error ?? "").split(separator: " ")
    guard words.count == 2, let code = Int(words[1]) else { return nil }
    return ErrorCatalogue.meaning(of: code, domain: String(words[0]))
  }
}
