import ManagedModel
import ManagedStore
import Migration
import Terminal

/// A receipt as lines: what was done, objects before and after, links, checks, losses, the way back.
/// For a migration and for a rehearsal.
struct ReceiptView {
  /// A line of it: what, and columns of numbers where there are any.
  struct Line: Equatable {
    var sign = " "
    var role = Theme.Role.text
    var text = ""
    var numbers: [String] = []
  }

  var receipt: MigrationReceipt
  /// What was done: `migrated`, or `rehearsed`.
  var verb = "migrated"
  /// Whether the result is in the store's place: a backup and a way back are reported only then.
  var isInPlace = true

  var lines: [Line] {
    var lines = [
      Line(
        sign: "✓", role: .success,
        text:
          "\(verb) “\(receipt.from)” → “\(receipt.to)” in \(NumberText.seconds(receipt.seconds)), "
          + "\(NumberText.seconds(receipt.verificationSeconds)) of them to verify"),
      Line(
        role: .dim,
        text: isInPlace
          ? "\(receipt.resultPath)  \(NumberText.bytes(receipt.bytes))"
          : "the result (\(NumberText.bytes(receipt.bytes))) has not replaced the store"),
    ]
    if isInPlace { lines += wayBack }
    lines += objects + links + verified
    lines += receipt.losses.map { loss in
      Line(
        sign: "!", role: .warning,
        text: loss.isIntended
          ? "deleted, as the recipe says: \(loss.name)" : "lost, as accepted: \(loss.name)",
        numbers: ["", "", NumberText.grouped(loss.values)])
    }
    let files = receipt.externalData
    if files.referenced > 0 {
      let isWhole = files.missing.isEmpty
      lines.append(
        Line(
          sign: isWhole ? "✓" : "!", role: isWhole ? .success : .warning,
          text: "external \(files.referenced == 1 ? "file" : "files") named"
            + (isWhole ? ", none missing" : ", \(files.missing.count) missing"),
          numbers: ["", "", NumberText.grouped(files.referenced)]))
    }
    if !receipt.notes.isEmpty { lines.append(Line()) }
    lines += receipt.notes.map { Line(sign: "·", role: .dim, text: $0) }
    if isInPlace, let sum = receipt.resultSHA256 {
      lines += [Line(), Line(role: .dim, text: "SHA-256 of the result  \(sum)")]
    }
    return lines
  }

  private var wayBack: [Line] {
    guard let backup = receipt.backupPath else {
      return [
        Line(sign: "!", role: .warning, text: "no backup was kept: this cannot be rolled back")
      ]
    }
    var lines = [Line(role: .text, text: "backup  \(backup)")]
    if let sum = receipt.backupSHA256 {
      lines.append(Line(role: .dim, text: "SHA-256 of the backup  \(sum)"))
    }
    lines.append(
      Line(
        role: .text,
        text: "roll back  b, or: strata rollback \(ShellText.quoted(receipt.storePath))"))
    return lines
  }

  private var objects: [Line] {
    let title = Line(
      role: .columnTitle, text: "objects", numbers: ["before", "after", "rewritten"])
    return [Line(), title]
      + receipt.entities.map { count in
        let isSame = count.before == count.after
        return Line(
          sign: isSame ? " " : count.after < count.before ? "−" : "+",
          role: isSame ? .text : .warning, text: count.entity,
          numbers: [
            NumberText.grouped(count.before), NumberText.grouped(count.after),
            count.changed.map(NumberText.grouped) ?? "—",
          ])
      }
      + (receipt.entities.contains { ($0.changed ?? 0) > 0 }
        ? [
          Line(
            role: .dim,
            text: "rewritten: properties added, removed, renamed or changed; "
              + "other rows are copied unchanged")
        ] : [])
  }

  private var links: [Line] {
    guard !receipt.links.isEmpty else { return [] }
    return [Line(), Line(role: .columnTitle, text: "links", numbers: ["", "after", ""])]
      + receipt.links.sorted { $0.key < $1.key }.map {
        Line(text: $0.key, numbers: ["", NumberText.grouped($0.value), ""])
      }
  }

