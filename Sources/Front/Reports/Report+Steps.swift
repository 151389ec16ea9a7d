import ManagedModel
import Migration
import ModelWriting

extension Report {
  /// The steps of a plan: what becomes of each entity, with its objects, and the first of those that are computed.
  ///
  /// - Parameter isDraft: whether objects may not be counted yet.
  package init(_ steps: [MigrationStep], isDraft: Bool = false) {
    self.init(
      steps.enumerated().flatMap { index, step in
        let head = steps.count > 1 ? "step \(index + 1) of \(steps.count): " : ""
        let way = steps.count > 1 && !isDraft ? ", " + step.strategy.rawValue : ""
        let title = Self.row(
          ["\(head)\(step.from) → \(step.to)", step.mapping.kind.rawValue + way], as: .title)
        return [title] + Self.entities(of: step, isDraft: isDraft) + Self.previews(of: step)
      })
  }

  /// A row that shares its columns with no other.
  private static func row(
    _ cells: [String], as role: Role = .text, aside: String = ""
  ) -> Section {
    Section(Table(rows: [Table.Row(cells: cells, role: role, aside: aside)], widest: 1_000))
  }

  private static func entities(of step: MigrationStep, isDraft: Bool) -> [Section] {
    let all = step.mapping.entityMappings.map {
      (mapping: $0, lines: MappingText.lines(of: $0))
    }
    // What is copied as it is has one line, unless it is one.
    let copied = all.filter { $0.mapping.kind == .copy && $0.lines.isEmpty }.map(\.mapping)
    let shown =
      copied.count > 1 ? all.filter { $0.mapping.kind != .copy || !$0.lines.isEmpty } : all
    let difference = ModelDifference(from: step.source, to: step.destination)
    let rows = shown.map { mapping, lines in
      Table.Row(
        cells: [
          "  " + mapping.kind.name, mapping.source ?? "—", "→", mapping.destination ?? "—",
          step.rows[mapping.name].map(String.init) ?? (isDraft ? "counting …" : "0"),
        ], role: role(of: mapping.kind), note: details(of: mapping, difference),
        below: lines.map { Line("\($0.whole)", depth: $0.depth) })
    }
    let table = Section(Table(rows: rows, numbers: [4]))
    guard copied.count > 1 else { return [table] }
    let counts = copied.compactMap { step.rows[$0.name] }
    let objects =
      isDraft && counts.count < copied.count
      ? "counting …" : NumberText.counted(counts.reduce(0, +), "object")
    let names = copied.compactMap(\.destination).joined(separator: ", ")
    return [table, row(["  \(copied.count) copied", objects], aside: ": " + names)]
  }

  private static func role(of kind: EntityMapping.Kind) -> Role {
    switch kind {
    case .add: .added
    case .remove: .removed
    case .transform, .custom: .changed
    case .copy: .text
    }
  }

  /// What is renamed or new, and what else makes the version hash another, in one line.
  private static func details(of mapping: EntityMapping, _ difference: ModelDifference) -> String {
    guard mapping.kind == .transform || mapping.kind == .custom else { return "" }
    func detail(_ name: String, _ origin: PropertyOrigin) -> String? {
      switch origin {
      case .new: "+ " + name
      case .renamed(let former): "\(former) → \(name)"
      case .computed, .path, .kept: nil
      }
    }
    let attributes = mapping.attributes.compactMap { detail($0.name, $0.origin) }
    let relationships = mapping.relationships.filter { relationship in
      !mapping.children.contains { $0.relationship == relationship.name }
    }.compactMap { detail($0.name, $0.origin) }
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

  /// The first objects of the mappings that compute something, before and after.
  private static func previews(of step: MigrationStep) -> [Section] {
    var groups: [(first: MappingPreview, all: [MappingPreview])] = []
    for preview in step.previews {
      let index = groups.firstIndex {
        $0.first.mapping == preview.mapping && $0.first.destination == preview.destination
      }
      guard let index else {
        groups.append((preview, [preview]))
        continue
      }
      groups[index].all.append(preview)
    }
    return groups.flatMap { first, all -> [Section] in
      let mapping = step.mapping.mapping(named: first.mapping)
      // Values that are only copied say nothing new.
      let computed = Set(
        mapping?.attributes.filter { $0.expression != nil || $0.isRenamed }.map(\.name) ?? [])
      let after = first.after.indices.filter {
        mapping?.destination != first.destination || computed.isEmpty
          || computed.contains(first.after[$0].name)
      }
      let copied = Set(
        mapping?.attributes.filter { $0.expression == nil && !$0.isRenamed }.map(\.name) ?? [])
      let before = first.before.indices.filter {
        let name = first.before[$0].name
        return !copied.contains(name) || first.computedFrom.contains(name)
      }
      func row(
        _ head: String, _ text: (MappingPreview.Property) -> String, _ preview: MappingPreview
      ) -> Table.Row {
        func cells(_ properties: [MappingPreview.Property], _ places: [Int]) -> [String] {
          places.map { properties.indices.contains($0) ? text(properties[$0]) : "" }
        }
        return Table.Row(
          cells: ["    " + head] + cells(preview.before, before) + ["→"]
            + cells(preview.after, after))
      }
      return [
        Self.row(["  the first of \(first.mapping), before and after (\(first.destination)):"]),
        Section(
          Table(
            rows: [row("", \.name, first)]
              + all.map { row($0.source?.description ?? "", \.value, $0) },
            widest: 24, isCut: true)),
      ]
    }
  }
}
