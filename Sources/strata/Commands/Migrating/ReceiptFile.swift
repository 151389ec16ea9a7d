import Files
import JSON
import ManagedModel
import Migration

/// The file that `--receipt` names: what `--json` prints in the end, for a log.
struct ReceiptFile: Sendable {
  let path: String

  /// - Throws: ``CoreDataError`` of kind usage before anything is begun, where it could not be written,
  ///   or is one of the stores.
  init?(_ arguments: Arguments, option: Option<String?> = .receipt, stores: [String]) throws {
    guard let path = arguments[option] else { return nil }
    self.path = path
    try Self.check(path, stores: stores + (arguments[.output].map { [$0] } ?? []))
  }

  private static func check(_ path: String, stores: [String]) throws {
    if let refusal = OutputPlace.refusal(toWrite: "the receipt", at: path, besides: stores) {
      throw refusal
    }
  }

  /// A file that a person named in the interface.
  ///
  /// - Throws: ``CoreDataError`` of kind refused where a file is there that is not to be replaced.
  init(path: String, replaces: Bool) throws {
    self.path = path
    try Self.check(path, stores: [])
    guard FileSystem.status(path) != nil else { return }
    guard replaces else {
      throw CoreDataError(
        .refused, "the file exists; Enter again replaces it", path: path)
    }
  }

  /// The same, and beside it one for the text: `Recipes-report.json` and `Recipes-report.txt`.
  static func pair(path: String, replaces: Bool) throws -> (json: ReceiptFile, text: ReceiptFile) {
    let text = (path.hasSuffix(".json") ? String(path.dropLast(5)) : path) + ".txt"
    return (
      try ReceiptFile(path: path, replaces: replaces),
      try ReceiptFile(path: text, replaces: replaces)
    )
  }

  /// All of it or nothing: written under another name, then renamed.
  func write(_ bytes: [UInt8]) throws { try write { try $0(bytes) } }

  /// The same with a list of any length, as the last member of the object that is the receipt's only one.
  ///
  /// - Parameter list: called with how to add an element.
  func write(
    _ receipt: [UInt8], _ name: String,
    _ list: (_ add: ((inout JSONWriter) -> Void) throws -> Void) throws -> Void
  ) throws {
    try write { emit in
      guard receipt.suffix(3) == Array("}}\n".utf8) else { return try emit(receipt) }
      try emit(receipt.dropLast(3) + Array(",\"\(name)\":[".utf8))
      var isFirst = true
      try list { element in
        var json = JSONWriter()
        json.object(element)
        try emit((isFirst ? [] : Array(",\n".utf8)) + json.bytes)
        isFirst = false
      }
      try emit(Array("]}}\n".utf8))
    }
  }

  /// The same of what comes a piece at a time; no name is cut between two.
  func write(_ body: (_ emit: @escaping ([UInt8]) throws -> Void) throws -> Void) throws {
    do {
      let file = try PendingFile(for: path)
      var waiting: [UInt8] = []
      func flush() throws {
        try file.append(waiting)
        waiting.removeAll(keepingCapacity: true)
      }
      try body { bytes in
        waiting += ShownPaths.applied(to: bytes)
        if waiting.count > 1 << 16 { try flush() }
      }
      try flush()
      try file.finish(replacing: true)
    } catch {
      throw CoreDataError(
        .unreadable, "the work is done, but the receipt could not be written: \(error.clause)",
        path: path, hint: "The stores are as the receipt above says.")
    }
  }
}

