import Interface
import ManagedModel
import Migration
import ModelWriting
import RowText
import Terminal

/// The steps of a plan as a person reads them: what becomes of each entity, with its objects.
struct StepText {
  let console: Console
  /// Whether objects may not be counted yet.
  let isDraft: Bool

  static func print(_ steps: [MigrationStep], isDraft: Bool = false, on console: Console) {
    let text = StepText(console: console, isDraft: isDraft)
    for (index, step) in steps.enumerated() {
      text.print(step, number: index + 1, of: steps.count)
    }
  }

  private func print(_ step: MigrationStep, number: Int, of count: Int) {
    let head = count > 1 ? "step \(number) of \(count): " : ""
    let way = count > 1 && !isDraft ? ", " + step.strategy.rawValue : ""
    console.line(
      "\(head)\(step.from) → \(step.to)  \(step.mapping.kind.rawValue)\(way)", as: .title)
    let all = step.mapping.entityMappings
    let copied = all.filter { $0.kind == .copy && MappingText.lines(of: $0).isEmpty }
    // What is copied as it is has one line, unless it is one.
    let mappings =
      copied.count > 1
      ? all.filter { $0.kind != .copy || !MappingText.lines(of: $0).isEmpty } : all
    let difference = ModelDifference(from: step.source, to: step.destination)
    let rows = mappings.map { mapping in
      [
        "  " + mapping.kind.name, mapping.source ?? "—", "→", mapping.destination ?? "—",
        step.rows[mapping.name].map(String.init) ?? (isDraft ? "counting …" : "0"),
      ]
    }
    let table = TextTable([.left, .left, .left, .left, .right], fitting: rows, limit: 40)
    for (mapping, row) in zip(mappings, rows) {
      let line = table.line(row)
      let details = Self.details(of: mapping, difference)
      let whole = details.isEmpty ? line : line + "  " + details
      let role = Self.role(of: mapping.kind)
      if TextWidth.of(whole) <= console.width {
        console.line(whole, as: role)
      } else {
        console.line(line, as: role)
        console.paragraph(margin: 6, details)
      }
      for line in MappingText.lines(of: mapping) {
        console.paragraph(margin: 6 + 4 * line.depth, line.whole)
      }
    }
    if copied.count > 1 { print(copied, counted: copied.compactMap { step.rows[$0.name] }) }
    print(step.previews, of: step.mapping)
  }

  /// How many entities are copied as they are; their names, where the line has room for them.
  private func print(_ copied: [EntityMapping], counted: [Int]) {
    let objects =
      isDraft && counted.count < copied.count
      ? "counting …" : NumberText.counted(counted.reduce(0, +), "object")
    let line = "  \(copied.count) copied  \(objects)"
    let whole = line + ": " + copied.compactMap(\.destination).joined(separator: ", ")
    console.line(TextWidth.of(whole) <= console.width ? whole : line)
  }

  private static func role(of kind: EntityMapping.Kind) -> Theme.Role? {
    switch kind {
    case .add: .added
    case .remove: .removed
    case .transform, .custom: .changed
    case .copy: nil
    }
  }

  /// What is renamed or new, and what else makes the version hash another, in one line.
  private static func details(of mapping: EntityMapping, _ difference: ModelDifference) -> String {
    guard mapping.kind == .transform || mapping.kind == .custom else { return "" }
    let attributes = mapping.attributes.compactMap { attribute -> String? in
      if attribute.expression != nil { return nil }
      if attribute.source == nil { return "+ " + attribute.name }
      return attribute.isRenamed ? "\(attribute.source ?? "") → \(attribute.name)" : nil
    }
    let relationships = mapping.relationships.compactMap { relationship -> String? in
      if MappingText.path(of: relationship) != nil { return nil }
      if mapping.children.contains(where: { $0.relationship == relationship.name }) { return nil }
      if relationship.source == nil { return "+ " + relationship.name }
      return relationship.isRenamed
        ? "\(relationship.source ?? "") → \(relationship.name)" : nil
    }
    let changes = mapping.destination.flatMap(difference.entity(named:))?.changes ?? []
    let others = changes.compactMap { change -> String? in
      switch change.kind {
      case .removed: change.property.map { "− " + $0 }
      case .added, .renamed: nil
      default: change.movesHash ? change.description : nil
      }
    }
    return (attributes + relationships + others).joined(separator: ", ")
  }

  private func print(_ previews: [MappingPreview], of mapping: MappingModel) {
    let names = previews.reduce(into: [String]()) { names, preview in
      let name = "\(preview.mapping)\u{0}\(preview.destination)"
      if !names.contains(name) { names.append(name) }
    }
    for name in names {
      let own = previews.filter { "\($0.mapping)\u{0}\($0.destination)" == name }
      guard let first = own.first else { continue }
      console.line("  the first of \(first.mapping), before and after (\(first.destination)):")
      // Values that are only copied say nothing new.
      let computed = Set(
        mapping.mapping(named: first.mapping)?.attributes
          .filter { $0.expression != nil || $0.isRenamed }.map(\.name) ?? [])
      let after = first.after.indices.filter {
        mapping.mapping(named: first.mapping)?.destination != first.destination
          || computed.isEmpty || computed.contains(first.after[$0].name)
      }
      let before = first.before.indices.filter {
        Self.isRead(first.before[$0].name, by: mapping.mapping(named: first.mapping))
      }
      var rows = [
        ["    "] + before.map { first.before[$0].name } + ["→"] + after.map { first.after[$0].name }
      ]
      rows += own.map { preview in
        ["    " + (preview.source?.description ?? "")]
          + before.map { preview.before.indices.contains($0) ? preview.before[$0].value : "" }
          + ["→"]
          + after.map { preview.after.indices.contains($0) ? preview.after[$0].value : "" }
      }
      write(rows)
    }
  }

  /// Whether a property does more than come over as it is.
  private static func isRead(_ name: String, by mapping: EntityMapping?) -> Bool {
    guard let mapping else { return true }
    let isCopied = mapping.attributes.contains {
      $0.source == name && !$0.isRenamed && $0.expression == nil
    }
    return !isCopied || MappingText.lines(of: mapping).contains { $0.text.contains(name) }
  }

  /// As many columns as there is room for, each at most 24 wide.
  private func write(_ rows: [[String]]) {
    let limit = 24
    let columns = [TextTable.Alignment](repeating: .left, count: rows.first?.count ?? 0)
    let widths = TextTable(columns, fitting: rows, limit: limit).widths
    var (room, count) = (console.width, 0)
    for width in widths where count == 0 || room >= width + 2 {
      room -= width + (count == 0 ? 0 : 2)
      count += 1
    }
    let isCut = count < widths.count
    let fitting = rows.map { Array($0.prefix(isCut ? count - 1 : count)) + (isCut ? ["…"] : []) }
    let table = TextTable(Array(columns.prefix(count)), fitting: fitting, limit: limit)
    for row in fitting {
      let line = table.line(row)
      console.line(String(line.prefix(line.count - line.reversed().prefix { $0 == " " }.count)))
    }
  }
}
