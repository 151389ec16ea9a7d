import ManagedModel
import ManagedStore
import Reports
import Terminal

/// The lines of the store panel's sections.
enum StorePanelText {
  typealias Piece = PanelLine.Piece

  static func warnings(_ warnings: [String], width: Int) -> [PanelLine] {
    guard !warnings.isEmpty else { return [.note("✓ There are none.")] }
    return warnings.flatMap { warning in
      Wrapping.lines(warning, width: width - 2).enumerated().map { index, line in
        PanelLine([
          Piece(text: index == 0 ? "! " : "  ", role: .warning), Piece(text: line, role: nil),
        ])
      }
    }
  }

  /// Which model the store is of, and what its sign in the header stands for.
  static func model(_ context: Context) -> [PanelLine] {
    guard let store = context.store, !store.isRaw else { return [] }
    let others = context.versions.filter { !$0.path.isEmpty }
    let names = others.map { "“\($0.name)”" + ($0.isStores ? " (the store's)" : "") }
    let isKnown = !context.isReadingVersions
    let beside = names.isEmpty ? "none found" : names.joined(separator: ", ")
    return [
      .fact(
        "model",
        isKnown ? context.storeModelName.map { "“\($0)”" } ?? "not named in the store" : "…"),
      .fact("versions beside", isKnown ? beside : "…"),
      .fact("hash", "the digest of its version hashes begins with \(store.hashPrefix)"),
      .blank,
    ]
  }

  static func files(_ facts: StoreFacts, _ context: Context) -> [PanelLine] {
    let whole = context.copy?.whole
    var lines = model(context)
    lines += (whole.map { [$0.file] } ?? facts.files).map { file in
      let kind =
        switch file.role {
        case .main: "store"
        case .log: "-wal"
        case .logIndex: "-shm"
        case .journal: "-journal"
        case .support: "external data"
        }
      let date = file.modified.map { facts.localTimes[$0] ?? DateText.utc($0) } ?? ""
      let count = file.role == .support ? "  \(NumberText.counted(file.files, "file"))" : ""
      return PanelLine([
        Piece(text: kind, role: .attribute, width: 14),
        Piece(text: NumberText.bytes(file.bytes), role: .number, width: 9),
        Piece(text: date, role: .date, width: 27),
        Piece(text: context.known.named(file.path) + count, role: .dim),
      ])
    }
    if let copy = context.copy, whole != nil {
      let command = "strata convert \(context.storeArgument) --output NEW.sqlite"
      lines += [
        .blank,
        .note("This is \(copy.noun)."),
        .note("It is read through a private copy of the SQLite type."),
        .note("To make a store of the SQLite type of it, which can be changed:"),
        PanelLine([Piece(text: "  " + command, role: nil)]),
      ]
    }
    if context.ownStore?.isRaw == false {
      let command = context.known.command("anonymize", "--output FILE")
      lines += [
        .blank, .note("To send the store to a developer, with its values replaced:"),
        PanelLine([Piece(text: "  " + command, role: nil)]),
      ]
    }
    guard let header = facts.header, whole == nil else { return lines }
    lines += [
      .blank, .title("SQLite"),
      .fact("page size", "\(NumberText.grouped(header.pageSize)) bytes", .number),
      .fact(
        "pages",
        "\(NumberText.grouped(header.pages)), of them \(NumberText.grouped(header.freePages)) free"
          + (header.freePages > 0
            ? " (\(NumberText.bytes(header.freePages * header.pageSize)))" : ""),
        .number),
      .fact("encoding", header.encoding),
      .fact("journal", header.isLogged ? "write-ahead log" : "rollback journal"),
      .fact("auto vacuum", ["none", "full", "incremental"].element(header.autoVacuum) ?? "?"),
      .fact("user version", String(header.userVersion), .number),
      .fact("application id", String(header.applicationID), .number),
      .fact("written by", header.writer.map { "SQLite \($0)" } ?? "unknown"),
    ]
    return lines
  }

  static func metadata(_ facts: StoreFacts, _ context: Context) -> [PanelLine] {
    let metadata = facts.metadata
    let whole = context.copy?.whole
    var lines: [PanelLine] = [
      .fact("UUID", metadata.uuid, .identifier),
      .fact("store type", whole?.type ?? metadata.storeType ?? "unknown"),
      .fact("framework", metadata.frameworkVersion.map(String.init) ?? "unknown", .number),
      .fact(
        "identifiers",
        metadata.versionIdentifiers.isEmpty
          ? "none" : metadata.versionIdentifiers.joined(separator: ", ")),
      .blank, .title(whole == nil ? "Z_PLIST" : "metadata"),
    ]
    var values = metadata.values
    // Those of the private copy.
    if whole != nil { for key in ["NSStoreType", "_NSAutoVacuumLevel"] { values[key] = nil } }
    let tree = PropertyListValue.dictionary(values).tree(maximumNodes: 500)
    for child in tree.children { append(child, depth: 0, to: &lines) }
    return lines
  }