/// A receipt as a person reads it.
enum ReceiptText {
  /// - Parameter verb: what was done: migrated, or only rehearsed.
  static func print(
    _ receipt: MigrationReceipt, verb: String = "migrated", to console: Console
  ) {
    let steps = receipt.steps > 1 ? " in \(receipt.steps) steps" : ""
    console.line("\(verb) \(receipt.from) → \(receipt.to)\(steps): \(receipt.resultPath)")
    print(receipt.entities, links: receipt.links, to: console)
    console.line()
    if receipt.dropped + receipt.created + (receipt.changed ?? 0) > 0 {
      let changed = receipt.changed.map { ", changed: \($0)" } ?? ""
      console.line("objects dropped: \(receipt.dropped), created: \(receipt.created)\(changed)")
    }
    for loss in receipt.losses {
      console.line(
        "\(loss.isIntended ? "deleted, as the recipe says" : "lost"): \(loss.name), \(loss.values)")
    }
    let files = receipt.externalData
    if files.referenced > 0 {
      console.line(
        "external files: \(files.referenced) referenced, \(files.missing.isEmpty ? "none" : String(files.missing.count)) missing"
      )
    }
    for verified in receipt.verified { console.line("✓ \(verified.what): \(verified.count)") }
    for note in receipt.notes { console.line("note: \(note)") }
    let (seconds, checking) = (rounded(receipt.seconds), rounded(receipt.verificationSeconds))
    console.line(
      "\(NumberText.bytes(receipt.bytes)) in \(seconds) s, \(checking) s of them verifying")
    if let sum = receipt.resultSHA256 { console.line("SHA-256 of the result: \(sum)") }
    guard let backup = receipt.backupPath else { return }
    console.line("backup: \(backup)")
    if let sum = receipt.backupSHA256 { console.line("SHA-256 of the backup: \(sum)") }
    console.line("to roll back: \(wayBack(receipt.storePath))")
  }

  /// The command that puts the backup back: the newest, or the one that is named.
  static func wayBack(_ store: String, from backup: String? = nil) -> String {
    ShellText.command(
      ["rollback", store] + RollbackCommand.backup.words(backup))
  }

  /// Objects before and after, and links.
  static func print(
    _ entities: [MigrationReceipt.EntityCount], links: [String: Int], to console: Console
  ) {
    var rows = [["entity", "before", "after", "changed"]]
    rows += entities.map {
      [$0.entity, String($0.before), String($0.after), $0.changed.map(String.init) ?? "—"]
    }
    console.table([.left, .right, .right, .right], rows)
    guard !links.isEmpty else { return }
    console.line()
    let counts = links.sorted { $0.key < $1.key }.map { [$0.key, String($0.value)] }
    console.table([.left, .right], [["relationship", "links"]] + counts)
  }

  private static func rounded(_ seconds: Double) -> Double { (seconds * 100).rounded() / 100 }
}

extension JSONWriter {
  mutating func receipt(_ receipt: MigrationReceipt) {
    object("receipt") { json in
      json.fields([
        "store": receipt.storePath, "result": receipt.resultPath, "from": receipt.from,
        "to": receipt.to, "strategy": receipt.strategy.rawValue, "uuid": receipt.uuid,
        "checksum": receipt.checksum, "backup": receipt.backupPath, "steps": receipt.steps,
        "dropped": receipt.dropped, "created": receipt.created, "changed": receipt.changed,
      ])
      json.counts(receipt.entities, links: receipt.links)
      json.object("blobs") { json in
        json.field("referenced", receipt.externalData.referenced)
        json.field("missing", receipt.externalData.missing)
      }
      json.object("checksums", ["result": receipt.resultSHA256, "backup": receipt.backupSHA256])
      json.field(
        "rollback", receipt.backupPath == nil ? nil : ReceiptText.wayBack(receipt.storePath))
      json.losses(receipt.losses)
      json.objects("verified", receipt.verified) { ["what": $0.what, "count": $0.count] }
      json.fields([
        "notes": receipt.notes, "seconds": receipt.seconds,
        "verificationSeconds": receipt.verificationSeconds, "bytes": receipt.bytes,
      ])
    }
  }

  /// Objects before and after, and links, as members of an object.
  mutating func counts(_ entities: [MigrationReceipt.EntityCount], links: [String: Int]) {
    objects("entities", entities) { entity in
      [
        "entity": entity.entity, "before": entity.before, "after": entity.after,
        "changed": entity.changed,
      ]
    }
    numbers("edges", links.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
  }
}
