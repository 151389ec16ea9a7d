import ManagedModel
import Texts

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
