import Comparison
import ExportText
import JSON
import ManagedModel
import ManagedStore
import Reports
import Terminal

/// Writes changes of objects in one format, as they come.
package struct ChangeWriter {
  private let format: RowFormat
  private let console: Console
  /// Whether long texts are printed whole, and bytes in JSON.
  private let isWhole: Bool
  private var rows: any RowWriter
  private var isFirst = true
  /// The columns of a change in CSV and Markdown.
  private static let columns = ["change", "a", "b", "label", "property", "old", "new"].map {
    RowColumn(name: $0, kind: .attribute(.string))
  }
  /// Cells that a value takes in a table.
  private static let mostCells = 60

  package init(_ format: RowFormat, _ console: Console, isWhole: Bool) {
    (self.format, self.console, self.isWhole) = (format, console, isWhole)
    rows = format.writer(isExact: !console.isTerminal) { console.write($0) }
  }

  /// Writes what is known before the changes: how objects were paired, and what differs between the models.
  mutating func begin(_ comparison: StoreComparison, _ a: String, _ b: String) throws {
    let (model, pairings) = (comparison.model, comparison.pairings)
    switch format {
    case .json, .ndjson:
      var json = JSONWriter()
      json.object { json in
        json.object("compare") { json in
          json.fields(["a": a, "b": b])
          json.objects("pairing", pairings) { json, pairing in
            json.fields(["entity": pairing.entity, "by": pairing.by.rawValue, "on": pairing.on])
            json.object("unpaired", ["a": pairing.unpairedA, "b": pairing.unpairedB])
            json.field("grownApart", pairing.isGrownApart)
          }
          json.object("model") { json in
            json.objects("renamed", model.renamed) { ["from": $0.from, "to": $0.to] }
            json.fields(["added": model.added, "removed": model.removed, "notes": model.notes])
          }
        }
      }
      // Of a document the object goes on.
      console.write(
        format == .ndjson
          ? json.bytes + [UInt8(ascii: "\n")]
          : json.bytes.dropLast() + Array(",\"changes\":[".utf8))
    case .csv, .markdown:
      try rows.begin(RowPage(entity: "", columns: Self.columns, rows: []))
      for sentence in Self.grownApart(pairings) { console.note(sentence) }
    case .table:
      console.line("\(a) → \(b)")
      for renaming in model.renamed { console.line("  \(renaming.from) → \(renaming.to)") }
      for name in model.added { console.line("  only in B: \(name)") }
      for name in model.removed { console.line("  only in A: \(name)") }
      for note in model.notes { console.line("note: " + note) }
      console.table(
        [.left, .left, .right, .right],
        [["entity", "paired by", "only in A", "only in B"]]
          + pairings.map {
            [
              $0.entity, $0.way, NumberText.grouped($0.unpairedA),
              NumberText.grouped($0.unpairedB),
            ]
          })
      for sentence in Self.grownApart(pairings) { console.line(sentence) }
    }
  }

  private static func grownApart(_ pairings: [EntityPairing]) -> [String] {
    pairings.filter(\.isGrownApart).map {
      "! \($0.entity) may have grown apart: \(NumberText.counted($0.splitKeys, "key")) of different objects in A and B, counted as deleted and inserted. --base STORE, the copy that both come from, settles it."
    }
  }

  /// Writes one change.
  mutating func write(_ change: ObjectChange) throws {
    defer { isFirst = false }
    switch format {
    case .json: console.write(Array((isFirst ? "\n" : ",\n").utf8) + json(change))
    case .ndjson: console.write(json(change) + [UInt8(ascii: "\n")])
    case .csv, .markdown:
      guard let id = change.b ?? change.a else { return }
      let page = lines(change).map { property, old, new in
        RowPage.Row(
          id: id,
          values: [
            change.kind.rawValue, change.a?.description ?? "", change.b?.description ?? "",
            change.label, property, old, new,
          ].map { .value(.string($0)) })
      }
      try rows.write(RowPage(entity: id.entity, columns: Self.columns, rows: page))
    case .table: console.lines(table(change))
    }
  }

  /// Writes what is known behind the last change.
  mutating func end(
    _ summary: ComparisonSummary, _ status: CommandStatus, limit: Int
  ) throws {
    switch format {
    case .json, .ndjson:
      var json = JSONWriter()
      json.object { json in
        json.object("summary") { json in
          json.objects("entities", summary.entities) {
            [
              "entity": $0.entity, "inserted": $0.inserted, "updated": $0.updated,
              "deleted": $0.deleted, "unknown": $0.unknown,
            ]
          }
          json.objects("bookkeeping", summary.bookkeeping) {
            ["part": $0.part, "message": $0.message, "count": $0.count]
          }
          json.objects("files", summary.files) {
            [
              "referenced": $0.referenced, "missing": $0.missing.count,
              "orphaned": $0.orphaned.count, "unreadable": $0.unreadable.count,
            ]
          }
          json.fields(["unreadable": summary.unreadableValues, "status": Int(status.rawValue)])
        }
      }
      console.write(
        format == .ndjson
          ? json.bytes + [UInt8(ascii: "\n")]
          : Array("\(isFirst ? "" : "\n")],".utf8) + json.bytes.dropFirst()
            + [UInt8(ascii: "\n")])
    case .csv, .markdown: try rows.end()
    case .table: printSummary(summary, limit)
    }
  }

  private func printSummary(_ summary: ComparisonSummary, _ limit: Int) {
    let different = summary.entities.filter { $0.count > 0 }
    if !different.isEmpty {
      console.table(
        [.left, .right, .right, .right],
        [["entity", "inserted", "changed", "deleted"]]
          + different.map { count in
            [count.entity] + [count.inserted, count.updated, count.deleted].map(NumberText.grouped)
          })
    }
    for count in different where count.count > limit {
      console.line(
        "\(NumberText.grouped(count.count - limit)) more of \(count.entity); --limit all prints every one"
      )
    }
    for (index, report) in summary.files.enumerated() where report.referenced > 0 {
      let missing = report.missing.isEmpty ? "" : ", \(report.missing.count) missing"
      let orphaned =
        report.orphaned.isEmpty ? "" : ", \(report.orphaned.count) that no object names"
      console.line(
        "· external files of \(index == 0 ? "A" : "B"): \(report.referenced)\(missing)\(orphaned)")
    }
    for line in summary.bookkeeping {
      console.line(
        "· \(line.part): \(line.message)" + (line.count > 0 ? " (\(line.count))" : ""))
    }
    let count = different.reduce(0) { $0 + $1.count }
    console.line(
      count == 0
        ? (summary.entities.allSatisfy { $0.unknown == 0 }
          ? "✓ all objects are equal" : "no difference was found in what could be read")
        : NumberText.counted(count, "object") + " differ"
          + (count == 1 ? "s" : ""))
  }

  // MARK: Values

  private func json(_ change: ObjectChange) -> [UInt8] {
    var json = JSONWriter()
    json.object { members(of: change, to: &$0) }
    return json.bytes
  }

  /// A change as members of an object.
  func members(of change: ObjectChange, to json: inout JSONWriter) {
    json.fields([
      "change": change.kind.rawValue, "entity": change.entity, "a": change.a?.description,
      "b": change.b?.description, "label": change.label,
    ])
    json.object("attributes") { json in
      for attribute in change.attributes {
        json.object(attribute.path.joined(separator: ".")) { json in
          json.key("old")
          write(attribute.old, to: &json)
          json.key("new")
          write(attribute.new, to: &json)
        }
      }
    }
    json.object("relationships") { json in
      for related in change.relationships {
        json.object(
          related.name,
          [
            "added": related.added.map(\.description),
            "removed": related.removed.map(\.description), "reordered": related.isReordered,
          ])
      }
    }
  }

  private func write(_ value: ObjectChange.Value?, to json: inout JSONWriter) {
    guard let value else { return json.null() }
    if let sha256 = value.sha256, case .data(let data) = value.value {
      json.digest(sha256, bytes: data.count)
    } else {
      json.value(value.value, blobs: isWhole)
    }
  }

  /// Property, old and new value of each difference; one line without them for an object that has none.
  private func lines(_ change: ObjectChange) -> [(property: String, old: String, new: String)] {
    func line(_ value: ObjectChange.Value?) -> String {
      value.map { CellText.line($0.value) } ?? ""
    }
    let values = change.attributes.map {
      ($0.path.joined(separator: "."), line($0.old), line($0.new))
    }
    let links = change.relationships.map { related in
      let names = [related.removed, related.added].map {
        $0.map(\.description).joined(separator: " ")
      }
      let order = related.isReordered ? (names[1].isEmpty ? "reordered" : " reordered") : ""
      return (related.name, names[0], names[1] + order)
    }
    let all = values + links
    return all.isEmpty ? [("", "", "")] : all
  }

  private func table(_ change: ObjectChange) -> [String] {
    let sign =
      switch change.kind {
      case .insert: "+"
      case .delete: "−"
      case .update: "~"
      }
    var names = [change.b ?? change.a].compactMap { $0?.description }
    if let a = change.a, let b = change.b, a != b { names = ["\(a) → \(b)"] }
    var lines = [
      (["\(sign)"] + names).joined(separator: " ")
        + (change.label.isEmpty ? "" : "  " + Sanitize.text(change.label, limit: Self.mostCells))
    ]
    for attribute in change.attributes {
      let name = "    " + attribute.path.joined(separator: ".") + ": "
      switch (attribute.old, attribute.new) {
      case (let old?, let new?): lines.append(name + difference(old, new))
      case (let value?, nil), (nil, let value?): lines.append(name + shown(value, from: 0))
      case (nil, nil): break
      }
    }
    for related in change.relationships {
      var parts = Self.some(related.removed, "−") + Self.some(related.added, "+")
      if related.isReordered { parts.append("in another order") }
      lines.append("    \(related.name): \(parts.joined(separator: " "))")
    }
    return lines
  }

  /// The first objects of many, each behind a sign.
  private static func some(_ ids: [ObjectID], _ sign: String) -> [String] {
    let most = 8
    return ids.prefix(most).map { sign + $0.description }
      + (ids.count > most ? ["\(sign)\(ids.count - most) more"] : [])
  }

  /// An old and a new value: of long texts what is around the first difference.
  private func difference(_ old: ObjectChange.Value, _ new: ObjectChange.Value) -> String {
    let (one, other) = (CellText.table(old.value), CellText.table(new.value))
    var start = 0
    if !isWhole, max(one.count, other.count) > Self.mostCells {
      let common = zip(one, other).prefix { $0 == $1 }.count
      start = common > 20 ? common - 10 : 0
    }
    var (first, second) = (shown(old, from: start), shown(new, from: start))
    if first == second {
      // Bytes of one size and kind.
      first += Self.digest(old)
      second += Self.digest(new)
    }
    return "\(first) → \(second)"
  }

  private static func digest(_ value: ObjectChange.Value) -> String {
    guard case .data(let data) = value.value, data.isReadable else { return "" }
    return " (SHA-256 \((value.sha256 ?? ByteText.hex(Digest.sha256(data.bytes))).prefix(12))…)"
  }

  private func shown(_ value: ObjectChange.Value, from start: Int) -> String {
    let text = CellText.table(value.value)
    let cut = isWhole ? text : (start > 0 ? "…" : "") + text.dropFirst(start)
    let safe = isWhole ? cut : Sanitize.text(cut, limit: Self.mostCells)
    guard case .value(.string) = value.value else { return safe }
    return "“\(safe)”"
  }
}

extension ChangeWriter {
  /// Writes changes alone, without what a comparison says of them.
  package mutating func write(_ changes: [ObjectChange]) throws {
    switch format {
    case .csv, .markdown: try rows.begin(RowPage(entity: "", columns: Self.columns, rows: []))
    case .json: console.write("[")
    case .ndjson, .table: break
    }
    for change in changes { try write(change) }
    switch format {
    case .csv, .markdown: try rows.end()
    case .json: console.write("\n]\n")
    case .ndjson, .table: break
    }
  }
}