  private static func append(_ tree: ArchiveTree, depth: Int, to lines: inout [PanelLine]) {
    lines.append(
      PanelLine([
        Piece(
          text: String(repeating: "  ", count: depth) + tree.label, role: .attribute, width: 34),
        Piece(text: "  " + tree.text, role: tree.children.isEmpty ? .string : .dim),
      ]))
    for child in tree.children { append(child, depth: depth + 1, to: &lines) }
  }

  static func entities(_ facts: StoreFacts, counts: [String: Int]) -> [PanelLine] {
    let parents = Dictionary(facts.numbers.map { ($0.number, $0.parent) }) { first, _ in first }
    func depth(_ number: Int64) -> Int {
      var (number, depth) = (number, 0)
      while let parent = parents[number], parent != 0, depth < 20 {
        (number, depth) = (parent, depth + 1)
      }
      return depth
    }
    let head = PanelLine([
      Piece(text: "entity", role: .columnTitle, width: 36),
      Piece(text: "number", role: .columnTitle, width: 9),
      Piece(text: "Z_MAX", role: .columnTitle, width: 12),
      Piece(text: "greatest key", role: .columnTitle, width: 14),
      Piece(text: "objects", role: .columnTitle),
    ])
    return [head]
      + facts.numbers.map { row in
        let name = String(repeating: "  ", count: depth(row.number)) + row.name
        let isShort = (row.greatestKey ?? 0) > row.maximum
        let other = row.entity.flatMap { $0 == row.name ? nil : "  now \($0)" } ?? ""
        return PanelLine([
          Piece(text: name + other, role: row.entity == nil ? .dim : .entity, width: 36),
          Piece(text: String(row.number), role: .number, width: 9),
          Piece(text: row.parent == 0 ? String(row.maximum) : "", role: .number, width: 12),
          Piece(
            text: row.greatestKey.map { String($0) + (isShort ? " !" : "") } ?? "",
            role: isShort ? .warning : .number, width: 14),
          Piece(
            text: row.entity.flatMap { counts[$0] }.map { NumberText.grouped($0) } ?? "",
            role: .number),
        ])
      }
  }

  static func external(_ facts: StoreFacts, _ context: Context) -> [PanelLine] {
    if let copy = context.copy, copy.whole != nil {
      return [.note("There are no files of external data: \(copy.noun) holds all values itself.")]
    }
    let report = facts.externalReport
    guard report.referenced > 0 || !report.orphaned.isEmpty || report.unlisted != nil else {
      return [.note("The store has no external data files.")]
    }
    var lines: [PanelLine] = [
      .fact("referenced", NumberText.grouped(report.referenced), .number),
      .fact(
        "missing", NumberText.grouped(report.missing.count),
        report.missing.isEmpty ? .number : .warning),
      .fact(
        "unreadable", NumberText.grouped(report.unreadable.count),
        report.unreadable.isEmpty ? .number : .warning),
      .fact(
        "orphaned",
        report.unlisted.map { "unknown: \($0)" } ?? NumberText.grouped(report.orphaned.count),
        report.unlisted == nil ? .number : .warning), .blank,
    ]
    for file in facts.external {
      let sign =
        switch file.state {
        case .missing: "! missing"
        case .unreadable: "! unreadable"
        case .orphaned: "orphaned"
        case .referenced: ""
        }
      lines.append(
        PanelLine(
          [
            Piece(text: sign, role: sign.hasPrefix("!") ? .warning : .dim, width: 13),
            Piece(
              text: sign.hasPrefix("!") ? "" : NumberText.bytes(file.bytes), role: .number,
              width: 9), Piece(text: file.name, role: .identifier, width: 38),
            Piece(
              text: file.object.map { "→ \($0)" + (file.property.map { ".\($0)" } ?? "") } ?? "",
              role: .relationship),
          ], file.object.map { .object($0) } ?? .none))
    }
    let all = report.referenced + report.orphaned.count
    if all > facts.external.count {
      lines.append(.note("and \(NumberText.grouped(all - facts.external.count)) more"))
    }
    return lines
  }
}
