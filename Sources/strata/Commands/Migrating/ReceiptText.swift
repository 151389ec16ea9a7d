import Interface
import JSON
import ManagedModel
import ManagedStore
import Migration

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
    console.line("the way back: \(wayBack(receipt.storePath))")
  }

  /// The command that puts the backup back: the newest, or the one that is named.
  static func wayBack(_ store: String, from backup: String? = nil) -> String {
    "strata rollback \(ShellText.quoted(store))"
      + (backup.map { " --from " + ShellText.quoted($0) } ?? "")
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
