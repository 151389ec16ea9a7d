import Files
import ManagedModel
import Salvage

extension SalvageSource {
  /// How many rows tables have in the main file alone, and with a -wal laid over it, as a sentence; `nil` where one
  /// of the two cannot be read.
  package static func counts(of path: String, with log: String) -> String? {
    func rows(_ choice: LogChoice) -> Int? {
      (try? SalvageSource(path: path, log: choice)).flatMap { try? $0.rows() }
    }
    guard let alone = rows(.none), let both = rows(.file(log)) else { return nil }
    return
      "The main file alone has \(NumberText.counted(alone, "row")); with the -wal, its tables have \(NumberText.grouped(both))."
  }

  private func rows() throws -> Int {
    var count = 0
    for number in 2..<max(2, image.pageCount + 1)
    where trees.role(of: number) == .leaf && trees.owner(of: number) > 1 {
      guard let page = try image.page(number) else { continue }
      count +=
        TreePage(page.bytes, number: number, usable: image.usable)?.cells(in: page.bytes).count ?? 0
    }
    return count
  }

  static func foreign(
    _ log: String, of path: String, _ found: LogKinship.Contradiction
  ) -> CoreDataError {
    CoreDataError(
      .usage,
      "\(FileSystem.name(of: log)) belongs to another store, or to another state of this one: \(found.words)",
      path: path,
      advice:
        "\(counts(of: path, with: log).map { $0 + " " } ?? "")Use \(.ignoresLog) to read the main file alone, or \(.log, "FILE") to name the -wal that belongs to it."
    )
  }

  static func nothing(_ path: String, _ image: DatabaseImage) -> CoreDataError {
    CoreDataError(
      .unreadable, code: .persistentStoreOpen,
      image.journal?.state == .hot
        ? "the file is empty once its -journal is rolled back, and no -wal holds anything"
        : "the file is empty, and no -wal holds anything",
      path: path, advice: StoreFiles.adviceWhereEmpty(path))
  }

  static func unknown(_ path: String, _ image: DatabaseImage) throws -> CoreDataError {
    guard image.size > 0 else { return nothing(path, image) }
    guard try image.isMainEncrypted() else {
      return CoreDataError(
        .unreadable, "nothing in the file looks like a page of a database", path: path,
        hint: "Is it the store? Its first bytes are those of something else.")
    }
    return CoreDataError(
      .unreadable,
      "the file is encrypted, or compressed: its bytes are as evenly distributed as random ones, and none of its pages is a database page",
      path: path,
      hint:
        "Without its key nothing can be read. Apps that use SQLCipher keep the key in the keychain."
    )
  }
}
