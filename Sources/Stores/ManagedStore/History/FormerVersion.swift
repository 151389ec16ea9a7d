import SQLite

/// A version that a store had, as history shows it: a migration leaves an empty transaction that names the
/// model which the store had before.
public struct FormerVersion: Sendable, Equatable {
  /// What migrated the store from that version.
  public enum Migrator: String, Sendable {
    /// A lightweight migration, by Core Data or by strata.
    case lightweight
    /// A mapping model or a recipe, by strata: Core Data keeps no history then.
    case mapping

    /// What it is, as a noun.
    public var noun: String {
      switch self {
      case .lightweight: "lightweight migration"
      case .mapping: "migration by a mapping model or recipe"
      }
    }
  }

  /// The transaction's number (ATRANSACTION.Z_PK).
  public var transaction: Int64
  /// When the store was migrated; `nil` where the row has no time.
  public var timestamp: Double?
  /// What migrated it.
  public var migrator: Migrator
  /// The version hashes digest of the model that the store had, in Base64.
  public var digest: String
  /// The label of the stage, of a staged migration.
  public var stage: String?
  /// The process that migrated it.
  public var process: String?

  /// Whether an author of transactions is a migration.
  package static func isMigrator(_ author: String) -> Bool { MigratorAuthor(author) != nil }
}

/// The author of the transaction that a migration leaves in history.
///
/// 182 rows in 28 stores of Apple's show the text of lightweight migrations (migration-2 §5); after a migration
/// by a mapping model Core Data keeps no history, so that text is strata's own.
package struct MigratorAuthor: Equatable {
  package var migrator: FormerVersion.Migrator
  package var digest: String
  package var stage: String?

  package init(_ migrator: FormerVersion.Migrator, digest: String, stage: String? = nil) {
    (self.migrator, self.digest, self.stage) = (migrator, digest, stage)
  }

  private static let opening = "migration from model with digest { "
  private static let stageOpening = " (stage: "

  private static func beginning(_ migrator: FormerVersion.Migrator) -> String {
    switch migrator {
    case .lightweight: "com.apple.coredata.schemamigrator: lightweight " + opening
    case .mapping: "strata: " + opening
    }
  }

  /// The author as the transaction has it.
  package var text: String {
    Self.beginning(migrator) + digest
      + (stage.map { Self.stageOpening + $0 + ")" } ?? "") + " }"
  }

  /// Reads an author; `nil` for one that is not a migration's.
  ///
  /// The stage may stand before or after the closing brace: no store at hand shows one.
  package init?(_ text: String) {
    let migrators: [FormerVersion.Migrator] = [.lightweight, .mapping]
    guard let migrator = migrators.first(where: { text.hasPrefix(Self.beginning($0)) }) else {
      return nil
    }
    let rest = text.dropFirst(Self.beginning(migrator).count)
    let digest = rest.prefix { $0 != " " && $0 != "}" }
    guard !digest.isEmpty else { return nil }
    (self.migrator, self.digest) = (migrator, String(digest))
    if let open = rest.firstRange(of: Self.stageOpening), let close = rest.lastIndex(of: ")"),
      open.upperBound <= close
    {
      stage = String(rest[open.upperBound..<close])
    }
  }

  /// An SQL pattern for LIKE that takes at least the authors of all migrations.
  static let pattern = "%: %" + opening + "%"
}

extension Store {
  /// The versions that the store had before, oldest first, as history shows them; `nil` where the store keeps no
  /// history.
  ///
  /// A store that history was deleted of shows fewer.
  ///
  /// - Throws: ``CoreDataError`` when SQLite fails.
  public func formerVersions() throws -> [FormerVersion]? {
    guard hasHistory else { return nil }
    let author = historyText("AUTHOR")
    return try reading {
      try connection.rows(
        """
        SELECT t.Z_PK, \(historyTime), substr(\(author), 1, 1000), substr(\(historyText("PROCESSID")), 1, 500)
        FROM ATRANSACTION t WHERE \(author) LIKE ? ORDER BY t.Z_PK LIMIT 10000
        """, [.text(MigratorAuthor.pattern)]
      ).compactMap { row in
        guard row.count == 4, let number = row[0].integer else { return nil }
        return HistoryTransaction(
          number: number, timestamp: Self.seconds(row[1]), author: row[2].text,
          process: row[3].text
        ).formerVersion
      }
    }
  }
}
