import Files
import JSON
import ManagedModel
import Migration
import Reports

/// The file that `--receipt` names: what `--json` prints in the end, for a log.
package struct ReceiptFile: Sendable {
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
  package static func pair(
    path: String, replaces: Bool
  ) throws -> (json: ReceiptFile, text: ReceiptFile) {
    let text = (path.hasSuffix(".json") ? String(path.dropLast(5)) : path) + ".txt"
    return (
      try ReceiptFile(path: path, replaces: replaces),
      try ReceiptFile(path: text, replaces: replaces)
    )
  }

  /// All of it or nothing: written under another name, then renamed.
  package func write(_ bytes: [UInt8]) throws { try write { try $0(bytes) } }

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

extension JSONWriter {
  package mutating func receipt(_ receipt: MigrationReceipt) {
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
      json.checksums(
        (receipt.resultSHA256, receipt.backupSHA256),
        rollingBack: receipt.backupPath == nil ? nil : receipt.storePath)
      json.losses(receipt.losses)
      json.objects("verified", receipt.verified) { ["what": $0.what, "count": $0.count] }
      json.fields([
        "notes": receipt.notes, "seconds": receipt.seconds,
        "verificationSeconds": receipt.verificationSeconds, "bytes": receipt.bytes,
      ])
    }
  }

  /// The SHA-256 of a result and of its backup, and the command that restores that.
  mutating func checksums(_ sums: (result: String?, backup: String?), rollingBack store: String?) {
    object("checksums", ["result": sums.result, "backup": sums.backup])
    field("rollback", store.map { Report.rollback($0).typed })
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