  private var verified: [Line] {
    guard !receipt.verified.isEmpty else { return [] }
    return [Line(), Line(role: .columnTitle, text: "verified", numbers: ["", "compared", ""])]
      + receipt.verified.map {
        Line(
          sign: $0.count > 0 ? "✓" : "·", role: $0.count > 0 ? .success : .dim, text: $0.what,
          numbers: ["", NumberText.grouped($0.count), ""])
      }
  }

  /// The lines as plain text, in which nothing that a store holds is a line or a control of its own.
  static func text(_ lines: [Line]) -> String {
    lines.map { ([$0.sign, $0.text] + $0.numbers).joined(separator: " ").printable }
      .joined(separator: "\n")
  }

  /// The lines with those that are only text broken where they end: a checksum is no use cut off.
  static func wrapped(_ lines: [Line], width: Int) -> [Line] {
    lines.flatMap { line -> [Line] in
      guard line.numbers.isEmpty, TextWidth.of(line.text) > width else { return [line] }
      return Wrapping.lines(line.text, width: max(1, width)).enumerated().map {
        Line(sign: $0.offset == 0 ? line.sign : " ", role: line.role, text: $0.element)
      }
    }
  }

  /// Draws the lines that the list has in sight.
  static func draw(_ lines: [Line], _ list: List, in grid: inout Grid, _ rect: Rect, theme: Theme) {
    // Narrow columns still take a million.
    let width = rect.width >= 60 ? 12 : 10
    for (index, place) in list.places(count: lines.count, in: rect) {
      let line = lines[index]
      let room =
        line.numbers.isEmpty
        ? place.width - 2 : min(place.width - line.numbers.count * width - 3, 46)
      grid.write(line.sign, at: place.origin, style: theme[line.role])
      grid.write(
        line.text, at: Point(x: place.x + 2, y: place.y), style: theme[line.role],
        within: max(0, room))
      for (column, number) in line.numbers.enumerated() {
        let cell = Rect(
          x: place.x + 2 + max(0, room) + column * width, y: place.y, width: width, height: 1)
        grid.write(number, in: cell, style: theme[line.role], align: .trailing)
      }
    }
  }
}

/// What a rollback did, as lines.
enum RollbackText {
  static func lines(_ receipt: StoreRollback.Receipt) -> [ReceiptView.Line] {
    typealias Line = ReceiptView.Line
    let name = receipt.backup.path.split(separator: "/").last.map(String.init) ?? ""
    var lines = [
      Line(
        sign: "✓", role: .success,
        text: "rolled back to \(name), version \(receipt.contents.version)"),
      Line(
        sign: "✓", role: .success,
        text: "opens, is intact, and holds what the backup held: "
          + NumberText.bytes(receipt.bytes)),
    ]
    if receipt.isBackupRemoved {
      lines.append(Line(role: .dim, text: "the backup’s own file was removed: its content is the store now"))
    }
    if let undone = receipt.undonePath {
      lines.append(Line(text: "what was there before is kept: \(undone)"))
    }
    if let support = receipt.undoneSupportPath {
      lines.append(Line(text: "its external data are kept: \(support)"))
    }
    lines += receipt.notes.map { Line(sign: "·", role: .dim, text: $0) }
    if !receipt.orphaned.isEmpty {
      lines.append(
        Line(
          sign: "·", role: .dim,
          text: NumberText.counted(receipt.orphaned.count, "external data file")
            + (receipt.orphaned.count == 1
              ? " is no longer referenced by any object; it stays"
              : " are no longer referenced by any object; they stay")))
    }
    if !receipt.missing.isEmpty {
      lines.append(
        Line(
          sign: "!", role: .warning,
          text: NumberText.counted(receipt.missing.count, "external data file")
            + " of the backup \(receipt.missing.count == 1 ? "is" : "are") missing"))
    }
    lines += [Line(), Line(role: .columnTitle, text: "objects", numbers: ["now"])]
    lines += receipt.contents.counts.sorted { $0.key < $1.key }.map {
      Line(text: $0.key, numbers: [NumberText.grouped($0.value)])
    }
    return lines
  }
}
