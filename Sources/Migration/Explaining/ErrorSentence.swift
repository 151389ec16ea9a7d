/// A sentence by which Core Data, SwiftData, CloudKit mirroring or SQLite tells an error, often
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
  public struct Telling: Sendable, Equatable {
    /// What happened.
    public let meaning: String
    /// Where it usually comes from.
    public let cause: String
    /// What to do.
    public let advice: String
  }

  /// What follows the sentence and names entities, properties, tables or columns.
  enum Names: Sendable, Equatable {
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
  public let own: Telling?
  let names: Names
  /// Whether it says nothing that the speaker's other sentences do not say better.
  let isGeneral: Bool

  init(
    _ speaker: Speaker, _ words: String, _ code: Int? = nil, names: Names = .none,
    isGeneral: Bool = false, _ own: Telling? = nil
  ) {
    self.speaker = speaker
    self.words = words
    self.code = code
    domain = code == nil ? nil : speaker == .sqlite ? .sqlite : .cocoa
    self.own = own
    self.names = names
    self.isGeneral = isGeneral
  }

  /// What it means: by itself, or by its code.
  public var telling: Telling? {
    own ?? code.flatMap { ErrorCatalogue.meaning(of: $0, domain: domain?.rawValue) }?.telling
  }
}

extension ErrorMeaning {
  /// What the code means, without its number.
  public var telling: ErrorSentence.Telling {
    ErrorSentence.Telling(meaning: meaning, cause: cause, advice: advice)
  }
}

extension ErrorCatalogue {
  /// Every sentence that is known, the more particular ones first where two begin alike.
  public static let sentences =
    coreDataSentences + laterMigrationSentences + modelSentences + swiftDataSentences
    + cloudKitSentences + laterCloudKitSentences + sqliteSentences

  static func telling(
    _ meaning: String, cause: String, advice: String
  ) -> ErrorSentence.Telling {
    ErrorSentence.Telling(meaning: meaning, cause: cause, advice: advice)
  }
}
